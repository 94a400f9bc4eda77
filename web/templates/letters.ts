import type { Invoice } from '#contract/invoices.ts'
import { formatRupees, fromMinor, toMinor } from '#contract/money.ts'
import {
  groupValues,
  groupVariables,
  type RenderedReminder,
  reminderValues,
  renderGroupReminder,
  renderReminder,
  sampleGroupValues,
  sampleValues,
  templateCalls,
  templateVariables,
  type Wording,
} from '#contract/templates.ts'
import { daysBetween } from '#web/ui/dates.ts'
import { texts } from './texts.ts'

/** The mail about one invoice, or the one that lists several of one client. */
export type LetterKind = 'one' | 'group'

/** Where each kind's wording is kept, and what may stand in it. */
export const letters = {
  one: { read: templateCalls.read, save: templateCalls.save, variables: templateVariables },
  group: { read: templateCalls.readGroup, save: templateCalls.saveGroup, variables: groupVariables },
} as const

/** The sample's id; no invoice and no address is called that. */
export const sampleId = 'sample'

/** Something that a mail can be about: the sample, or what is really owed. */
export interface Example {
  id: string
  label: string
  to: string
  render: (wording: Wording) => RenderedReminder
}

/** Who writes, and what day it is there: `YYYY-MM-DD`. */
export interface Writer {
  userName: string
  today: string
}

/** The sample values, signed with the person's own name. */
export function sampleExample(kind: LetterKind, userName: string): Example {
  const about = { id: sampleId, label: texts.preview.sample, to: `${sampleValues.clientName} <accounts@kaveri.example>` }
  return kind === 'one'
    ? { ...about, render: (wording) => renderReminder(wording, { ...sampleValues, userName }) }
    : { ...about, render: (wording) => renderGroupReminder(wording, { ...sampleGroupValues, userName }) }
}

/** Everything of one's own that a mail of this kind can be about, made with the very functions that the server sends with. */
export function ownExamples(kind: LetterKind, invoices: Invoice[], writer: Writer): Example[] {
  return kind === 'one'
    ? invoices.map((invoice) => aboutOne(invoice, writer))
    : lateClients(invoices, writer.today).map(aboutClient(writer))
}

function aboutOne(invoice: Invoice, { userName, today }: Writer): Example {
  const { _id: id, reference, clientName, clientEmail, amount, dueDate } = invoice
  // Nothing is sent before the day after the due date.
  const daysOverdue = Math.max(1, daysBetween(dueDate, today))
  const values = reminderValues({ reference, clientName, amount, dueDate, daysOverdue, userName })
  return {
    id,
    label: texts.preview.invoice(reference, clientName, formatRupees(amount)),
    to: `${clientName} <${clientEmail}>`,
    render: (wording) => renderReminder(wording, values),
  }
}

/** Per client's address what goes into one mail today, in the mail's order; only where that is more than one invoice. */
function lateClients(invoices: Invoice[], today: string): [Invoice, ...Invoice[]][] {
  const late = invoices.filter(({ status, dueDate, pause }) => status !== 'paid' && dueDate < today && pause === null)
  const byClient = new Map<string, [Invoice, ...Invoice[]]>()
  for (const invoice of late.toSorted((one, other) => (inOrder(one) < inOrder(other) ? -1 : 1))) {
    const key = invoice.clientEmail.toLowerCase()
    const group = byClient.get(key)
    if (group) group.push(invoice)
    else byClient.set(key, [invoice])
  }
  return [...byClient.values()].filter((group) => group.length > 1)
}

function inOrder({ dueDate, _id }: Invoice): string {
  return `${dueDate} ${_id}`
}

function aboutClient({ userName, today }: Writer): (invoices: [Invoice, ...Invoice[]]) => Example {
  return (invoices) => {
    const [{ clientName, clientEmail }] = invoices
    const values = groupValues({
      clientName,
      userName,
      invoices: invoices.map(({ reference, amount, dueDate }) => ({
        reference,
        amount,
        dueDate,
        daysOverdue: daysBetween(dueDate, today),
      })),
      total: fromMinor(invoices.reduce((sum, { amount }) => sum + (toMinor(amount) ?? 0), 0)),
    })
    return {
      id: clientEmail.toLowerCase(),
      label: texts.preview.client(clientName, invoices.length),
      to: `${clientName} <${clientEmail}>`,
      render: (wording) => renderGroupReminder(wording, values),
    }
  }
}
