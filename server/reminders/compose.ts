import { setImmediate } from 'node:timers/promises'
import MimeNode from 'nodemailer/lib/mime-node'
import { fromMinor } from '#contract/money.ts'
import {
  groupValues,
  groupVariables,
  type RenderedReminder,
  reminderDocument,
  reminderValues,
  renderGroupReminder,
  renderReminder,
  unknownVariables,
  type Wording,
} from '#contract/templates.ts'
import type { Instant } from '#server/platform/clock.ts'
import { daysOverdue } from './schedule.ts'

/** One invoice of an email. */
export interface ReminderAbout {
  reference: string
  clientName: string
  clientEmail: string
  /** What is left to pay, and what the invoice is over. */
  balanceMinor: number
  amountMinor: number
  currency: string
  dueDate: string
  /** Message-IDs of the first and of the last accepted reminder of this invoice, where there was one. */
  firstMessageId: string | null
  lastMessageId: string | null
}

export interface ComposedMail {
  /** The whole message (RFC 5322, CRLF), never changed afterwards. */
  raw: Buffer
  subject: string
  messageId: string
}

/** What the wording of an email says, for one invoice or all that one client owes. */
interface Rendering {
  /** The first of its invoices, by due date: all of them, or as many as an email lists. */
  about: Pick<ReminderAbout, 'reference' | 'clientName' | 'balanceMinor' | 'amountMinor' | 'currency' | 'dueDate'>[]
  /** Of all its invoices, which have one currency. */
  owed: { count: number; totalMinor: number }
  wordings: { one: Wording; group: Wording }
  userName: string
  today: string
}

/** Renders an email: the preview and the sent email are made here. Throws EmailTooLarge. */
export function renderMail({ about, owed, wordings, userName, today }: Rendering): RenderedReminder {
  const { currency = 'INR' } = about[0] ?? {}
  const invoices = about.map(({ reference, balanceMinor, amountMinor, dueDate }) => ({
    reference,
    amount: fromMinor(balanceMinor, currency),
    invoiceAmount: fromMinor(amountMinor, currency),
    paidAmount: fromMinor(amountMinor - balanceMinor, currency),
    dueDate,
    daysOverdue: daysOverdue(dueDate, today),
  }))
  const [invoice = { reference: '', amount: 0, invoiceAmount: 0, paidAmount: 0, dueDate: today, daysOverdue: 0 }] = invoices
  const names = { clientName: about[0]?.clientName ?? '', userName, currency }
  // An email that was written for several invoices may have one of them left.
  return owed.count === 1 && !isForGroup(wordings.one)
    ? renderReminder(wordings.one, reminderValues({ ...names, ...invoice }))
    : renderGroupReminder(
        wordings.group,
        groupValues({ ...names, invoices, count: owed.count, total: fromMinor(owed.totalMinor, currency) }),
      )
}

/** Composes one reminder, about one invoice or all that one client owes. Exactly these bytes are sent. */
export async function composeReminder(mail: {
  id: string
  /** The first of its invoices, by due date: all of them, or as many as an email lists. */
  about: [ReminderAbout, ...ReminderAbout[]]
  /** Of all its invoices. */
  owed: { count: number; totalMinor: number }
  wordings: { one: Wording; group: Wording }
  from: { name: string; address: string }
  today: string
  now: Instant
}): Promise<ComposedMail> {
  // Many emails are composed in a row: calls to this process must not wait for all of them.
  await setImmediate()
  const { about, from } = mail
  const [first] = about
  const rendered = renderMail({ ...mail, userName: from.name })
  const before = about.find((one) => one.firstMessageId)
  const messageId = `<rem.${mail.id}@${domainOf(from.address)}>`
  const references = [...new Set([before?.firstMessageId, before?.lastMessageId])].filter((id) => typeof id === 'string')
  const inReplyTo = references.at(-1)
  const node = new MimeNode('multipart/alternative')
  node.setHeader({
    From: { name: from.name, address: from.address },
    To: { name: first.clientName, address: first.clientEmail },
    Subject: rendered.subject,
    'Message-ID': messageId,
    Date: new Date(mail.now.epochMilliseconds),
    ...(inReplyTo === undefined ? {} : { 'In-Reply-To': inReplyTo, References: references.join(' ') }),
    'X-Reminder-Id': mail.id,
    // RFC 3834: prevents out-of-office replies.
    'Auto-Submitted': 'auto-generated',
    'X-Auto-Response-Suppress': 'OOF, AutoReply',
  })
  return { raw: withParts(node, rendered.text, reminderDocument(rendered.html)), subject: rendered.subject, messageId }
}

/** Both forms of a text behind the headers. Not nodemailer's composer: its streams cost more than the rest of an email. */
function withParts(node: MimeNode, text: string, html: string): Buffer {
  // Chooses the boundary, which contains characters that base64 has not.
  const headers = node.buildHeaders()
  const boundary = `--${node.boundary}`
  const part = (type: string, content: string) => {
    // Text has CRLF before it is encoded (RFC 2046, 4.1.1).
    const base64 = Buffer.from(content.replace(/\r?\n/g, '\r\n')).toString('base64')
    const lines = base64.match(/.{1,76}/g)?.join('\r\n') ?? ''
    return `${boundary}\r\nContent-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n${lines}\r\n`
  }
  return Buffer.from(`${headers}\r\n\r\n${part('text/plain', text)}${part('text/html', html)}${boundary}--\r\n`)
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase()
}

function isForGroup({ subject, content }: Wording): boolean {
  return unknownVariables(`${subject} ${content}`).some((name) => !unknownVariables(`{{${name}}}`, groupVariables).length)
}
