import { Button, Skeleton } from '@mantine/core'
import { IconChevronLeft } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { Link, useLocation, useNavigate, useParams } from 'react-router'
import { type Invoice, type InvoiceChange, invoiceCalls, invoice as invoiceSchema, tagOfInvoice } from '#contract/invoices.ts'
import { formatMoney, showAmount } from '#contract/money.ts'
import { screens } from '#contract/screens.ts'
import { HistoryPanel, NotesPanel, useHistory } from '#web/invoices/history/history-panel.tsx'
import { changeInvalidates, writeInvoice } from '#web/invoices/invoice-state.ts'
import { PaymentsPanel } from '#web/invoices/payments/payments-panel.tsx'
import { InvoiceSummary } from '#web/invoices/summary/invoice-summary.tsx'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { useLiveInterval, useToday } from '#web/platform/account.tsx'
import { type Conflict, compareChanges, useSaveOnTop } from '#web/platform/conflict.tsx'
import { changedFields, useContractForm } from '#web/platform/contract-form.tsx'
import { queryKey, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { send, sendMatching } from '#web/platform/send.ts'
import { UnsavedGuard } from '#web/ui/confirm.tsx'
import { daysBetween, showDate } from '#web/ui/dates.ts'
import { languageName } from '#web/ui/fields.tsx'
import { PageHeader } from '#web/ui/panel.tsx'
import styles from './form.module.css'
import { checkDraft, InvoiceForm, type InvoiceValues, statusByDate, toDraft } from './invoice-form.tsx'
import { conflictTexts, formTexts as texts } from './texts.ts'

/** /dashboard/edit-invoice/{id} */
export default function EditInvoiceScreen(): ReactNode {
  const { id = '' } = useParams()
  const { state } = useLocation()
  const fromList = invoiceOf(state, id)
  return (
    <>
      <Link to={screens.dashboard} className={styles.back}>
        <IconChevronLeft size={18} stroke={1.7} aria-hidden />
        {texts.back}
      </Link>
      <PageHeader title={texts.edit.title} subtitle={texts.edit.subtitle} />
      <LoadedInvoice key={id} id={id} fromList={fromList} />
    </>
  )
}

function LoadedInvoice({ id, fromList }: { id: string; fromList: Invoice | null }): ReactNode {
  const input = { params: { id } }
  const queries = useQueryClient()
  // The list's copy is shown immediately. It is marked as stale, so a later change such as a pause is still fetched.
  useState(() => {
    const key = queryKey(invoiceCalls.read, input)
    if (fromList && !queries.getQueryData(key)) queries.setQueryData(key, fromList, { updatedAt: 0 })
  })
  const query = useApiQuery(invoiceCalls.read, input, { refetchInterval: useLiveInterval() })
  return (
    <QueryView
      query={query}
      loading={texts.loading}
      skeleton={
        <>
          <Skeleton height={268} radius={14} mb={20} />
          <div className={styles.columns}>
            <Skeleton height={478} radius={14} />
            <Skeleton height={378} radius={14} />
          </div>
        </>
      }
      error={texts.failed}
      gone={texts.gone}
      otherwise={
        <Button component={Link} to={screens.dashboard} variant="default">
          {texts.toDashboard}
        </Button>
      }
      empty={null}
    >
      {(invoice) => <ShownInvoice invoice={invoice} />}
    </QueryView>
  )
}

function ShownInvoice({ invoice }: { invoice: Invoice }): ReactNode {
  const history = useHistory(invoice._id)
  return (
    <>
      <InvoiceSummary invoice={invoice} history={history.data} />
      <div className={styles.columns}>
        <PaymentsPanel invoice={invoice} payments={history.data?.payments} />
        <EditForm invoice={invoice} />
        <div>
          <HistoryPanel invoice={invoice} history={history} />
          <NotesPanel id={invoice._id} notes={history.data?.notes} />
        </div>
      </div>
    </>
  )
}

function EditForm({ invoice: newest }: { invoice: Invoice }): ReactNode {
  const navigate = useNavigate()
  const { today } = useToday()
  // The state at the start: a refetch must not count as an edit. It is taken over while nothing is edited, and afterwards a status changed elsewhere, as above the form.
  const [invoice, setInvoice] = useState(newest)
  const [chosen, setChosen] = useState(false)
  const { clientName, clientEmail, amount, currency, language, dueDate, status, reference, issuedOn } = invoice
  const before = { clientName, clientEmail, amount, currency, language, dueDate: dueDate.slice(0, 10), status, reference, issuedOn }
  const shown = valuesOf(invoice)
  const { save, dialog } = useSaveOnTop<Invoice, Field>(sharedInvoice(invoice._id, chosen ? null : today))
  const state = useContractForm({
    call: invoiceCalls.update,
    initialValues: shown,
    toInput: (values) => ({
      params: { id: invoice._id },
      // A status that follows the due date is not a choice: it is added when it is sent.
      body: changedFields(before, { ...toDraft(chosen ? values : { ...values, status }, currency), language: values.language || null }),
    }),
    check: (values) => checkDraft(values, currency),
    send: ({ body }) => save(invoice, body as Partial<Pick<Invoice, Field>>),
    invalidates: changeInvalidates,
    update: writeInvoice,
    onSuccess: async (saved, values) => {
      // An unsent note may keep the person here.
      form.resetDirty(values)
      setInvoice(saved)
      await navigate(screens.dashboard)
    },
  })
  const { form } = state
  useEffect(() => {
    if (newest.version !== invoice.version && !form.isDirty()) {
      form.setValues(valuesOf(newest))
      form.resetDirty(valuesOf(newest))
      setInvoice(newest)
      return
    }
    if (newest.status === status) return
    const typed = form.getValues()
    // The person chose another one: as the version stays too, the server refuses theirs.
    if (chosen && typed.status !== status) return
    form.setFieldValue(
      'status',
      chosen ? newest.status : statusByDate(typed.dueDate, today, { dueDate: before.dueDate, status: newest.status }),
    )
    form.resetDirty({ ...shown, status: newest.status })
    const isOnlyStatus = compareChanges(conflictTexts.fields, invoice, {}, newest).changed.length === 1
    setInvoice({ ...invoice, status: newest.status, version: isOnlyStatus ? newest.version : invoice.version })
  })
  return (
    <>
      <InvoiceForm state={state} labels={texts.edit} chosen={chosen} onChosen={setChosen} />
      <UnsavedGuard unsaved={state.form.isDirty() && !state.busy} />
      {dialog}
    </>
  )
}

function valuesOf({ clientName, clientEmail, amount, currency, language, dueDate, status, reference, issuedOn }: Invoice): InvoiceValues {
  const [shownAmount, date] = [showAmount(amount, currency), dueDate.slice(0, 10)]
  return { clientName, clientEmail, amount: shownAmount, currency, language: language ?? '', dueDate: date, status, reference, issuedOn }
}

/** The invoice that the list passed along in the navigation state. */
function invoiceOf(state: unknown, id: string): Invoice | null {
  const given: unknown = typeof state === 'object' && state !== null && 'invoice' in state ? state.invoice : null
  const parsed = invoiceSchema.safeParse(given)
  return parsed.success && parsed.data._id === id ? parsed.data : null
}

type Field = keyof typeof conflictTexts.fields

/**
 * An invoice that others may change while its form is open. `today`: a due date that has passed then makes it overdue; null where the person
 * chose the status. That a later date makes it unpaid is for the server.
 */
function sharedInvoice(id: string, today: string | null): Parameters<typeof useSaveOnTop<Invoice, Field>>[0] {
  const params = { id }
  const isLate = ({ dueDate }: Partial<Pick<Invoice, Field>>, known: Invoice) =>
    today !== null && dueDate !== undefined && dueDate < today && known.status === 'unpaid'
  return {
    fields: conflictTexts.fields,
    read: () => send(invoiceCalls.read, { params }),
    write: (mine, known) => {
      const body = { ...mine, ...(isLate(mine, known) ? { status: 'overdue' } : {}) } as InvoiceChange
      return sendMatching(invoiceCalls.update, { params, body }, tagOfInvoice(known))
    },
    shown: shownValue,
    named: ({ reference, clientName }) => `${reference}, ${clientName}`,
    figure: (conflict) => conflict.both.includes('dueDate') && <DueDates conflict={conflict} />,
    other: conflictTexts.other,
  }
}

function shownValue(field: Field, invoice: Pick<Invoice, Field>): string {
  if (field === 'amount') return formatMoney(invoice.amount, invoice.currency)
  if (field === 'dueDate' || field === 'issuedOn') return showDate(invoice[field])
  if (field === 'language') return invoice.language === null ? conflictTexts.sameLanguage : languageName(invoice.language)
  return field === 'status' ? invoiceTexts.status[invoice.status] : invoice[field]
}

function DueDates({ conflict: { was, mine, theirs, by } }: { conflict: Conflict<Invoice, Field> }): ReactNode {
  const { today } = useToday()
  return (
    <DateLine
      today={today}
      marks={[
        { side: 'was', name: conflictTexts.was, date: was.dueDate },
        { side: 'mine', name: conflictTexts.yours, date: mine.dueDate ?? was.dueDate },
        { side: 'theirs', name: conflictTexts.possessive(by), date: theirs.dueDate },
      ]}
    />
  )
}

const width = 320

/** Dates on one line with today, as on the due line. */
function DateLine({ today, marks }: { today: string; marks: { side: string; name: string; date: string }[] }): ReactNode {
  const dates = [today, ...marks.map(({ date }) => date)].toSorted()
  const [first = today, last = today] = [dates[0], dates.at(-1)]
  const days = Math.max(1, daysBetween(first, last))
  const margin = 34
  const x = (date: string) => margin + ((width - 2 * margin) * daysBetween(first, date)) / days
  const label = marks.map(({ name, date }) => `${name} ${showDate(date)}`).join(', ')
  // Names that would overlap go below each other.
  const rows: number[] = []
  const rowOf = (at: number) => {
    const row = rows.findIndex((taken) => at - taken > 62)
    const free = row < 0 ? rows.length : row
    rows[free] = at
    return free
  }
  const placed = marks
    .toSorted((one, other) => (one.date < other.date ? -1 : 1))
    .map((mark) => ({ ...mark, at: x(mark.date), row: rowOf(x(mark.date)) }))
  const height = 64 + 36 * rows.length
  return (
    <svg className={styles.dateLine} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <line x1="0" x2={width} y1="46" y2="46" data-part="axis" />
      <line x1={x(today)} x2={x(today)} y1="14" y2="54" data-part="today" />
      <text x={x(today) + 6} y="16">
        {conflictTexts.today}
      </text>
      {placed.map(({ side, name, date, at, row }) => (
        <g key={side} data-side={side}>
          <circle cx={at} cy="38" r={side === 'was' ? 6 : 8} />
          <text x={at} y={68 + 36 * row} textAnchor="middle">
            {name}
          </text>
          <text x={at} y={84 + 36 * row} textAnchor="middle">
            {showDate(date).slice(0, 5)}
          </text>
        </g>
      ))}
    </svg>
  )
}
