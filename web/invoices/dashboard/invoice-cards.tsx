import { memo, type ReactNode } from 'react'
import { Link } from 'react-router'
import type { Invoice } from '#contract/invoices.ts'
import { formatRupees } from '#contract/money.ts'
import { screens } from '#contract/screens.ts'
import { describePause, isPaused } from '#web/invoices/pause.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { showDate } from '#web/ui/dates.ts'
import { Pill } from '#web/ui/panel.tsx'
import styles from './dashboard.module.css'
import { InvoiceMenu, SelectBox } from './invoice-controls.tsx'
import { dueLabel, lastEventLabel, refusalOf } from './list-data.ts'
import type { Selection } from './list-state.ts'
import { texts } from './texts.ts'
import { useGridNavigation } from './use-grid-navigation.ts'

const gap = 16
const narrowest = 290
const cardHeight = 206
const last: { width: number | null; top: number } = { width: null, top: 0 }

interface InvoiceCardsProps {
  invoices: Invoice[]
  zone: string | undefined
  today: string
  now: Date
  selection: Selection
}

export function InvoiceCards({ invoices, zone, today, now, selection }: InvoiceCardsProps): ReactNode {
  const rows = useGridNavigation<HTMLUListElement>({
    items: invoices.length,
    columns: (width) => Math.floor((width + gap) / (narrowest + gap)),
    height: () => cardHeight,
    gap,
    last,
  })
  return (
    <ul
      ref={rows.frame}
      className={styles.grid}
      aria-label={texts.dashboard.invoices}
      data-invoices
      style={{
        height: rows.total,
        paddingTop: rows.start,
        gridAutoRows: cardHeight,
        gridTemplateColumns: `repeat(${rows.columns}, minmax(0, 1fr))`,
      }}
    >
      {invoices.slice(rows.from, rows.to).map((invoice, index) => (
        <InvoiceCard
          key={invoice._id}
          invoice={invoice}
          zone={zone}
          today={today}
          now={now}
          index={rows.from + index}
          of={invoices.length}
          selected={selection.isSelected(invoice._id)}
          onToggle={selection.toggle}
        />
      ))}
    </ul>
  )
}

interface InvoiceCardProps {
  invoice: Invoice
  zone: string | undefined
  today: string
  now: Date
  index: number
  of: number
  selected: boolean
  onToggle: (id: string, range: boolean) => void
}

export const InvoiceCard = memo(function InvoiceCard(props: InvoiceCardProps): ReactNode {
  const { invoice, zone, today, now, index, of, selected, onToggle } = props
  const refusal = refusalOf(invoice)
  return (
    <li aria-posinset={index + 1} aria-setsize={of} className={styles.card} data-index={index} data-selected={selected || undefined}>
      <div className={styles.cardHead}>
        <Link to={screens.invoice(invoice._id)} state={{ invoice }} className={styles.cardClient} title={invoice.clientName} data-open>
          {invoice.clientName}
        </Link>
        <Pill tone={invoice.status}>{invoiceTexts.status[invoice.status]}</Pill>
      </div>
      <div className={styles.cardContact}>
        <span className={styles.cardEmail} title={invoice.clientEmail}>
          {invoice.clientEmail}
        </span>
        <span className={styles.cardReference} title={invoice.reference}>
          {invoice.reference}
        </span>
      </div>
      <div className={styles.cardAmount}>{formatRupees(invoice.amount)}</div>
      <div className={styles.cardDue}>{dueLabel(invoice, today)}</div>
      <div className={styles.cardFoot}>
        <SelectBox invoice={invoice} selected={selected} onToggle={onToggle} />
        <div className={styles.cardLast}>
          <PausePill invoice={invoice} />
          <span title={refusal ?? undefined} data-refused={refusal !== null || undefined}>
            {lastEventLabel(invoice, zone, now)}
          </span>
        </div>
        <InvoiceMenu invoice={invoice} className={styles.cardMenu} />
      </div>
    </li>
  )
})

function PausePill({ invoice }: { invoice: Invoice }): ReactNode {
  const { pause } = invoice
  if (pause === null || !isPaused(invoice)) return null
  return (
    <span title={describePause(invoice).join('\n')}>
      <Pill tone="quiet">{invoiceTexts.pause.pill(pause.until === null ? null : showDate(pause.until))}</Pill>
    </span>
  )
}
