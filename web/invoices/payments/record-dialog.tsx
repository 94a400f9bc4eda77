import { Button, NativeSelect, Textarea, TextInput } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import type { Invoice } from '#contract/invoices.ts'
import { decimalsProblem, formatMoney, readTypedAmount, showAmount, signOf } from '#contract/money.ts'
import { type Payment, paymentCalls, paymentMethod } from '#contract/payments.ts'
import styles from '#web/invoices/form/form.module.css'
import { changeInvalidates, writeInvoice } from '#web/invoices/invoice-state.ts'
import { useToday } from '#web/platform/account.tsx'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { Dialog, useKept } from '#web/ui/dialog.tsx'
import { DateField } from '#web/ui/fields.tsx'
import { toast } from '#web/ui/toast.tsx'
import { paymentTexts } from './texts.ts'

const texts = paymentTexts.dialog

interface Recording {
  invoice: Invoice
  kind: Payment['kind']
}

/** Records a payment or refund of an invoice. */
export function RecordDialog({ about, onClose }: { about: Recording | null; onClose: () => void }): ReactNode {
  const [busy, setBusy] = useState(false)
  const shown = useKept(about)
  return (
    <Dialog
      opened={about !== null}
      onClose={busy ? () => undefined : onClose}
      title={shown?.kind === 'refund' ? paymentTexts.refund : paymentTexts.record}
      size={520}
    >
      {shown && (
        <>
          <p className={styles.dialogAbout}>{texts.about(shown.invoice.reference, shown.invoice.clientName)}</p>
          <RecordForm key={`${shown.kind} ${shown.invoice._id}`} {...shown} onBusy={setBusy} onClose={onClose} />
        </>
      )}
    </Dialog>
  )
}

type RecordValues = { amount: string; paidOn: string; method: string; reference: string; note: string }

interface RecordFormProps extends Recording {
  onBusy: (busy: boolean) => void
  onClose: () => void
}

const problemOf = (amount: string | null) => (amount === null ? {} : { amount })

function RecordForm({ invoice, kind, onBusy, onClose }: RecordFormProps): ReactNode {
  const { today } = useToday()
  const { _id: id, reference, balance, amountPaid, currency } = invoice
  const sign = signOf(currency)
  const isRefund = kind === 'refund'
  const initialValues: RecordValues = {
    amount: isRefund ? showAmount(amountPaid, currency) : balance > 0 ? showAmount(balance, currency) : '',
    paidOn: today,
    method: '',
    reference: '',
    note: '',
  }
  const state = useContractForm({
    call: paymentCalls.record,
    idempotent: true,
    initialValues,
    toInput: (values) => ({
      params: { id },
      body: {
        kind,
        amount: readTypedAmount(values.amount, currency) ?? Number.NaN,
        paidOn: values.paidOn,
        method: values.method === '' ? null : paymentMethod.parse(values.method),
        reference: values.reference,
        note: values.note,
      },
    }),
    check: ({ paidOn, amount }) => ({
      ...problemOf(decimalsProblem(amount, currency)),
      ...(/^\d{4}-\d{2}-\d{2}$/.test(paidOn) && paidOn > today ? { paidOn: texts.future } : {}),
      ...(isRefund && (readTypedAmount(amount, currency) ?? 0) > amountPaid
        ? { amount: texts.mostRefund(formatMoney(amountPaid, currency)) }
        : {}),
    }),
    invalidates: changeInvalidates,
    update: (cache, { invoice: after }) => writeInvoice(cache, after),
    failure: texts.failed,
    onSuccess: ({ payment, invoice: after }) => {
      const amount = formatMoney(payment.amount, currency)
      if (isRefund) toast('good', texts.refunded(amount))
      else toast('good', after.status === 'paid' ? texts.paid(reference) : texts.recorded(amount, formatMoney(after.balance, currency)))
      onClose()
    },
  })
  const { form, busy } = state
  useEffect(() => {
    onBusy(busy)
    return () => onBusy(false)
  }, [busy, onBusy])
  const { onChange: changeDay, ...day } = form.getInputProps('paidOn')
  return (
    <ContractForm
      state={state}
      submit={texts.submit}
      busy={texts.busy}
      actions={
        <Button variant="default" onClick={onClose} disabled={busy}>
          {texts.cancel}
        </Button>
      }
    >
      <div className={styles.paymentFields}>
        <TextInput
          label={texts.amount}
          leftSection={sign}
          leftSectionWidth={sign.length > 1 ? 56 : 36}
          required
          inputMode="decimal"
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('amount')}
        />
        <DateField label={isRefund ? texts.paidBackOn : texts.paidOn} required {...day} onChange={changeDay} />
        <NativeSelect
          label={texts.how}
          data={[
            { value: '', label: texts.noMethod },
            ...paymentMethod.options.map((value) => ({ value, label: paymentTexts.methods[value] })),
          ]}
          {...form.getInputProps('method')}
        />
        <TextInput
          label={texts.reference}
          placeholder={texts.referenceHint}
          autoComplete="off"
          maxLength={80}
          {...form.getInputProps('reference')}
        />
        <Textarea label={texts.note} description={texts.noteHint} rows={2} maxLength={500} {...form.getInputProps('note')} />
      </div>
    </ContractForm>
  )
}
