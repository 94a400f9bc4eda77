import { english } from '#contract/english.ts'
import type { Invoice } from '#contract/invoices.ts'
import { listedIn, words } from '#contract/language-texts.ts'
import { formatMoney, type Money, sumByCurrency } from '#contract/money.ts'
import type { PayBlock } from '#contract/pay.ts'
import { isTestKey, type PaymentSettings } from '#contract/payment-settings.ts'
import { isLanguage, type Speech } from '#contract/speech.ts'
import {
  groupValues,
  groupVariables,
  type RenderedReminder,
  reminderValues,
  renderGroupReminder,
  renderReminder,
  sampleGroupValues,
  sampleValues,
  type Template,
  templateCalls,
  templateVariables,
  type Wording,
} from '#contract/templates.ts'
import { daysBetween } from '#web/ui/dates.ts'
import { texts } from './texts.ts'

/** `one`: an email per invoice. `group`: an email that lists all overdue invoices of a client. */
export type TemplateKind = 'one' | 'group'

export const kinds = {
  one: { read: templateCalls.read, save: templateCalls.save, variables: templateVariables },
  group: { read: templateCalls.readGroup, save: templateCalls.saveGroup, variables: groupVariables },
} as const

/** Never an invoice id or an email address. */
export const sampleId = 'sample'

/** What the preview renders the template with: sample values, an invoice, or a client. */
export interface Example {
  id: string
  label: string
  to: string
  render: (wording: Wording, payLink?: string | null) => RenderedReminder
  /** What is to be paid, of which total, in which currency, the references of its invoices, and which of them have a PDF. */
  payable: { amount: number; total: number; currency: string; references: string[]; files: Pick<Invoice, '_id' | 'reference'>[] }
}

export interface Sender {
  userName: string
  /** `YYYY-MM-DD` in the account's time zone. */
  today: string
  /** The day of a step, from the due date: each invoice is shown on that day. */
  offset?: number | undefined
}

/** Another language than English: what the server formatted in it. */
export interface Spoken {
  language: string
  dir: 'ltr' | 'rtl'
  sample: NonNullable<Template['sample']>
}

/** The language of the sample's email; its amounts are formatted already. */
export function speechOf({ language, dir, sample }: Spoken): Speech {
  const amount = String(sample.amount ?? sample.totalAmount ?? '')
  const said = { ...english, language, dir, money: () => amount }
  return isLanguage(language) && language !== 'en' ? { ...said, pay: words[language].pay, payLanguage: language } : said
}

function spokenExample(kind: TemplateKind, { language, sample }: Spoken, userName: string, offset?: number): Example {
  const plain = sampleExample(kind, userName, offset)
  const days = offset ?? null
  const own = { businessName: userName, userName }
  const list = [sample.amounts, sample.dates].flat().length > 0 && days !== null ? linesIn(language, sample, days) : sample.invoiceList
  return {
    ...plain,
    render: (wording, payLink = null) =>
      kind === 'one'
        ? renderReminder(wording, {
            ...sampleValues,
            ...(sample as Partial<typeof sampleValues>),
            ...own,
            ...(days === null ? {} : { daysOverdue: String(days) }),
            payLink: payLink ?? '',
          })
        : renderGroupReminder(wording, {
            ...sampleGroupValues,
            ...(sample as Partial<typeof sampleGroupValues>),
            ...own,
            invoiceList: [list ?? []].flat(),
            payLink: payLink ?? '',
          }),
  }
}

/** The list of a step, on its day. */
function linesIn(language: string, { amounts = [], dates = [] }: Spoken['sample'], days: number): string[] {
  const [first = ''] = dates
  return [amounts].flat().map((amount, nth) => {
    const line = { reference: `INV-000${nth + 1}`, amount, due: first, days: days < 1 ? null : days }
    return isLanguage(language) && language !== 'en' ? listedIn(language, line) : `${line.reference} · ${amount} · ${first}`
  })
}

/** `offset`: as in `Sender`; `spoken`: in another language than English. */
export function sampleExample(kind: TemplateKind, userName: string, offset?: number, spoken?: Spoken): Example {
  if (spoken) return spokenExample(kind, spoken, userName, offset)
  const about = { id: sampleId, label: texts.preview.sample, to: `${sampleValues.clientName} <accounts@kaveri.example>` }
  const values = { businessName: userName, userName }
  return kind === 'one'
    ? {
        ...about,
        payable: { amount: 5000, total: 5000, currency: 'INR', references: [sampleValues.invoiceId], files: [] },
        render: (wording, payLink = null) =>
          renderReminder(wording, {
            ...sampleValues,
            ...values,
            ...(offset === undefined ? {} : { daysOverdue: String(offset) }),
            payLink: payLink ?? '',
          }),
      }
    : {
        ...about,
        payable: { amount: 17_250, total: 17_250, currency: 'INR', references: ['INV-0001', 'INV-0002'], files: [] },
        render: (wording, payLink = null) =>
          renderGroupReminder(wording, {
            ...(offset === undefined ? sampleGroupValues : sampleGroup(offset)),
            ...values,
            payLink: payLink ?? '',
          }),
      }
}

/** Two invoices on the day of a step. */
function sampleGroup(offset: number): typeof sampleGroupValues {
  const one = { reference: 'INV-0001', amount: 5000, dueDate: '2025-01-15', daysOverdue: offset }
  const { clientName, userName } = sampleValues
  const invoices = [one, { ...one, reference: 'INV-0002', amount: 12_250 }]
  return groupValues({ clientName, userName, invoices, count: 2, total: 17_250, currency: 'INR' })
}

/** Must render with the functions of the contract that the server sends with: the preview promises the exact email. */
export function ownExamples(kind: TemplateKind, invoices: Invoice[], sender: Sender): Example[] {
  return kind === 'one'
    ? invoices.map((invoice) => invoiceExample(invoice, sender))
    : openByClient(invoices, sender).map((group) => groupExample(group, sender))
}

function invoiceExample(invoice: Invoice, { userName, today, offset }: Sender): Example {
  const { _id: id, reference, clientName, clientEmail, balance, amount, amountPaid, currency, dueDate, hasFile } = invoice
  // No reminder is sent before the day after the due date.
  const daysOverdue = offset ?? Math.max(1, daysBetween(dueDate, today))
  const values = {
    reference,
    clientName,
    amount: balance,
    invoiceAmount: amount,
    paidAmount: amountPaid,
    currency,
    dueDate,
    daysOverdue,
    userName,
  }
  return {
    id,
    label: texts.preview.invoice(reference, clientName, formatMoney(balance, currency)),
    to: `${clientName} <${clientEmail}>`,
    payable: { amount: balance, total: amount, currency, references: [reference], files: hasFile ? [invoice] : [] },
    render: (wording, payLink = null) => renderReminder(wording, reminderValues({ ...values, payLink })),
  }
}

/** The groups that would be sent today, in the order of the email. A single invoice makes no group. */
function openByClient(invoices: Invoice[], { today, offset }: Sender): [Invoice, ...Invoice[]][] {
  const isListed = ({ dueDate }: Invoice) => offset !== undefined || dueDate < today
  const listed = invoices.filter((invoice) => invoice.status !== 'paid' && invoice.pause === null && isListed(invoice))
  const byClient = new Map<string, [Invoice, ...Invoice[]]>()
  for (const invoice of listed.toSorted((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1))) {
    const key = `${invoice.clientEmail.toLowerCase()} ${invoice.currency} ${invoice.language}`
    const group = byClient.get(key)
    if (group) group.push(invoice)
    else byClient.set(key, [invoice])
  }
  return [...byClient.values()].filter((group) => group.length > 1)
}

function sortKey({ dueDate, _id }: Invoice): string {
  return `${dueDate} ${_id}`
}

function groupExample(invoices: [Invoice, ...Invoice[]], { userName, today, offset }: Sender): Example {
  const [{ clientName, clientEmail, currency, language }] = invoices
  const sum = (amounts: Money[]) => sumByCurrency(amounts, currency)[0]?.amount ?? 0
  const values = {
    clientName,
    userName,
    invoices: invoices.map(({ reference, balance, dueDate }) => ({
      reference,
      amount: balance,
      dueDate,
      daysOverdue: offset ?? daysBetween(dueDate, today),
    })),
    count: invoices.length,
    total: sum(invoices.map(({ balance }) => ({ currency, amount: balance }))),
    currency,
  }
  return {
    id: [clientEmail.toLowerCase(), currency, language].filter((part) => part !== null).join(' '),
    label: texts.preview.client(clientName, invoices.length),
    to: `${clientName} <${clientEmail}>`,
    payable: {
      amount: values.total,
      total: sum(invoices.map(({ amount }) => ({ currency, amount }))),
      currency,
      references: invoices.map(({ reference }) => reference),
      files: invoices.filter(({ hasFile }) => hasFile),
    },
    render: (wording, payLink = null) => renderGroupReminder(wording, groupValues({ ...values, payLink })),
  }
}

/** What the server adds to an email about how to pay, from what the preview knows. */
export function payFacts(
  settings: PaymentSettings,
  payLink: string | null,
  { files, ...payable }: Example['payable'],
): Omit<PayBlock, 'qr'> & { inEmails: boolean } {
  const { razorpay, inEmails } = settings
  return {
    ...payable,
    inEmails,
    methods: { ...settings, online: razorpay !== null && !isTestKey(razorpay.keyId) },
    payLink,
    pdfs:
      settings.pdf === 'link' && payLink !== null
        ? files.map(({ _id, reference }) => ({
            reference,
            url: payable.references.length === 1 ? `${payLink}/invoice.pdf` : `${payLink}/${_id}/invoice.pdf`,
          }))
        : [],
  }
}

export interface Selection {
  text: string
  start: number
  end: number
}

/** Replaces the selection with a piece of text; `cursor` is the position after it. */
export function insertAt({ text, start, end }: Selection, piece: string): { text: string; cursor: number } {
  return { text: text.slice(0, start) + piece + text.slice(end), cursor: start + piece.length }
}
