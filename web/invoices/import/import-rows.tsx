import { Box, TextInput, VisuallyHidden } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react'
import type { InvoiceField } from '#contract/import/invoice-file.ts'
import { balanceOf, type OfferedCredit } from '#contract/import/lines.ts'
import type { Question } from '#contract/import/meaning.ts'
import type { Invoice } from '#contract/invoices.ts'
import { formatMoney } from '#contract/money.ts'
import { paymentCalls } from '#contract/payments.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { Allowed, useToday } from '#web/platform/account.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { showSpoken } from '#web/ui/dates.ts'
import { Asked } from '#web/ui/file-questions.tsx'
import { Pill } from '#web/ui/panel.tsx'
import styles from './import.module.css'
import type { ReadRow } from './import-reading.ts'
import { texts } from './texts.ts'

interface ImportRowsProps {
  rows: ReadRow[]
  /** The headings of the file. */
  head: string[] | null
  questions: Question[]
  /** The invoices that are here. */
  invoices: Invoice[]
  /** Rows whose credit notes were recorded. */
  credited: ReadonlySet<number>
  onCredited: (row: number) => void
  onEdit: (row: number, field: InvoiceField, text: string) => void
}

/** Every row: what is imported of it, what it waits for, or what is wrong with it, which is corrected in place. */
export function ImportRows({ rows, ...props }: ImportRowsProps): ReactNode {
  const frame = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => 58,
    overscan: 6,
  })
  if (rows.length === 0) return <p className={styles.noneHere}>{texts.noneHere}</p>
  const inView = virtual.getVirtualItems()
  return (
    // A scrollable region must be focusable to be scrolled by keyboard.
    <Box component="section" ref={frame} className={styles.scroll ?? ''} tabIndex={0} aria-label={texts.preview}>
      <ol className={styles.rows} style={{ height: virtual.getTotalSize(), paddingTop: inView[0]?.start ?? 0 }}>
        {inView.map(({ index }) => {
          const row = rows[index]
          return (
            row && (
              // By its number: a field that is being corrected stays where the rows change.
              <li
                key={`${row.state === 'missing'}${row.number}${row.cells[0]}`}
                ref={virtual.measureElement}
                data-index={index}
                data-state={row.state}
                className={styles.row}
              >
                <Row row={row} {...props} />
              </li>
            )
          )
        })}
      </ol>
    </Box>
  )
}

function Row({
  row,
  head,
  questions,
  invoices,
  credited,
  onCredited,
  onEdit,
}: Omit<ImportRowsProps, 'rows'> & { row: ReadRow }): ReactNode {
  const [isRaw, setRaw] = useState(false)
  const { draft, cells } = row
  const owed = draft && balanceOf(draft)
  const filled = cells.filter((cell) => cell.trim() !== '')
  return (
    <>
      <span className={styles.number}>
        {row.state !== 'missing' && (
          <button
            type="button"
            className={styles.rawButton}
            aria-expanded={isRaw}
            title={texts.rawRow(row.number)}
            onClick={() => setRaw(!isRaw)}
          >
            <VisuallyHidden>{texts.row}</VisuallyHidden> {row.number}
          </button>
        )}
      </span>
      {draft && owed ? (
        <>
          <span className={styles.who}>
            <span className={styles.name}>{draft.clientName}</span>
            <span className={styles.dim}>{draft.clientEmail}</span>
          </span>
          <span className={styles.sum}>
            <span className={styles.name}>{formatMoney(owed.amount, owed.currency)}</span>
            {(draft.amountPaid ?? 0) > 0 && <span className={styles.dim}>{texts.of(formatMoney(draft.amount, owed.currency))}</span>}
            <span className={styles.dim}>{texts.due(showSpoken(draft.dueDate))}</span>
          </span>
        </>
      ) : row.written ? null : (
        <span className={styles.raw}>{filled.join(' · ')}</span>
      )}
      {row.written && <Cells row={row} written={row.written} onEdit={onEdit} />}
      <span className={styles.verdict}>
        {row.state === 'same' && <span className={styles.dim}>{texts.again.same}</span>}
        {row.state === 'ready' && draft && (
          <>
            {draft.reference !== undefined && <span className={styles.reference}>{draft.reference}</span>}
            <Pill tone={draft.status}>{invoiceTexts.status[draft.status]}</Pill>
          </>
        )}
        {row.state === 'waits' ? (
          <span className={styles.waits}>
            {[...new Set(row.questions)].map((id) => (
              <Asked key={id} id={id} questions={questions} />
            ))}
          </span>
        ) : (
          row.message !== null && <span className={styles.message}>{row.message}</span>
        )}
        {row.state === 'left' && row.credit && (
          <Credit credit={row.credit} invoices={invoices} isRecorded={credited.has(row.number)} onRecorded={() => onCredited(row.number)} />
        )}
      </span>
      {isRaw && <Raw head={head} cells={cells} />}
    </>
  )
}

interface CreditProps {
  credit: OfferedCredit
  invoices: Invoice[]
  isRecorded: boolean
  onRecorded: () => void
}

/** Records a credit note on the invoice that it names. */
function Credit({ credit, invoices, isRecorded, onRecorded }: CreditProps): ReactNode {
  const { today } = useToday()
  const record = useApiMutation(paymentCalls.record, { onSuccess: onRecorded })
  const invoice = invoices.find(({ reference }) => reference === credit.invoice)
  if (isRecorded) return <span className={styles.dim}>{texts.credit.recorded(credit.invoice)}</span>
  return (
    <Allowed by="member">
      <BusyButton
        size="xs"
        variant="default"
        busy={record.isPending}
        busyText={texts.credit.recording}
        disabled={!invoice}
        onClick={() =>
          invoice &&
          record.mutate({
            params: { id: invoice._id },
            body: { kind: 'credit', amount: credit.amount, paidOn: credit.issuedOn ?? today, reference: credit.reference.slice(0, 80) },
          })
        }
      >
        {texts.credit.record(credit.invoice)}
      </BusyButton>
      {record.error && <span className={styles.message}>{errorMessage(record.error)}</span>}
    </Allowed>
  )
}

/** The row as the file has it. */
function Raw({ head, cells }: { head: string[] | null; cells: string[] }): ReactNode {
  return (
    <dl className={styles.rawCells}>
      {cells.map(
        (cell, at) =>
          cell.trim() !== '' && (
            // biome-ignore lint/suspicious/noArrayIndexKey: headings repeat, and the cells of a row stay in their order.
            <div key={at}>
              {head?.[at] && <dt>{head[at]}</dt>}
              <dd>{cell}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

const usual: InvoiceField[] = ['clientName', 'clientEmail', 'amount', 'dueDate']

interface CellsProps {
  row: ReadRow
  written: Partial<Record<InvoiceField, string>>
  onEdit: ImportRowsProps['onEdit']
}

/** The cells of a row that has a problem, or had one: press one, type, Enter. */
function Cells({ row, written, onEdit }: CellsProps): ReactNode {
  const wrong = row.state === 'bad' ? row.fields : []
  const fields = [...usual, ...wrong.filter((field) => !usual.includes(field) && texts.fields[field] !== undefined)]
  return (
    <span className={styles.cells} data-whole={row.draft === null || undefined}>
      {fields.map((field) => (
        <Cell
          key={field}
          label={texts.fields[field]}
          text={written[field] ?? ''}
          isWrong={wrong.includes(field)}
          onSave={(text) => onEdit(row.number, field, text)}
        />
      ))}
    </span>
  )
}

interface CellProps {
  label: string
  text: string
  isWrong: boolean
  onSave: (text: string) => void
}

function Cell({ label, text, isWrong, onSave }: CellProps): ReactNode {
  const [typed, setTyped] = useState<string | null>(null)
  const button = useRef<HTMLButtonElement>(null)
  const close = (isFocused: boolean) => {
    setTyped(null)
    if (isFocused) requestAnimationFrame(() => button.current?.focus())
  }
  const save = (isFocused: boolean) => {
    if (typed !== null && typed !== text) onSave(typed)
    close(isFocused)
  }
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Enter') save(true)
    if (event.key !== 'Escape') return
    // The dialog stays open.
    event.stopPropagation()
    close(true)
  }
  return typed === null ? (
    <button ref={button} type="button" className={styles.cell} data-wrong={isWrong || undefined} onClick={() => setTyped(text)}>
      <small>{label}</small>
      <span>{text === '' ? texts.emptyCell : text}</span>
    </button>
  ) : (
    <TextInput
      className={styles.cellInput ?? ''}
      aria-label={label}
      size="xs"
      data-autofocus
      autoFocus
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onKeyDown={press}
      onBlur={() => save(false)}
    />
  )
}
