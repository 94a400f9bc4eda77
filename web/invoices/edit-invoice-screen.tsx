import { Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import { useLocation, useNavigate, useParams } from 'react-router'
import { type Invoice, invoiceCalls, invoice as invoiceSchema } from '#contract/invoices.ts'
import { useContractForm } from '#web/platform/contract-form.tsx'
import { useRead } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { PageHeader } from '#web/ui/page-header.tsx'
import { InvoiceForm, toDraft } from './invoice-form.tsx'
import { texts } from './texts.ts'

/** /dashboard/edit-invoice/{id}. The invoice may come along from the list; otherwise it is read. */
export default function EditInvoiceScreen(): ReactNode {
  const { id = '' } = useParams()
  const { state } = useLocation()
  const brought = bringAlong(state, id)
  return (
    <>
      <PageHeader title={texts.form.edit.title} subtitle={texts.form.edit.subtitle} />
      {brought ? <EditForm key={id} invoice={brought} /> : <ReadFirst key={id} id={id} />}
    </>
  )
}

function ReadFirst({ id }: { id: string }): ReactNode {
  const found = useRead(invoiceCalls.read, { params: { id } })
  return (
    <QueryView
      query={found}
      loading={texts.form.loading}
      skeleton={<Skeleton height={420} maw={760} radius={14} />}
      error={texts.form.failed}
      empty={null}
    >
      {(invoice) => <EditForm invoice={invoice} />}
    </QueryView>
  )
}

function EditForm({ invoice }: { invoice: Invoice }): ReactNode {
  const navigate = useNavigate()
  const { clientName, clientEmail, amount, dueDate, status, reference } = invoice
  const before = { clientName, clientEmail, amount, dueDate: dueDate.slice(0, 10), status, reference }
  const state = useContractForm({
    call: invoiceCalls.update,
    initialValues: { ...before, amount: amount.toFixed(2) },
    toInput: (values) => ({ params: { id: invoice._id }, body: changes(before, toDraft(values)) }),
    refreshes: [invoiceCalls.list, invoiceCalls.read],
    onDone: async () => {
      await navigate('/dashboard')
    },
  })
  return <InvoiceForm state={state} words={texts.form.edit} />
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
