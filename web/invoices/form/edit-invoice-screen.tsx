import { Button, Skeleton } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link, useLocation, useNavigate, useParams } from 'react-router'
import { type Invoice, invoiceCalls, invoice as invoiceSchema } from '#contract/invoices.ts'
import { HistoryPanel } from '#web/invoices/history/history-panel.tsx'
import { writeInvoice } from '#web/invoices/invoice-cache.ts'
import { useContractForm } from '#web/platform/contract-form.tsx'
import { queryKey, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { UnsavedGuard } from '#web/ui/confirm.tsx'
import { PageHeader } from '#web/ui/panel.tsx'
import styles from './form.module.css'
import { InvoiceForm } from './invoice-form.tsx'
import { checkDraft, showAmount, toDraft } from './invoice-values.ts'
import { texts } from './texts.ts'

/** /dashboard/edit-invoice/{id}. The invoice may come along from the list; otherwise it is read. */
export default function EditInvoiceScreen(): ReactNode {
  const { id = '' } = useParams()
  const { state } = useLocation()
  const brought = bringAlong(state, id)
  return (
    <>
      <PageHeader title={texts.edit.title} subtitle={texts.edit.subtitle} />
      <Found key={id} id={id} brought={brought} />
    </>
  )
}

function Found({ id, brought }: { id: string; brought: Invoice | null }): ReactNode {
  const input = { params: { id } }
  const queries = useQueryClient()
  // What came along is shown at once; it counts as read long ago, so what became of it since, such as a pause, is asked for all the same.
  useState(() => {
    const key = queryKey(invoiceCalls.read, input)
    if (brought && !queries.getQueryData(key)) queries.setQueryData(key, brought, { updatedAt: 0 })
  })
  const found = useApiQuery(invoiceCalls.read, input)
  return (
    <QueryView
      query={found}
      loading={texts.loading}
      skeleton={
        <div className={styles.columns}>
          <Skeleton height={378} radius={14} />
          <Skeleton height={378} radius={14} />
        </div>
      }
      error={texts.failed}
      gone={texts.gone}
      otherwise={
        <Button component={Link} to="/dashboard" variant="default">
          {texts.toDashboard}
        </Button>
      }
      empty={null}
    >
      {(invoice) => <Both invoice={invoice} />}
    </QueryView>
  )
}

/** The fields, and beside them what was written to the client about it. */
function Both({ invoice }: { invoice: Invoice }): ReactNode {
  return (
    <div className={styles.columns}>
      <EditForm invoice={invoice} />
      <HistoryPanel invoice={invoice} />
    </div>
  )
}

function EditForm({ invoice: newest }: { invoice: Invoice }): ReactNode {
  const navigate = useNavigate()
  // What the fields began with: what is read anew meanwhile is no change of this person's.
  const [invoice] = useState(newest)
  const { clientName, clientEmail, amount, dueDate, status, reference } = invoice
  const before = { clientName, clientEmail, amount, dueDate: dueDate.slice(0, 10), status, reference }
  const state = useContractForm({
    call: invoiceCalls.update,
    initialValues: { ...before, amount: showAmount(amount) },
    toInput: (values) => ({ params: { id: invoice._id }, body: changes(before, toDraft(values)) }),
    check: checkDraft,
    invalidates: [invoiceCalls.list, invoiceCalls.read],
    update: writeInvoice,
    onSuccess: async () => {
      await navigate('/dashboard')
    },
  })
  return (
    <>
      <InvoiceForm state={state} words={texts.edit} />
      <UnsavedGuard unsaved={state.form.isDirty() && !state.busy} />
    </>
  )
}

/** Only what was changed here: what became of the rest meanwhile, such as a payment noted in another tab, is left alone. */
function changes<D extends object>(before: D, after: D): Partial<D> {
  const was = new Map(Object.entries(before))
  return Object.fromEntries(Object.entries(after).filter(([field, value]) => was.get(field) !== value)) as Partial<D>
}

/** The invoice from the navigation's state, if it is the right one. */
function bringAlong(state: unknown, id: string): Invoice | null {
  const brought: unknown = typeof state === 'object' && state !== null && 'invoice' in state ? state.invoice : null
  const parsed = invoiceSchema.safeParse(brought)
  return parsed.success && parsed.data._id === id ? parsed.data : null
}
