import { setImmediate } from 'node:timers/promises'
import MimeNode from 'nodemailer/lib/mime-node'
import { type MailBrand, noBrand, withBrand } from '#contract/brand.ts'
import { english } from '#contract/english.ts'
import { fromMinor } from '#contract/money.ts'
import { type PayBlock, withPayBlock } from '#contract/pay.ts'
import type { Ability } from '#contract/plans.ts'
import type { Speech } from '#contract/speech.ts'
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
import { withoutMarks } from '#contract/text.ts'
import { domainOf } from '#server/mail/mail.ts'
import type { StoredFile } from '#server/pay/files.ts'
import type { EmailPayment, OwnBrand } from '#server/pay/pay.ts'
import { qrPng } from '#server/pay/qr-png.ts'
import type { Instant } from '#server/platform/clock.ts'
import { daysOverdue } from './schedule.ts'

/** One invoice of an email. */
export interface ReminderAbout {
  id: string
  reference: string
  clientName: string
  clientEmail: string
  /** What is left to pay, and what the invoice is over. */
  balanceMinor: number
  amountMinor: number
  currency: string
  dueDate: string
  /** Its PDF, and the size of it in bytes; null without one. */
  fileId: string | null
  fileSize: number | null
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
  about: Pick<
    ReminderAbout,
    'id' | 'reference' | 'clientName' | 'balanceMinor' | 'amountMinor' | 'currency' | 'dueDate' | 'fileId' | 'fileSize'
  >[]
  /** Of all its invoices, which have one currency. */
  owed: { count: number; totalMinor: number }
  wordings: { one: Wording; group: Wording }
  userName: string
  today: string
  /** How the client can pay; null where the account has set nothing. */
  pay: MailPayment | null
  /** Where the email has the picture of a UPI code, by its text. */
  picture: (code: string) => string
  /** Without it in English. */
  speech?: Speech
  /** What its business says about itself; without it nothing. */
  brand?: MailBrand | null
}

/**
 * How the client of an email can pay. `payLink`: null where clients cannot reach this server. `mostAttached`: how many bytes of PDFs its mailbox
 * can send.
 */
export interface MailPayment extends EmailPayment {
  payLink: string | null
  mostAttached: number
}

/** A rendered email, and the text of the UPI code that it shows; null where it shows none. */
interface RenderedMail extends RenderedReminder {
  code: string | null
}

/** Renders an email: the preview and the sent email are made here. Throws EmailTooLarge. */
export function renderMail({ brand = null, ...mail }: Rendering): RenderedMail {
  const rendered = renderText(mail)
  return brand ? withBrand(rendered, brand, mail.speech) : rendered
}

/** Names and references that were stored before their marks of direction were removed. */
const plain = <N extends { clientName: string; reference: string }>(one: N): N => ({
  ...one,
  clientName: withoutMarks(one.clientName),
  reference: withoutMarks(one.reference),
})

function renderText({ owed, wordings, today, pay, picture, speech = english, ...mail }: Omit<Rendering, 'brand'>): RenderedMail {
  const [about, userName] = [mail.about.map(plain), withoutMarks(mail.userName)]
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
  const names = { clientName: about[0]?.clientName ?? '', userName, currency, payLink: pay?.payLink ?? null, speech }
  // An email that was written for several invoices may have one of them left.
  const isOne = owed.count === 1 && !isForGroup(wordings.one)
  const wording = isOne ? wordings.one : wordings.group
  const rendered = isOne
    ? renderReminder(wording, reminderValues({ ...names, ...invoice }))
    : renderGroupReminder(wording, groupValues({ ...names, invoices, count: owed.count, total: fromMinor(owed.totalMinor, currency) }))
  if (!pay) return { ...rendered, code: null }
  // Where not all invoices are read, nothing is said of what was paid.
  const totalMinor = about.length === owed.count ? about.reduce((sum, { amountMinor }) => sum + amountMinor, 0) : owed.totalMinor
  return withPayBlock(rendered, {
    wording,
    inEmails: pay.inEmails,
    methods: pay.methods,
    currency,
    amount: fromMinor(owed.totalMinor, currency),
    total: fromMinor(totalMinor, currency),
    references: about.map(({ reference }) => reference),
    payLink: pay.payLink,
    picture,
    speech,
    pdfs: linkedFiles({ about, owed, pay }),
    mustLink: filesLeftOut({ about, owed, pay }).length > 0,
  })
}

/** The PDFs that an email links to: on the page of its invoice, which is below that of the client where there are several. */
function linkedFiles({ about, owed, pay }: Pick<Rendering, 'about' | 'owed' | 'pay'>): PayBlock['pdfs'] {
  const link = pay?.payLink ?? null
  if (link === null || attachedFiles({ about, owed, pay }).length > 0) return []
  return about.flatMap(({ id, reference, fileId }) =>
    fileId === null ? [] : [{ reference, url: owed.count === 1 ? `${link}/invoice.pdf` : `${link}/${id}/invoice.pdf` }],
  )
}

interface Attaching {
  about: Pick<ReminderAbout, 'fileId' | 'fileSize'>[]
  owed: Rendering['owed']
  pay: Pick<MailPayment, 'pdf' | 'mostAttached'> | null
}

/** The PDFs that an email has attached: none where they are linked, would be too large together, or are of more invoices than it lists. */
export function attachedFiles({ about, owed, pay }: Attaching): string[] {
  if (pay?.pdf !== 'attach' || about.length < owed.count) return []
  const bytes = about.reduce((sum, { fileSize }) => sum + (fileSize ?? 0), 0)
  return bytes > pay.mostAttached ? [] : about.flatMap(({ fileId }) => fileId ?? [])
}

/** The PDFs that an email was to have attached and has not. */
export function filesLeftOut(mail: Attaching): string[] {
  if (mail.pay?.pdf !== 'attach' || attachedFiles(mail).length > 0) return []
  return mail.about.flatMap(({ fileId }) => fileId ?? [])
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
  /** Without it in English. */
  speech?: Speech
  /** What its business says about itself, and its logo; without it nothing. */
  brand?: SentBrand | null
  /** Further recipients. */
  copies?: string[]
}): Promise<ComposedMail> {
  // Many emails are composed in a row: calls to this process must not wait for all of them.
  await setImmediate()
  const { about, from, speech = english } = mail
  const brand = mail.brand ? toMailBrand(mail.brand, `cid:${logoId}`) : null
  const [first] = about
  const rendered = renderMail({ ...mail, brand, userName: from.name, picture: () => `cid:${pictureId}` })
  const before = about.find((one) => one.firstMessageId)
  const messageId = `<rem.${mail.id}@${domainOf(from.address)}>`
  const references = [...new Set([before?.firstMessageId, before?.lastMessageId])].filter((id) => typeof id === 'string')
  const inReplyTo = references.at(-1)
  const sender = { name: withoutMarks(from.name), address: from.address }
  const recipient = { name: withoutMarks(first.clientName), address: first.clientEmail }
  const own = { from: inOneWord('From', sender.name, sender.address), to: inOneWord('To', recipient.name, recipient.address) }
  const node = new MimeNode('multipart/alternative')
  node.setHeader({
    ...(own.from === null ? { From: sender } : {}),
    ...(own.to === null ? { To: recipient } : {}),
    ...(mail.copies?.length ? { Cc: mail.copies } : {}),
    ...(mail.brand?.replyTo ? { 'Reply-To': mail.brand.replyTo } : {}),
    Subject: rendered.subject,
    ...(speech === english ? {} : { 'Content-Language': speech.language }),
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
    html: reminderDocument(rendered.html, speech, rendered.subject),
    picture: rendered.code === null ? null : qrPng(rendered.code),
    addressed: `${own.from ?? ''}${own.to ?? ''}`,
  }
  return { raw: withParts(node, parts), subject: rendered.subject, messageId }
}

/** A header that names one person in a single encoded word, where 75 characters hold it (RFC 2047, 2): nodemailer breaks names after 52. */
function inOneWord(header: string, name: string, address: string): string | null {
  // Filters take base64 for hiding where the letters are mostly ASCII, so it comes second.
  const words = [`=?UTF-8?Q?${quoted(name)}?=`, `=?UTF-8?B?${Buffer.from(name).toString('base64')}?=`]
  const word = words.find(({ length }) => length <= 75)
  return word && /[^\x20-\x7e]/.test(name) && /^[\x21-\x7e]+$/.test(address) ? `${header}: ${word}\r\n <${address}>\r\n` : null
}

/** In the "Q" encoding, as a phrase may have it (RFC 2047, 5.3). */
function quoted(text: string): string {
  const hex = (byte: number) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`
  return Array.from(Buffer.from(text), (byte) => {
    const letter = String.fromCharCode(byte)
    return letter === ' ' ? '_' : /[A-Za-z0-9!*+\-/]/.test(letter) ? letter : hex(byte)
  }).join('')
}

/** What emails of an account say about its business, by its plan of this moment. */
export interface SentBrand extends OwnBrand {
  whiteLabel: boolean
}

/** Null where nothing is said: nothing is set, and the plan has white-label. */
export function sentBrand(own: OwnBrand | undefined, abilities: Ability[]): SentBrand | null {
  const whiteLabel = abilities.includes('whiteLabel')
  return own || !whiteLabel ? { brand: noBrand, picture: null, replyTo: null, ...own, whiteLabel } : null
}

/** The same for one email, whose logo is at this address. */
export function toMailBrand({ brand, picture, whiteLabel }: SentBrand, src: string): MailBrand {
  const logo = picture && whiteLabel ? { src, width: picture.width, height: picture.height } : null
  return { brand, logo, namesDuely: !whiteLabel }
}

/** The Content-ID of the logo of an email. */
const logoId = 'logo@duely'

/**
 * A message as it is sent with the logo of its business (RFC 2387): what it was becomes the first part. Stored messages are without it; the same logo
 * gives the same bytes at every try.
 */
export function withLogo(raw: Buffer, logo: Buffer | null): Buffer {
  if (logo === null) return raw
  const part = `Content-Type: image/png\r\nContent-ID: <${logoId}>\r\nContent-Disposition: inline; filename="logo.png"\r\nContent-Transfer-Encoding: base64`
  return wrapped(raw, { type: 'related; type="multipart/alternative"', begins: 'brand' }, [{ headers: part, file: logo }])
}

/** The Content-ID of the one other picture of an email. */
const pictureId = 'upi-qr@duely'

/**
 * Both forms of a text behind the headers, the HTML together with its picture (RFC 2387). Not nodemailer's composer: its streams cost more than
 * the rest of an email.
 */
function withParts(
  node: MimeNode,
  { text, html, picture, addressed }: { text: string; html: string; picture: Buffer | null; addressed: string },
): Buffer {
  // Chooses the boundary, which contains characters that base64 has not.
  const headers = addressed + node.buildHeaders()
  const part = (boundary: string, type: string, content: string, more = '') =>
    `--${boundary}\r\nContent-Type: ${type}\r\n${more}Content-Transfer-Encoding: base64\r\n\r\n${lines(content)}\r\n`
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

/** In lines of 76 characters. */
function lines(base64: string): string {
  let made = base64.slice(0, 76)
  for (let at = 76; at < base64.length; at += 76) made += `\r\n${base64.slice(at, at + 76)}`
  return made
}

/**
 * A message as it is sent with these PDFs (RFC 2046, 5.1.3): what it was becomes the first part. Stored messages are without them; the same files
 * give the same bytes at every try.
 */
export function withFiles(raw: Buffer, files: StoredFile[]): Buffer {
  if (files.length === 0) return raw
  const parts = files.map(({ name, file }) => ({ headers: fileHeaders(name), file }))
  return wrapped(raw, { type: 'mixed', begins: 'mixed' }, parts)
}

/** A message as the first part of another one; `begins`: how the boundary of that begins. */
function wrapped(raw: Buffer, { type, begins }: { type: string; begins: string }, parts: { headers: string; file: Buffer }[]): Buffer {
  const end = raw.indexOf('\r\n\r\n')
  const headers = raw
    .subarray(0, end)
    .toString()
    .split(/\r\n(?![ \t])/)
  const isType = (header: string) => /^content-type:/i.test(header)
  const [first = ''] = headers.filter(isType)
  const [, inner = ''] = /boundary="?([^";\s]+)/i.exec(first) ?? []
  // It must not begin as the inner boundary does: some programs compare no further.
  const boundary = `${begins}${inner}`
  const head = [...headers.filter((header) => !isType(header)), `Content-Type: multipart/${type};\r\n boundary="${boundary}"`].join('\r\n')
  return Buffer.concat([
    Buffer.from(`${head}\r\n\r\n--${boundary}\r\n${first}`),
    raw.subarray(end),
    ...parts.flatMap(({ headers: its, file }) => [Buffer.from(`--${boundary}\r\n${its}\r\n\r\n`), inLines(file)]),
    Buffer.from(`--${boundary}--\r\n`),
  ])
}

/** A name beyond ASCII is encoded (RFC 2231); programs that cannot read that have a plain one. */
function fileHeaders(name: string): string {
  const isPlain = /^[\x20-\x7e]*$/.test(name)
  return [
    'Content-Type: application/pdf',
    `Content-Disposition: attachment;\r\n filename="${isPlain ? name : 'invoice.pdf'}"${isPlain ? '' : `;\r\n filename*=UTF-8''${encodeURIComponent(name)}`}`,
    'Content-Transfer-Encoding: base64',
  ].join('\r\n')
}

/** In base64, in lines of 76 characters: 57 bytes each. */
function inLines(file: Buffer): Buffer {
  const encoded = Buffer.from(file.toString('base64'), 'latin1')
  const lines = Math.ceil(encoded.length / 76)
  const made = Buffer.allocUnsafe(encoded.length + 2 * lines)
  for (let line = 0; line < lines; line += 1) {
    const to = line * 78
    const copied = encoded.copy(made, to, line * 76, line * 76 + 76)
    made.write('\r\n', to + copied, 'latin1')
  }
  return made
}

function isForGroup({ subject, content }: Wording): boolean {
  return unknownVariables(`${subject} ${content}`).some((name) => !unknownVariables(`{{${name}}}`, groupVariables).length)
}
