import type { ReactNode } from 'react'
import { useNavigate } from 'react-router'
import { invoiceCalls } from '#contract/invoices.ts'
import { screens } from '#contract/screens.ts'
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
  const state = useContractForm({
    call: invoiceCalls.create,
    initialValues: blank,
    toInput: (values) => ({ body: toDraft(values) }),
    check: checkDraft,
    invalidates: [invoiceCalls.list],
    update: writeInvoice,
    onSuccess: async () => {
      await navigate(screens.dashboard)
    },
  })
  return (
    <>
      <PageHeader title={texts.create.title} subtitle={texts.create.subtitle} />
      <InvoiceForm state={state} labels={texts.create} />
      <UnsavedGuard unsaved={state.form.isDirty() && !state.busy} />
    </>
  )
}
