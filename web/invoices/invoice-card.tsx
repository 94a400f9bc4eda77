import { memo, type ReactNode } from 'react'
import { Link } from 'react-router'
import type { Invoice } from '#contract/invoices.ts'
import { formatRupees } from '#contract/money.ts'
import { Pill } from '#web/ui/panel.tsx'
import { dueWords, footWords, refusalOf } from './card-words.ts'
import styles from './invoice-card.module.css'
import { InvoiceMenu } from './invoice-menu.tsx'
import { PausePill } from './pause-pill.tsx'
import { SelectBox } from './select-box.tsx'
import { texts } from './texts.ts'

interface InvoiceCardProps {
  invoice: Invoice
  zone: string | undefined
  today: string
  now: Date
  index: number
  of: number
  chosen: boolean
  onToggle: (id: string, range: boolean) => void
}

/** One invoice: who, how much, when, what happened last, and what can be done. */
export const InvoiceCard = memo(function InvoiceCard(props: InvoiceCardProps): ReactNode {
  const { invoice, zone, today, now, index, of, chosen, onToggle } = props
  const refusal = refusalOf(invoice)
  return (
    <li aria-posinset={index + 1} aria-setsize={of} className={styles.card} data-index={index} data-chosen={chosen || undefined}>
      <div className={styles.head}>
        <Link
          to={`/dashboard/edit-invoice/${invoice._id}`}
          state={{ invoice }}
          className={styles.client}
          title={invoice.clientName}
          data-open
        >
          {invoice.clientName}
        </Link>
        <Pill tone={invoice.status}>{texts.status[invoice.status]}</Pill>
      </div>
      <div className={styles.under}>
        <span className={styles.email} title={invoice.clientEmail}>
          {invoice.clientEmail}
        </span>
        <span className={styles.reference} title={invoice.reference}>
          {invoice.reference}
        </span>
      </div>
      <div className={styles.amount}>{formatRupees(invoice.amount)}</div>
      <div className={styles.due}>{dueWords(invoice, today)}</div>
      <div className={styles.foot}>
        <SelectBox invoice={invoice} chosen={chosen} onToggle={onToggle} />
        <div className={styles.last}>
          <PausePill invoice={invoice} />
          <span title={refusal ?? undefined} data-refused={refusal !== null || undefined}>
            {footWords(invoice, zone, now)}
          </span>
        </div>
        <InvoiceMenu invoice={invoice} className={styles.menu} />
      </div>
    </li>
  )
})
