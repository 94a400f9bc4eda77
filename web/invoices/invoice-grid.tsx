import type { ReactNode } from 'react'
import type { Invoice } from '#contract/invoices.ts'
import styles from './dashboard.module.css'
import { InvoiceCard } from './invoice-card.tsx'
import { texts } from './texts.ts'
import { useRows } from './use-rows.ts'
import type { Selection } from './use-selection.ts'

const gap = 16
const narrowest = 290
const cardHeight = 206
const last: { width: number | null; top: number } = { width: null, top: 0 }

interface InvoiceGridProps {
  invoices: Invoice[]
  zone: string | undefined
  today: string
  now: Date
  selection: Selection
}

/** The cards, as many to a row as fit. */
export function InvoiceGrid({ invoices, zone, today, now, selection }: InvoiceGridProps): ReactNode {
  const rows = useRows<HTMLUListElement>({
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
          chosen={selection.isChosen(invoice._id)}
          onToggle={selection.toggle}
        />
      ))}
    </ul>
  )
}
