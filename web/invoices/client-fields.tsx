import '@mantine/core/styles/ScrollArea.layer.css'
import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/Combobox.layer.css'
import { Autocomplete } from '@mantine/core'
import { type ReactNode, useMemo } from 'react'
import { invoiceCalls } from '#contract/invoices.ts'
import type { ContractFormState } from '#web/platform/contract-form.tsx'
import { useApiQuery } from '#web/platform/query.ts'
import { type Client, clientsOf, suggestions } from './client-names.ts'
import { formTexts } from './form-texts.ts'
import type { InvoiceValues } from './invoice-form.tsx'

const minutes = 60_000
// A closed list that stays in the page would be a second thing called by the field's name.
const unmounted = { keepMounted: false, withinPortal: false }

/** All that is offered stands there at once, in pixels. */
const suggestedHeight = 400

/** Who it is for. Names and emails of earlier invoices are offered; choosing one fills the other where it is empty or belonged to another choice. */
export function ClientFields({ form }: { form: ContractFormState<InvoiceValues>['form'] }): ReactNode {
  const invoices = useApiQuery(invoiceCalls.list, {}, { staleTime: 5 * minutes })
  const clients = useMemo(() => clientsOf(invoices.data ?? []), [invoices.data])
  const { clientName, clientEmail } = form.getValues()
  const isKnown = (field: keyof Client, text: string) => clients.some((client) => client[field] === text)
  const choose = (field: keyof Client, text: string) => {
    const client = clients.find((one) => one[field] === text)
    if (!client) return
    if (field === 'name' && (clientEmail === '' || isKnown('email', clientEmail))) form.setFieldValue('clientEmail', client.email)
    if (field === 'email' && clientName === '') form.setFieldValue('clientName', client.name)
  }
  return (
    <>
      <Autocomplete
        label={formTexts.clientName}
        autoComplete="off"
        required
        data={suggestions(clients, 'name', clientName)}
        filter={({ options }) => options}
        comboboxProps={unmounted}
        maxDropdownHeight={suggestedHeight}
        onOptionSubmit={(name) => choose('name', name)}
        {...form.getInputProps('clientName')}
      />
      <Autocomplete
        label={formTexts.clientEmail}
        type="email"
        autoComplete="off"
        required
        data={suggestions(clients, 'email', clientEmail)}
        filter={({ options }) => options}
        comboboxProps={unmounted}
        maxDropdownHeight={suggestedHeight}
        onOptionSubmit={(email) => choose('email', email)}
        {...form.getInputProps('clientEmail')}
      />
    </>
  )
}
