import type { ReactNode } from 'react'
import { useNavigate } from 'react-router'
import { invoiceCalls } from '#contract/invoices.ts'
import { writeInvoice } from '#web/invoices/invoice-cache.ts'
import { useContractForm } from '#web/platform/contract-form.tsx'
import { UnsavedGuard } from '#web/ui/confirm.tsx'
import { PageHeader } from '#web/ui/panel.tsx'
import { InvoiceForm } from './invoice-form.tsx'
import { checkDraft, type InvoiceValues, toDraft } from './invoice-values.ts'
import { texts } from './texts.ts'

const blank: InvoiceValues = { clientName: '', clientEmail: '', amount: '', dueDate: '', status: 'unpaid', reference: '' }

/** /dashboard/new-invoice */
export default function NewInvoiceScreen(): ReactNode {
  const navigate = useNavigate()
  const words = texts.create
  const state = useContractForm({
    call: invoiceCalls.create,
    initialValues: blank,
    toInput: (values) => ({ body: toDraft(values) }),
    check: checkDraft,
    invalidates: [invoiceCalls.list],
    update: writeInvoice,
    onSuccess: async () => {
      await navigate('/dashboard')
    },
  })
  return (
    <>
      <PageHeader title={words.title} subtitle={words.subtitle} />
      <InvoiceForm state={state} words={words} />
      <UnsavedGuard unsaved={state.form.isDirty() && !state.busy} />
    </>
  )
}
