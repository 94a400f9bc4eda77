import MailComposer from 'nodemailer/lib/mail-composer'
import { fromMinor } from '#contract/money.ts'
import { reminderDocument, reminderValues, renderReminder } from '#contract/templates.ts'
import type { Instant } from '#server/platform/clock.ts'
import { daysOverdue } from './schedule.ts'

/** What one reminder is about. */
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

/** Words one reminder and sets it as a mail: what leaves is exactly these bytes. */
export async function composeReminder(mail: {
  id: string
  about: ReminderAbout
  wording: { subject: string; content: string }
  from: { name: string; address: string }
  today: string
  now: Instant
}): Promise<ComposedMail> {
  const { about, from } = mail
  const rendered = renderReminder(
    mail.wording,
    reminderValues({
      reference: about.reference,
      clientName: about.clientName,
      amount: fromMinor(about.amountMinor),
      dueDate: about.dueDate,
      daysOverdue: daysOverdue(about.dueDate, mail.today),
      userName: from.name,
    }),
  )
  const messageId = `<rem.${mail.id}@${domainOf(from.address)}>`
  const thread = about.firstMessageId ? { inReplyTo: about.firstMessageId, references: about.firstMessageId } : {}
  const composer = new MailComposer({
    from: { name: from.name, address: from.address },
    to: { name: about.clientName, address: about.clientEmail },
    subject: rendered.subject,
    text: rendered.text,
    html: reminderDocument(rendered.html),
    messageId,
    date: new Date(mail.now.epochMilliseconds),
    ...thread,
    headers: {
      'X-Reminder-Id': mail.id,
      // RFC 3834: no out-of-office answers to this.
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
