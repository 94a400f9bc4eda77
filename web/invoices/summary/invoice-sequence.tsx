import { type ReactNode, useState } from 'react'
import type { Invoice } from '#contract/invoices.ts'
import type { InvoiceHistory } from '#contract/reminders.ts'
import { sequenceCalls } from '#contract/sequences.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { nameAndSteps, sequenceTexts } from '#web/platform/sequences/texts.ts'
import { showDate } from '#web/ui/dates.ts'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import styles from './summary.module.css'
import { summaryTexts as texts } from './texts.ts'

const SequenceDialog = lazyDialog(async () => (await import('#web/platform/sequences/sequence-dialog.tsx')).SequenceDialog)

/** Which sequence an invoice has, and the button that chooses another one. */
export function InvoiceSequence({ invoice, history }: { invoice: Invoice; history: InvoiceHistory }): ReactNode {
  const [choosing, setChoosing] = useState(false)
  const name = useSequenceName(history.sequence)
  const { _id: id, reference, sequence } = invoice
  return (
    <p className={styles.sequence}>
      {name}{' '}
      <button type="button" onClick={() => setChoosing(true)}>
        {texts.changeSequence}
      </button>
      <Coming id={id} history={history} />
      <LazyMount wanted={choosing}>
        <SequenceDialog
          whose={choosing ? { kind: 'invoice', id, name: reference, current: sequence } : null}
          onClose={() => setChoosing(false)}
        />
      </LazyMount>
    </p>
  )
}

/** Emails that are named after the next one. */
const mostNamed = 2

/** What leaves after the next email, if nothing is paid meanwhile. */
function Coming({ id, history: { step, nextAt } }: { id: string; history: InvoiceHistory }): ReactNode {
  const plan = useApiQuery(sequenceCalls.plan, {}, { enabled: step !== null && nextAt !== null, staleTime: 60_000 }).data
  const later = (plan?.mails ?? []).filter(({ invoiceIds }) => invoiceIds.includes(id)).slice(1, mostNamed + 1)
  if (step === null || later.length === 0) return null
  return <span>{texts.coming(later.map(({ tone, localDate }) => texts.email(tone, showDate(localDate))))}</span>
}

/** `Friendly to final, 5 steps`; empty until it is known. */
function useSequenceName(id: string): string {
  const builtIn = id === 'every_day' || id === 'never'
  const found = useApiQuery(sequenceCalls.list, {}, { enabled: !builtIn, staleTime: 60_000 }).data?.find(({ _id }) => _id === id)
  if (id === 'every_day') return sequenceTexts.everyDay
  if (id === 'never') return sequenceTexts.never
  return found ? nameAndSteps(found) : ''
}
