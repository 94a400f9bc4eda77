import { TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { type ReactNode, useMemo, useState } from 'react'
import type { ReadLine } from '#contract/import/bank.ts'
import { type Invoice, owedAmount } from '#contract/invoices.ts'
import { formatMoney } from '#contract/money.ts'
import { searchKey } from '#contract/search.ts'
import { showSpoken } from '#web/ui/dates.ts'
import { Dialog, useKept } from '#web/ui/dialog.tsx'
import { bankFileTexts as texts } from './bank-texts.ts'
import payStyles from './pay.module.css'

/** Invoices shown at once: more are found by searching. */
const mostShown = 20

interface InvoiceChoiceProps {
  /** The payment that an invoice is chosen for; null: closed. */
  read: ReadLine | null
  invoices: Invoice[]
  onChoose: (invoice: Invoice) => void
  onClose: () => void
}

export function InvoiceChoice({ read, invoices, onChoose, onClose }: InvoiceChoiceProps): ReactNode {
  const shown = useKept(read)
  return (
    <Dialog opened={read !== null} onClose={onClose} title={texts.choose} size={560}>
      {shown && <OpenInvoices key={shown.number} read={shown} invoices={invoices} onChoose={onChoose} />}
    </Dialog>
  )
}

/** The open invoices in the currency of a payment: those of its amount first, then those with the first due date. */
function OpenInvoices({ read, invoices, onChoose }: Omit<InvoiceChoiceProps, 'read' | 'onClose'> & { read: ReadLine }): ReactNode {
  const [search, setSearch] = useState('')
  const typed = searchKey(search)
  const open = useMemo(() => {
    const differs = (invoice: Invoice) => (owedAmount(invoice) === read.line.amount ? 0 : 1)
    return invoices
      .filter(({ status, currency }) => status !== 'paid' && currency === read.currency)
      .toSorted((one, other) => differs(one) - differs(other) || (one.dueDate < other.dueDate ? -1 : 1))
  }, [invoices, read])
  const found = open.filter(({ reference, clientName, clientEmail }) =>
    searchKey(`${reference}\n${clientName}\n${clientEmail}`).includes(typed),
  )
  return (
    <>
      <p className={payStyles.text}>
        {formatMoney(read.line.amount, read.currency)} · {showSpoken(read.line.date)}
      </p>
      <TextInput
        type="search"
        aria-label={texts.search}
        placeholder={texts.search}
        leftSection={<IconSearch size={18} stroke={1.7} aria-hidden />}
        data-autofocus
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
      />
      {found.length === 0 && <p className={payStyles.none}>{texts.noInvoice}</p>}
      <ul className={payStyles.invoices}>
        {found.slice(0, mostShown).map((invoice) => (
          <li key={invoice._id}>
            <button type="button" className={payStyles.invoice} onClick={() => onChoose(invoice)}>
              <strong>{texts.pays(invoice.reference, invoice.clientName)}</strong>
              <span className={payStyles.quiet}>{texts.toPay(formatMoney(owedAmount(invoice), invoice.currency))}</span>
            </button>
          </li>
        ))}
      </ul>
      {found.length > mostShown && <p className={payStyles.none}>{texts.more(found.length - mostShown)}</p>}
    </>
  )
}
