import { type ReactNode, useState } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { invoiceCalls, invoice as invoiceSchema } from '#contract/invoices.ts'
import { showAmount } from '#contract/money.ts'
import { screens } from '#contract/screens.ts'
import { changeInvalidates, writeInvoice } from '#web/invoices/invoice-state.ts'
import { useCurrency } from '#web/platform/account.tsx'
import { useContractForm } from '#web/platform/contract-form.tsx'
import { UnsavedGuard } from '#web/ui/confirm.tsx'
import { PageHeader } from '#web/ui/panel.tsx'
import { checkDraft, InvoiceForm, type InvoiceValues, toDraft } from './invoice-form.tsx'
import { formTexts as texts } from './texts.ts'

const blank: InvoiceValues = {
  clientName: '',
  clientEmail: '',
  amount: '',
  currency: '',
  language: '',
  dueDate: '',
  status: 'unpaid',
  reference: '',
  issuedOn: '',
}

/** /dashboard/new-invoice; the location's state may have an invoice to copy. */
export default function NewInvoiceScreen(): ReactNode {
  const navigate = useNavigate()
  const { state: given } = useLocation()
  const [initialValues] = useState(() => copyOf(given))
  const [chosen, setChosen] = useState(false)
  const usual = useCurrency()
  const state = useContractForm({
    call: invoiceCalls.create,
    idempotent: true,
    initialValues,
    toInput: (values) => ({ body: toDraft(values, usual) }),
    check: (values) => checkDraft(values, usual),
    invalidates: changeInvalidates,
    update: writeInvoice,
    onSuccess: async () => {
      await navigate(screens.dashboard)
    },
  })
  return (
    <>
      <PageHeader title={texts.create.title} subtitle={texts.create.subtitle} />
      <InvoiceForm state={state} labels={texts.create} chosen={chosen} onChosen={setChosen} />
      <UnsavedGuard unsaved={state.form.isDirty() && !state.busy} />
    </>
  )
}

/** The client, the amount and the currency of the invoice in a location's state; a copy has a due date and a reference of its own. */
function copyOf(state: unknown): InvoiceValues {
  const given: unknown = typeof state === 'object' && state !== null && 'copy' in state ? state.copy : null
  const parsed = invoiceSchema.safeParse(given)
  if (!parsed.success) return blank
  const { clientName, clientEmail, amount, currency, language } = parsed.data
  return { ...blank, clientName, clientEmail, amount: showAmount(amount, currency), currency, language: language ?? '' }
}
