import { setImmediate } from 'node:timers/promises'
import MailComposer from 'nodemailer/lib/mail-composer'
import { fromMinor } from '#contract/money.ts'
import { groupValues, reminderDocument, reminderValues, renderGroupReminder, renderReminder, type Wording } from '#contract/templates.ts'
import type { Instant } from '#server/platform/clock.ts'
import { daysOverdue } from './schedule.ts'

/** One invoice of an email. */
export interface ReminderAbout {
  reference: string
  clientName: string
  clientEmail: string
  amountMinor: number
  dueDate: string
  /** Message-ID of the first reminder of this invoice, where there was one. */
  firstMessageId: string | null
}

export interface ComposedMail {
  /** The whole message (RFC 5322, CRLF), never changed afterwards. */
  raw: Buffer
  subject: string
  messageId: string
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
  const { about, owed, from } = mail
  const [first] = about
  const invoices = about.map(({ reference, amountMinor, dueDate }) => ({
    reference,
    amount: fromMinor(amountMinor),
    dueDate,
    daysOverdue: daysOverdue(dueDate, mail.today),
  }))
  const [invoice = { reference: '', amount: 0, dueDate: mail.today, daysOverdue: 0 }] = invoices
  const names = { clientName: first.clientName, userName: from.name }
  const rendered =
    owed.count === 1
      ? renderReminder(mail.wordings.one, reminderValues({ ...names, ...invoice }))
      : renderGroupReminder(mail.wordings.group, groupValues({ ...names, invoices, count: owed.count, total: fromMinor(owed.totalMinor) }))
  const firstMessageId = about.find((one) => one.firstMessageId)?.firstMessageId
  const messageId = `<rem.${mail.id}@${domainOf(from.address)}>`
  const thread = firstMessageId ? { inReplyTo: firstMessageId, references: firstMessageId } : {}
  const composer = new MailComposer({
    from: { name: from.name, address: from.address },
    to: { name: first.clientName, address: first.clientEmail },
    subject: rendered.subject,
    text: rendered.text,
    html: reminderDocument(rendered.html),
    messageId,
    date: new Date(mail.now.epochMilliseconds),
    ...thread,
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
