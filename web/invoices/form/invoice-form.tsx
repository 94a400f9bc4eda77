import '@mantine/core/styles/ScrollArea.layer.css'
import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/Combobox.layer.css'
import { Autocomplete, Button, NativeSelect, TextInput } from '@mantine/core'
import { type ReactNode, useMemo } from 'react'
import { Link } from 'react-router'
import { businessCalls } from '#contract/business.ts'
import { readDate } from '#contract/dates.ts'
import { calendarDate, type Invoice, invoiceCalls, invoiceStatus } from '#contract/invoices.ts'
import { decimalsProblem, readTypedAmount, showAmount, signOf, toMinor } from '#contract/money.ts'
import { screens } from '#contract/screens.ts'
import { searchKey } from '#contract/search.ts'
import { firstLanguage } from '#contract/speech.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { useCurrency, useToday } from '#web/platform/account.tsx'
import { ContractForm, type ContractFormState } from '#web/platform/contract-form.tsx'
import { useApiQuery } from '#web/platform/query.ts'
import { currencyChoices, DateField, LanguageField } from '#web/ui/fields.tsx'
import { NoWrap } from '#web/ui/plain.tsx'
import styles from './form.module.css'
import { formTexts as texts } from './texts.ts'

interface InvoiceFormProps {
  state: ContractFormState<InvoiceValues>
  labels: { submit: string; busy: string; issuedHint: string; referenceHint: string | null; heading: string | null }
  /** Whether the person has chosen a status: until then it follows the due date. */
  chosen: boolean
  onChosen: (chosen: boolean) => void
}

/** The form to create or edit an invoice. */
export function InvoiceForm({ state, labels, chosen, onChosen }: InvoiceFormProps): ReactNode {
  const { form } = state
  return (
    <div className={styles.frame}>
      {labels.heading !== null && <h2 className={styles.title}>{labels.heading}</h2>}
      <ContractForm
        state={state}
        submit={labels.submit}
        busy={labels.busy}
        actions={
          <Button component={Link} to={screens.dashboard} variant="default">
            {texts.cancel}
          </Button>
        }
      >
        <div className={styles.fields}>
          <ClientFields form={form} />
          <AmountFields form={form} />
          <DueFields form={form} chosen={chosen} onChosen={onChosen} />
          <TextInput
            label={texts.reference}
            placeholder={texts.referenceExample}
            description={labels.referenceHint === null ? null : <NoWrap text={labels.referenceHint} />}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            autoComplete="off"
            {...form.getInputProps('reference')}
          />
          <DateField label={texts.issuedOn} description={labels.issuedHint} {...form.getInputProps('issuedOn')} />
          <Language form={form} />
        </div>
      </ContractForm>
    </div>
  )
}

/** Only where another language than English is used. */
function Language({ form }: { form: ContractFormState<InvoiceValues>['form'] }): ReactNode {
  const business = useApiQuery(businessCalls.read, {}, { staleTime: 5 * minutes }).data
  const invoices = useApiQuery(invoiceCalls.list, {}, { staleTime: 5 * minutes }).data
  const { value, ...field } = form.getInputProps('language')
  const isUsed = value !== '' || (invoices ?? []).some(({ language }) => language !== null)
  if (!business || (business.language === firstLanguage && !isUsed)) return null
  return (
    <div className={styles.whole}>
      <LanguageField label={texts.language} known={business.languages} inherited={texts.languageOfClient} value={value} {...field} />
    </div>
  )
}

/** The status that a due date typed over a saved one decides: of one that is not paid, Unpaid or Overdue. */
export function statusByDate(date: string, today: string, saved: Pick<InvoiceValues, 'dueDate' | 'status'>): string {
  if (saved.status === 'paid' || date === saved.dueDate || !calendarDate.safeParse(date).success) return saved.status
  return date < today ? 'overdue' : 'unpaid'
}

/** A due date that the person enters decides between Unpaid and Overdue, as long as they have not chosen a status. */
function DueFields({
  form,
  chosen,
  onChosen,
}: Pick<InvoiceFormProps, 'chosen' | 'onChosen'> & Pick<ContractFormState<InvoiceValues>, 'form'>): ReactNode {
  const { today } = useToday()
  const due = form.getInputProps('dueDate')
  const status = form.getInputProps('status')
  const saved = form.getInitialValues()
  const shown = form.getValues().status
  const byDate = !chosen && shown !== saved.status && (shown === 'unpaid' || shown === 'overdue') ? shown : null
  const changeDue = (date: string) => {
    due.onChange(date)
    if (!chosen && calendarDate.safeParse(date).success) form.setFieldValue('status', statusByDate(date, today, saved))
  }
  return (
    <>
      <DateField label={texts.dueDate} required {...due} onChange={changeDue} />
      <NativeSelect
        label={texts.status}
        data={invoiceStatus.options.map((value) => ({ value, label: invoiceTexts.status[value] }))}
        description={byDate && texts.statusByDate[byDate]}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        {...status}
        onChange={(event) => {
          onChosen(true)
          status.onChange(event)
        }}
      />
    </>
  )
}

const minutes = 60_000
// A closed list left in the page would be a second element with the field's accessible name.
const unmounted = { keepMounted: false, withinPortal: false }

/** In pixels: all six suggestions fit without scrolling. */
const suggestedHeight = 400

/** Suggests clients of earlier invoices. Choosing a name also fills in the email if that is empty or another client's; choosing an email fills in an empty name. */
function ClientFields({ form }: { form: ContractFormState<InvoiceValues>['form'] }): ReactNode {
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
  // Each with its list, which would otherwise be a field of its own while it is open.
  return (
    <>
      <div>
        <Autocomplete
          label={texts.clientName}
          autoComplete="off"
          required
          data={suggestions(clients, 'name', clientName)}
          filter={({ options }) => options}
          comboboxProps={unmounted}
          maxDropdownHeight={suggestedHeight}
          onOptionSubmit={(name) => choose('name', name)}
          {...form.getInputProps('clientName')}
        />
      </div>
      <div>
        <Autocomplete
          label={texts.clientEmail}
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
      </div>
    </>
  )
}

/** An amount and, once the account uses a second one, its currency. On blur the amount is formatted, or its error is shown; while typing it is left alone. */
function AmountFields({ form }: { form: ContractFormState<InvoiceValues>['form'] }): ReactNode {
  const { value, onChange, ...field } = form.getInputProps('amount')
  const chosen = form.getInputProps('currency')
  const usual = useCurrency()
  const invoices = useApiQuery(invoiceCalls.list, {}, { staleTime: 5 * minutes }).data
  const used = useMemo(() => new Set([usual, ...(invoices ?? []).map((invoice) => invoice.currency)]), [usual, invoices])
  const currency = chosen.value || usual
  const sign = signOf(currency)
  const leave = () => {
    const amount = readTypedAmount(value, currency)
    if (amount !== null && toMinor(amount, currency) !== null) form.setFieldValue('amount', showAmount(amount, currency))
    if (value.trim() !== '') form.validateField('amount')
  }
  return (
    <>
      <TextInput
        {...field}
        label={texts.amount}
        leftSection={sign}
        leftSectionWidth={sign.length > 1 ? 56 : 36}
        required
        inputMode="decimal"
        autoComplete="off"
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        onBlur={leave}
      />
      {(used.size > 1 || currency !== usual) && (
        <NativeSelect
          label={texts.currency}
          data={currencyChoices([...used], currency)}
          {...chosen}
          value={currency}
          onChange={(event) => {
            chosen.onChange(event)
            form.clearFieldError('amount')
          }}
        />
      )}
    </>
  )
}

/** The form's values as typed. */
export type InvoiceValues = {
  clientName: string
  clientEmail: string
  amount: string
  /** '' is the account's. */
  currency: string
  /** '' is that of the client. */
  language: string
  dueDate: string
  status: string
  reference: string
  issuedOn: string
}

/**
 * The contract's message shows dates as YYYY-MM-DD; the form's fields take dd/mm/yyyy. How many decimals an amount may have depends on the
 * currency.
 */
export function checkDraft({ dueDate, issuedOn, amount: typed, currency }: InvoiceValues, usual: string): Record<string, string> {
  const problem = decimalsProblem(typed, currency || usual)
  return {
    ...(readDate(dueDate) === null ? { dueDate: texts.noDate } : {}),
    ...(issuedOn !== '' && readDate(issuedOn) === null ? { issuedOn: texts.noDate } : {}),
    ...(problem === null ? {} : { amount: problem }),
  }
}

/** The values as a request body. An empty reference or day of issue is left out, so that the server assigns one. */
export function toDraft(
  values: InvoiceValues,
  usual: string,
): {
  clientName: string
  clientEmail: string
  amount: number
  currency?: string
  language?: string | null
  dueDate: string
  status: 'unpaid' | 'paid' | 'overdue'
  reference?: string
  issuedOn?: string
} {
  const { reference, issuedOn, status, amount, currency, language, ...rest } = values
  return {
    ...rest,
    amount: readTypedAmount(amount, currency || usual) ?? Number.NaN,
    ...(currency === '' ? {} : { currency }),
    ...(language === '' ? {} : { language }),
    status: invoiceStatus.catch('unpaid').parse(status),
    ...(reference.trim() === '' ? {} : { reference }),
    ...(issuedOn === '' ? {} : { issuedOn }),
  }
}

/** A client of earlier invoices, as written on the newest. */
interface Client {
  name: string
  email: string
}

/** Each pair of name and email once, newest first. */
export function clientsOf(invoices: Pick<Invoice, 'clientName' | 'clientEmail'>[]): Client[] {
  const seen = new Set<string>()
  const clients: Client[] = []
  for (const { clientName, clientEmail } of invoices) {
    const key = `${clientName.toLowerCase()}\n${clientEmail.toLowerCase()}`
    if (seen.has(key)) continue
    seen.add(key)
    clients.push({ name: clientName, email: clientEmail })
  }
  return clients
}

/** At most six suggestions for a field, without duplicates and without what is already typed in full. */
export function suggestions(clients: Client[], field: keyof Client, typed: string): string[] {
  const wanted = searchKey(typed)
  if (wanted === '') return []
  const found = new Map<string, string>()
  for (const client of clients) {
    const key = searchKey(client[field])
    if (key !== wanted && key.includes(wanted) && !found.has(key)) found.set(key, client[field])
    if (found.size === 6) break
  }
  return [...found.values()]
}
