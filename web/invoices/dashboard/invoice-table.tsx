import { VisuallyHidden } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconSelector } from '@tabler/icons-react'
import { memo, type ReactNode } from 'react'
import { Link } from 'react-router'
import { type Invoice, owedAmount } from '#contract/invoices.ts'
import { formatMoney } from '#contract/money.ts'
import { screens } from '#contract/screens.ts'
import { type Known, nextLabel, stateOf } from '#web/invoices/invoice-state.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { capitalized, showDate } from '#web/ui/dates.ts'
import { Pill } from '#web/ui/panel.tsx'
import { InvoiceMenu, SelectBox } from './invoice-controls.tsx'
import styles from './invoice-list.module.css'
import { column, daysLabel, nextOrder, type Order, reminderLabel } from './list-data.ts'
import type { Selection } from './list-state.ts'
import { texts } from './texts.ts'
import { useGridNavigation } from './use-grid-navigation.ts'

const wide = 760
const last: { width: number | null; top: number } = { width: null, top: 0 }

interface InvoiceTableProps {
  invoices: Invoice[]
  known: Known
  today: string
  order: Order
  onOrder: (order: Order) => void
  selection: Selection
  /** Called if the table's code could not be loaded. */
  onClose: () => void
}

export function InvoiceTable({ invoices, known, today, order, onOrder, selection }: InvoiceTableProps): ReactNode {
  const rows = useGridNavigation<HTMLTableSectionElement>({
    items: invoices.length,
    columns: () => 1,
    height: (width) => (width >= wide ? 57 : 97),
    gap: 0,
    last,
  })
  const sorted = order === 'newest' ? null : order
  return (
    <table className={styles.table} aria-label={texts.dashboard.invoices} aria-rowcount={invoices.length + 1}>
      <thead className={styles.tableHead}>
        <tr aria-rowindex={1} className={styles.headRow}>
          <th scope="col">
            <VisuallyHidden>{texts.list.selection}</VisuallyHidden>
          </th>
          {column.options.map((by) => (
            <th
              key={by}
              scope="col"
              className={styles.column}
              data-column={by}
              aria-sort={sorted?.by === by ? (sorted.ascending ? 'ascending' : 'descending') : 'none'}
            >
              <button type="button" className={styles.sort} onClick={() => onOrder(nextOrder(order, by))}>
                {texts.list.columns[by]}
                <OrderIcon ascending={sorted?.by === by ? sorted.ascending : null} />
              </button>
            </th>
          ))}
          <th scope="col">
            <VisuallyHidden>{texts.list.actions}</VisuallyHidden>
          </th>
        </tr>
      </thead>
      <tbody ref={rows.frame} className={styles.tableBody} data-invoices style={{ height: rows.total, paddingTop: rows.start }}>
        {invoices.slice(rows.from, rows.to).map((invoice, index) => (
          <InvoiceRow
            key={invoice._id}
            invoice={invoice}
            known={known}
            today={today}
            index={rows.from + index}
            height={rows.height}
            selected={selection.isSelected(invoice._id)}
            onToggle={selection.toggle}
          />
        ))}
      </tbody>
    </table>
  )
}

/** `ascending` is null for a column that is not sorted by. */
function OrderIcon({ ascending }: { ascending: boolean | null }): ReactNode {
  if (ascending === null) return <IconSelector size={14} aria-hidden className={styles.sortable} />
  return ascending ? <IconArrowUp size={14} aria-hidden /> : <IconArrowDown size={14} aria-hidden />
}

interface InvoiceRowProps {
  invoice: Invoice
  known: Known
  today: string
  index: number
  height: number
  selected: boolean
  onToggle: (id: string, range: boolean) => void
}

const InvoiceRow = memo(function InvoiceRow(props: InvoiceRowProps): ReactNode {
  const { invoice, known, today, index, height, selected, onToggle } = props
  const { clientName, clientEmail, reference, dueDate, status } = invoice
  const { kind, tone, text, reply } = stateOf(invoice, known)
  const failing = tone === 'bad' || tone === 'warn'
  const next = nextLabel(invoice, known)
  return (
    <tr aria-rowindex={index + 2} data-index={index} data-selected={selected || undefined} className={styles.row} style={{ height }}>
      <td className={styles.rowSelect}>
        <SelectBox invoice={invoice} selected={selected} onToggle={onToggle} />
      </td>
      <td className={styles.rowClient}>
        <Link
          to={screens.invoice(invoice._id)}
          state={{ invoice }}
          className={styles.rowName}
          title={`${clientName}\n${clientEmail}`}
          data-open
        >
          {clientName}
        </Link>
      </td>
      <td className={styles.rowReference} title={reference}>
        {reference}
      </td>
      <td className={styles.rowAmount}>{formatMoney(owedAmount(invoice), invoice.currency)}</td>
      <td className={styles.rowDue}>
        <span className={styles.rowDate}>{showDate(dueDate)}</span> <span className={styles.rowDays}>{daysLabel(invoice, today)}</span>
      </td>
      <td className={styles.rowStatus}>
        <Pill tone={status}>{invoiceTexts.status[status]}</Pill>
      </td>
      <td className={styles.rowReminder} title={failing ? (reply ?? text) : undefined} data-tone={failing ? tone : undefined}>
        {failing ? text : kind === 'paid' || invoice.lastReminderAt !== null ? reminderLabel(invoice, known) : texts.list.never}
      </td>
      <td className={styles.rowNext}>
        <span className={styles.rowNextLabel}>{`${texts.list.columns.next}: `}</span>
        {status === 'paid' ? texts.list.none : next === null ? '' : capitalized(next)}
      </td>
      <td className={styles.rowMenu}>
        <InvoiceMenu invoice={invoice} className={styles.rowMenuButton} />
      </td>
    </tr>
  )
})
