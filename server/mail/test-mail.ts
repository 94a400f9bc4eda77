import MailComposer from 'nodemailer/lib/mail-composer'
import { withoutMarks } from '#contract/text.ts'
import type { Instant } from '#server/platform/clock.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import type { Mailer, Outcome } from './mailer.ts'
import { domainOf, type Sender } from './sender.ts'
import { MailError, replyCode } from './smtp-errors.ts'
import { describeError, providerNames, testEmail } from './texts.ts'

const usualPatienceMs = 20_000

/** `name`: of the sender. */
interface TestMail {
  id: string
  name: string
  to: { name: string; address: string }
  at: Instant
}

/**
 * Sends a test email from an account's mailbox to the person who asks, on the same path as a reminder but without a record. Answers the mail server's reply.
 * Refuses every failure with `mail_refused`, in the server's words.
 */
export async function sendTestMail(mailer: Mailer, sender: Sender, mail: TestMail, patienceMs = usualPatienceMs): Promise<string> {
  const { address } = sender
  const email = { ...mail, id: `test.${mail.id}`, subject: testEmail.subject, text: testEmail.text(address) }
  const raw = await composeText({ name: mail.name, address }, email)
  return sendToOwner(mailer, sender, { raw, to: mail.to.address }, patienceMs)
}

/** The same for an email that another slice has composed. */
export async function sendToOwner(
  mailer: Mailer,
  sender: Sender,
  { raw, to }: { raw: Buffer; to: string },
  patienceMs = usualPatienceMs,
): Promise<string> {
  let taken = false
  let late = false
  const sending = mailer.send(sender, async () => {
    // Must not send after the timeout was reported.
    if (late) return null
    taken = true
    return { raw, from: sender.address, to }
  })
  let timer: NodeJS.Timeout | undefined
  const outcome = await Promise.race([
    sending,
    new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), patienceMs)
    }),
  ]).finally(() => clearTimeout(timer))
  if (outcome === 'late') late = true
  if (outcome !== 'late' && outcome?.kind === 'accepted') return outcome.reply
  throw new ProblemError('mail_refused', explain(outcome, sender, taken))
}

function explain(outcome: Exclude<Outcome, { kind: 'accepted' }> | 'late' | null, sender: Sender, taken: boolean): string {
  const server = sender.host ?? providerNames[sender.provider]
  if (outcome === 'late' || outcome === null) return taken ? testEmail.unconfirmed(server) : testEmail.failed(testEmail.slow(server))
  if (outcome.kind === 'temporary' && outcome.unknown) return testEmail.unconfirmed(server)
  // A reply without a code is one of our own sentences.
  if (replyCode(outcome.reply) === 0) return testEmail.failed(outcome.reply)
  const error = new MailError(outcome.kind === 'login_refused' ? 'login' : 'reply', outcome.reply)
  return testEmail.failed(describeError(error, { host: server, port: sender.port ?? 0 }).sentence)
}

/** An email of text alone from the mailbox of an account; `id`: how its Message-ID begins. */
export function composeText(
  from: { name: string; address: string },
  mail: { to: { name: string; address: string }; subject: string; text: string; id: string; at: Instant },
): Promise<Buffer> {
  const { to, subject, text } = mail
  const composer = new MailComposer({
    from: { ...from, name: withoutMarks(from.name) },
    to: { ...to, name: withoutMarks(to.name) },
    subject: withoutMarks(subject),
    text: withoutMarks(text),
    messageId: `<${mail.id}@${domainOf(from.address)}>`,
    date: new Date(mail.at.epochMilliseconds),
    // RFC 3834: suppresses automatic replies.
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'OOF, AutoReply' },
    disableFileAccess: true,
    disableUrlAccess: true,
    newline: '\r\n',
  })
  return composer.compile().build()
}
