import { Button, Skeleton } from '@mantine/core'
import { IconChevronLeft } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { Link, useLocation, useNavigate, useParams } from 'react-router'
import { showAmount } from '#contract/import/cells.ts'
import { type Invoice, invoiceCalls, invoice as invoiceSchema } from '#contract/invoices.ts'
import { screens } from '#contract/screens.ts'
import { HistoryPanel, NotesPanel, useHistory } from '#web/invoices/history/history-panel.tsx'
import { changeInvalidates, writeInvoice } from '#web/invoices/invoice-state.ts'
import { PaymentsPanel } from '#web/invoices/payments/payments-panel.tsx'
import { InvoiceSummary } from '#web/invoices/summary/invoice-summary.tsx'
import { useLiveInterval } from '#web/platform/account.tsx'
import { useContractForm } from '#web/platform/contract-form.tsx'
import { queryKey, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { UnsavedGuard } from '#web/ui/confirm.tsx'
import { PageHeader } from '#web/ui/panel.tsx'
import { compareChanges, useSaveOnTop } from './conflict.tsx'
import styles from './form.module.css'
import { checkDraft, InvoiceForm, toDraft } from './invoice-form.tsx'
import { formTexts as texts } from './texts.ts'

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
  // The state at the start: a refetch must not count as an edit. Only a status changed elsewhere, as above the form, is taken over.
  const [invoice, setInvoice] = useState(newest)
  const { clientName, clientEmail, amount, currency, language, dueDate, status, reference, issuedOn } = invoice
  const before = { clientName, clientEmail, amount, currency, language, dueDate: dueDate.slice(0, 10), status, reference, issuedOn }
  const { save, dialog } = useSaveOnTop()
  const state = useContractForm({
    call: invoiceCalls.update,
    initialValues: { ...before, amount: showAmount(amount, currency), language: language ?? '' },
    toInput: (values) => ({
      params: { id: invoice._id },
      body: changes(before, { ...toDraft(values, currency), language: values.language || null }),
    }),
    check: (values) => checkDraft(values, currency),
    send: ({ body }) => save(invoice, body),
    invalidates: changeInvalidates,
    update: writeInvoice,
    onSuccess: async () => {
      await navigate(screens.dashboard)
    },
  })
  const { form } = state
  useEffect(() => {
    if (newest.status === status) return
    if (form.getValues().status === status) form.setFieldValue('status', newest.status)
    form.resetDirty({
      ...form.getValues(),
      clientName,
      clientEmail,
      amount: showAmount(amount, currency),
      currency,
      language: language ?? '',
      dueDate: before.dueDate,
      reference,
      issuedOn,
      status: newest.status,
    })
    const isOnlyStatus = compareChanges(invoice, {}, newest).changed.length === 1
    setInvoice({ ...invoice, status: newest.status, version: isOnlyStatus ? newest.version : invoice.version })
  })
  return (
    <>
      <InvoiceForm state={state} labels={texts.edit} />
      <UnsavedGuard unsaved={state.form.isDirty() && !state.busy} />
      {dialog}
    </>
  )
}

/** Only the fields edited here, so that a change made elsewhere, such as a payment, is not overwritten. */
function changes<D extends object>(before: D, after: D): Partial<D> {
  const was = new Map(Object.entries(before))
  return Object.fromEntries(Object.entries(after).filter(([field, value]) => was.get(field) !== value)) as Partial<D>
}

/** The invoice that the list passed along in the navigation state. */
function invoiceOf(state: unknown, id: string): Invoice | null {
  const given: unknown = typeof state === 'object' && state !== null && 'invoice' in state ? state.invoice : null
  const parsed = invoiceSchema.safeParse(given)
  return parsed.success && parsed.data._id === id ? parsed.data : null
}
