import { VisuallyHidden } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconSelector } from '@tabler/icons-react'
import { memo, type ReactNode } from 'react'
import { Link } from 'react-router'
import type { Invoice } from '#contract/invoices.ts'
import { formatRupees } from '#contract/money.ts'
import { showDate } from '#web/ui/dates.ts'
import { Pill } from '#web/ui/panel.tsx'
import { daysWords, refusalOf, reminderWords } from './card-words.ts'
import styles from './invoice-list.module.css'
import { InvoiceMenu } from './invoice-menu.tsx'
import { column, nextOrder, type Order } from './order.ts'
import { OrderChoice } from './order-choice.tsx'
import { SelectBox } from './select-box.tsx'
import { texts } from './texts.ts'
import { useRows } from './use-rows.ts'
import type { Selection } from './use-selection.ts'

const wide = 760
const last: { width: number | null; top: number } = { width: null, top: 0 }

interface InvoiceListProps {
  invoices: Invoice[]
  zone: string | undefined
  today: string
  now: Date
  order: Order
  onOrder: (order: Order) => void
  selection: Selection
  /** Where the list could not be fetched. */
  onClose: () => void
}

/** The invoices as a ledger: a line each, sorted by any column. */
export function InvoiceList({ invoices, zone, today, now, order, onOrder, selection }: InvoiceListProps): ReactNode {
  const rows = useRows<HTMLTableSectionElement>({
    items: invoices.length,
    columns: () => 1,
    height: (width) => (width >= wide ? 41 : 73),
    gap: 0,
    last,
  })
  return (
    <>
      <div className={styles.order}>
        <OrderChoice order={order} onOrder={onOrder} />
      </div>
      <table className={styles.table} aria-label={texts.dashboard.invoices} aria-rowcount={invoices.length + 1}>
        <thead className={styles.headGroup}>
          <tr aria-rowindex={1} className={styles.head}>
            <th scope="col" className={styles.corner}>
              <VisuallyHidden>{texts.list.selection}</VisuallyHidden>
            </th>
            {column.options.map((by) => (
              <th
                key={by}
                scope="col"
                className={styles.column}
                data-column={by}
                aria-sort={order?.by === by ? (order.ascending ? 'ascending' : 'descending') : 'none'}
              >
                <button type="button" className={styles.sort} onClick={() => onOrder(nextOrder(order, by))}>
                  {texts.list.columns[by]}
                  <OrderIcon ascending={order?.by === by ? order.ascending : null} />
                </button>
              </th>
            ))}
            <th scope="col" className={styles.corner}>
              <VisuallyHidden>{texts.list.actions}</VisuallyHidden>
            </th>
          </tr>
        </thead>
        <tbody ref={rows.frame} className={styles.body} data-invoices style={{ height: rows.total, paddingTop: rows.start }}>
          {invoices.slice(rows.from, rows.to).map((invoice, index) => (
            <InvoiceRow
              key={invoice._id}
              invoice={invoice}
              zone={zone}
              today={today}
              now={now}
              index={rows.from + index}
              height={rows.height}
              chosen={selection.isChosen(invoice._id)}
              onToggle={selection.toggle}
            />
          ))}
        </tbody>
      </table>
    </>
  )
}

/** Which way a column is sorted; null: it can be. */
function OrderIcon({ ascending }: { ascending: boolean | null }): ReactNode {
  if (ascending === null) return <IconSelector size={14} aria-hidden className={styles.sortable} />
  return ascending ? <IconArrowUp size={14} aria-hidden /> : <IconArrowDown size={14} aria-hidden />
}

interface InvoiceRowProps {
  invoice: Invoice
  zone: string | undefined
  today: string
  now: Date
  index: number
  height: number
  chosen: boolean
  onToggle: (id: string, range: boolean) => void
}

const InvoiceRow = memo(function InvoiceRow(props: InvoiceRowProps): ReactNode {
  const { invoice, zone, today, now, index, height, chosen, onToggle } = props
  const { clientName, clientEmail, reference, amount, dueDate, status } = invoice
  const refusal = refusalOf(invoice)
  return (
    <tr aria-rowindex={index + 2} data-index={index} data-chosen={chosen || undefined} className={styles.row} style={{ height }}>
      <td className={styles.select}>
        <SelectBox invoice={invoice} chosen={chosen} onToggle={onToggle} />
      </td>
      <td className={styles.client}>
        <Link
          to={`/dashboard/edit-invoice/${invoice._id}`}
          state={{ invoice }}
          className={styles.name}
          title={`${clientName}\n${clientEmail}`}
          data-open
        >
          {clientName}
        </Link>
      </td>
      <td className={styles.reference} title={reference}>
        {reference}
      </td>
      <td className={styles.amount}>{formatRupees(amount)}</td>
      <td className={styles.due}>
        {showDate(dueDate)} <span className={styles.days}>{daysWords(invoice, today)}</span>
      </td>
      <td className={styles.status}>
        <Pill tone={status}>{texts.status[status]}</Pill>
      </td>
      <td className={styles.reminder} title={refusal ?? undefined} data-refused={refusal !== null || undefined}>
        {reminderWords(invoice, zone, now)}
      </td>
      <td className={styles.menu}>
        <InvoiceMenu invoice={invoice} className={styles.dots} />
      </td>
    </tr>
  )
})
