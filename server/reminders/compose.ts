import { setImmediate } from 'node:timers/promises'
import MailComposer from 'nodemailer/lib/mail-composer'
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
  amountMinor: number
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
  about: Pick<ReminderAbout, 'reference' | 'clientName' | 'amountMinor' | 'dueDate'>[]
  /** Of all its invoices. */
  owed: { count: number; totalMinor: number }
  wordings: { one: Wording; group: Wording }
  userName: string
  today: string
}

/** Renders an email: the preview and the sent email are made here. Throws EmailTooLarge. */
export function renderMail({ about, owed, wordings, userName, today }: Rendering): RenderedReminder {
  const invoices = about.map(({ reference, amountMinor, dueDate }) => ({
    reference,
    amount: fromMinor(amountMinor),
    dueDate,
    daysOverdue: daysOverdue(dueDate, today),
  }))
  const [invoice = { reference: '', amount: 0, dueDate: today, daysOverdue: 0 }] = invoices
  const names = { clientName: about[0]?.clientName ?? '', userName }
  // An email that was written for several invoices may have one of them left.
  return owed.count === 1 && !isForGroup(wordings.one)
    ? renderReminder(wordings.one, reminderValues({ ...names, ...invoice }))
    : renderGroupReminder(wordings.group, groupValues({ ...names, invoices, count: owed.count, total: fromMinor(owed.totalMinor) }))
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
  const composer = new MailComposer({
    from: { name: from.name, address: from.address },
    to: { name: first.clientName, address: first.clientEmail },
    subject: rendered.subject,
    text: rendered.text,
    html: reminderDocument(rendered.html),
    messageId,
    date: new Date(mail.now.epochMilliseconds),
    ...(inReplyTo === undefined ? {} : { inReplyTo, references }),
    headers: {
      'X-Reminder-Id': mail.id,
      // RFC 3834: prevents out-of-office replies.
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'OOF, AutoReply',
    },
    disableFileAccess: true,
    disableUrlAccess: true,
    newline: '\r\n',
  })
  return { raw: await composer.compile().build(), subject: rendered.subject, messageId }
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase()
}

function isForGroup({ subject, content }: Wording): boolean {
  return unknownVariables(`${subject} ${content}`).some((name) => !unknownVariables(`{{${name}}}`, groupVariables).length)
}
