import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import { Button, Checkbox, NativeSelect } from '@mantine/core'
import { type ReactNode, useDeferredValue, useMemo, useState } from 'react'
import { billingCalls } from '#contract/billing.ts'
import type { Invoice } from '#contract/invoices.ts'
import { planThatLifts } from '#contract/plans.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { Notice } from '#web/ui/notice.tsx'
import type { FileRow } from './csv.ts'
import styles from './import.module.css'
import {
  type CheckedRow,
  type Columns,
  checkRows,
  type DateOrder,
  type Field,
  fields,
  guessByContent,
  guessByHead,
  guessDates,
  hasHead,
  needed,
} from './import-rows.ts'
import { ImportTable } from './import-table.tsx'
import { texts } from './texts.ts'

const tabs = ['all', 'ready', 'bad', 'duplicate'] as const
type Tab = (typeof tabs)[number]

interface ImportPreviewProps {
  file: { name: string; lines: FileRow[] }
  invoices: Invoice[]
  onImport: (lines: CheckedRow[], keepDuplicates: boolean) => void
  onOther: () => void
  onCancel: () => void
}

/** Which column is what, and what would become of every line. Nothing is saved yet. */
export function ImportPreview({ file, invoices, onImport, onOther, onCancel }: ImportPreviewProps): ReactNode {
  const [mapping, setMapping] = useState(() => guess(file.lines))
  const [tab, setTab] = useState<Tab>('all')
  const [keep, setKeep] = useState(false)
  const settled = useDeferredValue(mapping)
  const missing = needed.filter((field) => mapping.columns[field] === null)
  const judged = useMemo(
    () => checkRows(settled.head ? file.lines.slice(1) : file.lines, settled.columns, settled.dates, invoices),
    [file, settled, invoices],
  )
  const counts = { all: judged.length, ready: 0, bad: 0, duplicate: 0 }
  for (const { state } of judged) counts[state] += 1
  const wanted = counts.ready + (keep ? counts.duplicate : 0)
  const shown = tab === 'all' ? judged : judged.filter(({ state }) => state === tab)
  return (
    <>
      <div className={styles.file}>
        <strong className={styles.fileName}>{file.name}</strong>
        <Button variant="subtle" className={styles.other ?? ''} onClick={onOther}>
          {texts.chooseOther}
        </Button>
      </div>
      <ImportMapping mapping={mapping} lines={file.lines} onChange={setMapping} />
      {missing.length > 0 ? (
        <p className={styles.missing} role="status">
          {texts.missing(missing.map((field) => texts.fields[field].toLowerCase()).join(', '))}
        </p>
      ) : (
        <>
          <fieldset className={styles.tabs} aria-label={texts.preview}>
            {tabs.map((name) => (
              <button key={name} type="button" className={styles.tab} aria-pressed={tab === name} onClick={() => setTab(name)}>
                {texts.tabs[name](counts[name])}
              </button>
            ))}
          </fieldset>
          <ImportTable key={tab} lines={shown} />
          <div className={styles.below}>
            {counts.bad > 0 && <p className={styles.dim}>{texts.badTail}</p>}
            {counts.duplicate > 0 && (
              <Checkbox label={texts.keep} checked={keep} onChange={(event) => setKeep(event.currentTarget.checked)} />
            )}
          </div>
        </>
      )}
      <ImportRoom wanted={wanted} />
      <div className={styles.buttons}>
        <Button variant="default" onClick={onCancel}>
          {texts.cancel}
        </Button>
        <Button
          disabled={missing.length > 0 || wanted === 0}
          onClick={() =>
            onImport(
              judged.filter(({ state }) => state === 'ready' || (keep && state === 'duplicate')),
              keep,
            )
          }
        >
          {missing.length > 0 || wanted === 0 ? texts.nothing : texts.submit(wanted)}
        </Button>
      </div>
    </>
  )
}

function guess(lines: FileRow[]): Mapping {
  const first = lines[0]?.cells ?? []
  const head = hasHead(first)
  const content = guessByContent(head ? lines.slice(1) : lines)
  const columns = head ? guessByHead(first) : content
  // A column that the names did not give away may still show itself by what is in it.
  const taken = new Set(Object.values(columns))
  for (const field of needed) if (columns[field] === null && !taken.has(content[field])) columns[field] = content[field]
  return { head, columns, dates: guessDates(head ? lines.slice(1) : lines, columns.dueDate) }
}

export interface Mapping {
  head: boolean
  columns: Columns
  dates: DateOrder
}

interface ImportMappingProps {
  mapping: Mapping
  lines: FileRow[]
  onChange: (mapping: Mapping) => void
}

/** Which column of the file is which field of an invoice, guessed, and changed where the guess was wrong. */
export function ImportMapping({ mapping, lines, onChange }: ImportMappingProps): ReactNode {
  const width = Math.max(0, ...lines.slice(0, 50).map(({ cells }) => cells.length))
  const first = lines[0]?.cells ?? []
  const sample = lines[mapping.head ? 1 : 0]?.cells ?? []
  const options = Array.from({ length: width }, (_, column) => {
    const name = (mapping.head ? first[column] : '') || texts.column(column + 1)
    const example = sample[column] ?? ''
    return { value: String(column), label: example === '' ? name : `${name}: ${example.slice(0, 40)}` }
  })
  const choose = (field: Field, value: string) =>
    onChange({ ...mapping, columns: { ...mapping.columns, [field]: value === '' ? null : Number(value) } })
  return (
    <fieldset className={styles.mapping}>
      <legend className={styles.legend}>{texts.columns}</legend>
      <div className={styles.fields}>
        {fields.map((field) => (
          <NativeSelect
            key={field}
            label={texts.fields[field]}
            data={[{ value: '', label: needed.includes(field) ? texts.choosePlease : texts.none }, ...options]}
            value={String(mapping.columns[field] ?? '')}
            onChange={(event) => choose(field, event.currentTarget.value)}
          />
        ))}
        <NativeSelect
          label={texts.dates}
          data={Object.entries(texts.dateOrders).map(([value, label]) => ({ value, label }))}
          value={mapping.dates}
          onChange={(event) => onChange({ ...mapping, dates: event.currentTarget.value === 'mdy' ? 'mdy' : 'dmy' })}
        />
        <Checkbox
          className={styles.head ?? ''}
          label={texts.head}
          checked={mapping.head}
          onChange={(event) => onChange({ ...mapping, head: event.currentTarget.checked })}
        />
      </div>
    </fieldset>
  )
}

/** Says before an import that the plan has no room for all of it this month. The server decides; it is asked when the import begins. */
export function ImportRoom({ wanted }: { wanted: number }): ReactNode {
  const subscription = useApiQuery(billingCalls.subscription)
  const left = subscription.data?.usage.invoicesLeft ?? null
  if (left === null || wanted <= left) return null
  return <Notice tone="warn">{texts.room(left, wanted - left, planThatLifts('invoicesPerMonth').title)}</Notice>
}
