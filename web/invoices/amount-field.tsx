import { TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { toMinor } from '#contract/money.ts'
import type { ContractFormState } from '#web/platform/contract-form.tsx'
import { readTypedAmount, showAmount } from './amount.ts'
import { formTexts } from './form-texts.ts'
import type { InvoiceValues } from './invoice-form.tsx'

/** An amount in rupees. What is typed stays as it is until the field is left; then it is grouped, or what is wrong with it stands below. */
export function AmountField({ form }: { form: ContractFormState<InvoiceValues>['form'] }): ReactNode {
  const { value, onChange, ...field } = form.getInputProps('amount')
  const leave = () => {
    const amount = readTypedAmount(value)
    if (amount !== null && toMinor(amount) !== null) form.setFieldValue('amount', showAmount(amount))
    if (value.trim() !== '') form.validateField('amount')
  }
  return (
    <TextInput
      {...field}
      label={formTexts.amount}
      leftSection="₹"
      required
      inputMode="decimal"
      autoComplete="off"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      onBlur={leave}
    />
  )
}
