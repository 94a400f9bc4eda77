import '@mantine/core/styles/ScrollArea.layer.css'
import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/Combobox.layer.css'
import { Select } from '@mantine/core'
import { type ReactNode, useMemo, useState } from 'react'
import { invoiceCalls } from '#contract/invoices.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { type Example, type LetterKind, ownExamples, sampleId, type Writer } from './letters.ts'
import { texts } from './texts.ts'

const words = texts.preview

interface ExampleChoiceProps {
  kind: LetterKind
  writer: Writer
  /** null: the sample values. */
  chosen: Example | null
  onChoose: (example: Example | null) => void
}

/** What the preview is about: the sample values, or what is really owed. One's own invoices are only read once somebody looks for them. */
export function ExampleChoice({ kind, writer, chosen, onChoose }: ExampleChoiceProps): ReactNode {
  const [asked, setAsked] = useState(false)
  const invoices = useApiQuery(invoiceCalls.list, {}, { enabled: asked })
  const { userName, today } = writer
  const own = useMemo(() => ownExamples(kind, invoices.data ?? [], { userName, today }), [kind, invoices.data, userName, today])
  const none = invoices.isPending ? words.loading : words.none[kind]
  return (
    <Select
      label={words.about}
      description={words.aboutHint[kind]}
      data={[{ value: sampleId, label: words.sample }, ...own.map(({ id, label }) => ({ value: id, label }))]}
      value={chosen?.id ?? sampleId}
      searchable
      limit={60}
      allowDeselect={false}
      // Inside the page's own landmarks, where a screen reader expects it.
      comboboxProps={{ withinPortal: false }}
      nothingFoundMessage={none}
      error={invoices.isError ? words.failed(errorMessage(invoices.error)) : undefined}
      mb={16}
      onFocus={() => setAsked(true)}
      onChange={(id) => onChoose(own.find((example) => example.id === id) ?? null)}
    />
  )
}
