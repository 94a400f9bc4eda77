import { Button, NativeSelect, NumberInput, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { invoiceStatus } from '#contract/invoices.ts'
import { ContractForm, type ContractFormState } from '#web/platform/contract-form.tsx'
import { DateField } from '#web/ui/date-field.tsx'
import { ClientFields } from './client-fields.tsx'
import look from './invoice-form.module.css'
import { texts } from './texts.ts'

/** What the fields hold; the amount is '' until it is a number. */
export type InvoiceValues = {
  clientName: string
  clientEmail: string
  amount: number | string
  dueDate: string
  status: string
  reference: string
}

interface InvoiceFormProps {
  state: ContractFormState<InvoiceValues>
  words: { submit: string; busy: string; referenceHint: string | null }
}

/** The fields of an invoice, for writing down and for changing. */
export function InvoiceForm({ state, words }: InvoiceFormProps): ReactNode {
  const { form } = state
  const { form: labels } = texts
  return (
    <div className={look.frame}>
      <ContractForm
        state={state}
        submit={words.submit}
        busy={words.busy}
        actions={
          <Button component={Link} to="/dashboard" variant="default">
            {labels.cancel}
          </Button>
        }
      >
        <div className={look.fields}>
          <ClientFields form={form} />
          <NumberInput
            label={labels.amount}
            leftSection="₹"
            required
            hideControls
            inputMode="decimal"
            decimalScale={2}
            allowNegative={false}
            thousandSeparator=","
            thousandsGroupStyle="lakh"
            maxLength={18}
            {...form.getInputProps('amount')}
          />
          <DateField label={labels.dueDate} required {...form.getInputProps('dueDate')} />
          <NativeSelect
            label={labels.status}
            data={invoiceStatus.options.map((value) => ({ value, label: texts.status[value] }))}
            {...form.getInputProps('status')}
          />
          <TextInput
            label={labels.reference}
            placeholder="INV-0001"
            description={words.referenceHint}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            autoComplete="off"
            {...form.getInputProps('reference')}
          />
        </div>
      </ContractForm>
    </div>
  )
}

/** What the fields say as the body of a call; what was left empty is left out. */
export function toDraft(values: InvoiceValues): {
  clientName: string
  clientEmail: string
  amount: number
  dueDate: string
  status: 'unpaid' | 'paid' | 'overdue'
  reference?: string
} {
  const { reference, status, amount, ...rest } = values
  return {
    ...rest,
    amount: amount === '' ? Number.NaN : Number(amount),
    status: invoiceStatus.catch('unpaid').parse(status),
    ...(reference.trim() === '' ? {} : { reference }),
  }
}
