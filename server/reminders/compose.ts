import { setImmediate } from 'node:timers/promises'
import MimeNode from 'nodemailer/lib/mime-node'
import { fromMinor } from '#contract/money.ts'
import { payBlock, upiCode } from '#contract/pay.ts'
import {
  groupValues,
  groupVariables,
  hasPayLink,
  type RenderedReminder,
  reminderDocument,
  reminderValues,
  renderGroupReminder,
  renderReminder,
  unknownVariables,
  type Wording,
} from '#contract/templates.ts'
import type { EmailPayment } from '#server/pay/pay.ts'
import { qrPng } from '#server/pay/qr.ts'
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
  /** How the client can pay; null where the account has set nothing. */
  pay: MailPayment | null
  /** Where the email has the picture of a UPI code, by its text. */
  picture: (code: string) => string
}

/** How the client of an email can pay. `payLink`: null where clients cannot reach this server. */
export interface MailPayment extends EmailPayment {
  payLink: string | null
}

/** A rendered email, and the text of the UPI code that it shows; null where it shows none. */
interface RenderedMail extends RenderedReminder {
  code: string | null
}

/** Renders an email: the preview and the sent email are made here. Throws EmailTooLarge. */
export function renderMail({ about, owed, wordings, userName, today, pay, picture }: Rendering): RenderedMail {
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
  const names = { clientName: about[0]?.clientName ?? '', userName, currency, payLink: pay?.payLink ?? null }
  // An email that was written for several invoices may have one of them left.
  const isOne = owed.count === 1 && !isForGroup(wordings.one)
  const wording = isOne ? wordings.one : wordings.group
  const rendered = isOne
    ? renderReminder(wording, reminderValues({ ...names, ...invoice }))
    : renderGroupReminder(wording, groupValues({ ...names, invoices, count: owed.count, total: fromMinor(owed.totalMinor, currency) }))
  if (!pay?.inEmails || hasPayLink(wording)) return { ...rendered, code: null }
  // Where not all invoices are read, nothing is said of what was paid.
  const totalMinor = about.length === owed.count ? about.reduce((sum, { amountMinor }) => sum + amountMinor, 0) : owed.totalMinor
  const facts = {
    methods: pay.methods,
    currency,
    amount: fromMinor(owed.totalMinor, currency),
    total: fromMinor(totalMinor, currency),
    payLink: pay.payLink,
  }
  const references = about.map(({ reference }) => reference)
  const code = upiCode({ ...facts, references })
  const block = payBlock({ ...facts, references, qr: code === null ? null : picture(code) })
  if (!block) return { ...rendered, code: null }
  return { ...rendered, html: `${rendered.html}${block.html}`, text: `${rendered.text}\n\n${block.text}`, code }
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
  pay: MailPayment | null
}): Promise<ComposedMail> {
  // Many emails are composed in a row: calls to this process must not wait for all of them.
  await setImmediate()
  const { about, from } = mail
  const [first] = about
  const rendered = renderMail({ ...mail, userName: from.name, picture: () => `cid:${pictureId}` })
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
  const parts = {
    text: rendered.text,
    html: reminderDocument(rendered.html),
    picture: rendered.code === null ? null : qrPng(rendered.code),
  }
  return { raw: withParts(node, parts), subject: rendered.subject, messageId }
}

/** The Content-ID of the one picture of an email. */
const pictureId = 'upi-qr@duely'

/**
 * Both forms of a text behind the headers, the HTML together with its picture (RFC 2387). Not nodemailer's composer: its streams cost more than
 * the rest of an email.
 */
function withParts(node: MimeNode, { text, html, picture }: { text: string; html: string; picture: Buffer | null }): Buffer {
  // Chooses the boundary, which contains characters that base64 has not.
  const headers = node.buildHeaders()
  const part = (boundary: string, type: string, content: string, more = '') =>
    `--${boundary}\r\nContent-Type: ${type}\r\n${more}Content-Transfer-Encoding: base64\r\n\r\n${content.match(/.{1,76}/g)?.join('\r\n') ?? ''}\r\n`
  // Text has CRLF before it is encoded (RFC 2046, 4.1.1).
  const encoded = (content: string) => Buffer.from(content.replace(/\r?\n/g, '\r\n')).toString('base64')
  const boundary = String(node.boundary)
  const plain = part(boundary, 'text/plain; charset=utf-8', encoded(text))
  if (picture === null)
    return Buffer.from(`${headers}\r\n\r\n${plain}${part(boundary, 'text/html; charset=utf-8', encoded(html))}--${boundary}--\r\n`)
  // It must not begin as the outer boundary does: some programs compare no further.
  const inner = `related${boundary}`
  const related = [
    `--${boundary}\r\nContent-Type: multipart/related; type="text/html"; boundary="${inner}"\r\n\r\n`,
    part(inner, 'text/html; charset=utf-8', encoded(html)),
    part(
      inner,
      'image/png',
      picture.toString('base64'),
      `Content-ID: <${pictureId}>\r\nContent-Disposition: inline; filename="upi.png"\r\n`,
    ),
    `--${inner}--\r\n`,
  ].join('')
  return Buffer.from(`${headers}\r\n\r\n${plain}${related}--${boundary}--\r\n`)
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase()
}

function isForGroup({ subject, content }: Wording): boolean {
  return unknownVariables(`${subject} ${content}`).some((name) => !unknownVariables(`{{${name}}}`, groupVariables).length)
}
