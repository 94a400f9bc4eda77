import { Button, NativeSelect, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { invoiceStatus } from '#contract/invoices.ts'
import { ContractForm, type ContractFormState } from '#web/platform/contract-form.tsx'
import { readDate } from '#web/ui/dates.ts'
import { DateField } from '#web/ui/fields.tsx'
import { readTypedAmount } from './amount.ts'
import { AmountField } from './amount-field.tsx'
import { ClientFields } from './client-fields.tsx'
import { formTexts } from './form-texts.ts'
import styles from './invoice-form.module.css'
import { texts } from './texts.ts'
import { unbroken } from './unbroken.tsx'

/** What the fields hold, as it was typed. */
export type InvoiceValues = {
  clientName: string
  clientEmail: string
  amount: string
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
  return (
    <div className={styles.frame}>
      <ContractForm
        state={state}
        submit={words.submit}
        busy={words.busy}
        actions={
          <Button component={Link} to="/dashboard" variant="default">
            {formTexts.cancel}
          </Button>
        }
      >
        <div className={styles.fields}>
          <ClientFields form={form} />
          <AmountField form={form} />
          <DateField label={formTexts.dueDate} required {...form.getInputProps('dueDate')} />
          <NativeSelect
            label={formTexts.status}
            data={invoiceStatus.options.map((value) => ({ value, label: texts.status[value] }))}
            {...form.getInputProps('status')}
          />
          <TextInput
            label={formTexts.reference}
            placeholder={formTexts.referenceShape}
            description={words.referenceHint === null ? null : unbroken(words.referenceHint)}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            autoComplete="off"
            {...form.getInputProps('reference')}
          />
        </div>
      </ContractForm>
    </div>
  )
}

/** What the contract's own words, which are for programs too, would say in another way of writing. */
export function checkDraft({ dueDate }: InvoiceValues): Record<string, string> {
  return readDate(dueDate) === null ? { dueDate: formTexts.noDate } : {}
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
    amount: readTypedAmount(amount) ?? Number.NaN,
    status: invoiceStatus.catch('unpaid').parse(status),
    ...(reference.trim() === '' ? {} : { reference }),
  }
}
