import { eq, lte } from 'drizzle-orm'
import { createTransport } from 'nodemailer'
import { z } from 'zod'
import type { Config } from '#server/config.ts'
import type { Instant } from './clock.ts'
import { newId } from './columns.ts'
import type { Database } from './database.ts'
import type { Deps } from './deps.ts'
import { job } from './job.ts'
import type { SealedColumn } from './reseal.ts'
import { seal, unseal } from './secrets.ts'
import { systemMails } from './tables.ts'

/** One mail of the product itself. `expiresIn`: after that it is not worth sending any more. */
export interface SystemMail {
  /** null: nobody. It is written down all the same and thrown away, so that it takes as long as a real one. */
  to: string | null
  subject: string
  text: string
  expiresIn: Temporal.DurationLike
}

export const systemMailJob = job({
  name: 'system-mail',
  payload: z.object({ mailId: z.uuid() }),
  key: ({ mailId }) => mailId,
})

const purpose = 'system-mail'
/** Seconds between tries; the last one goes on until the mail is of no use. */
const pauses = [15, 30, 60, 120, 300, 900]
const deadlines = { connectionTimeout: 10_000, greetingTimeout: 20_000, socketTimeout: 60_000 }

/** Whether this server has a mailbox of its own. */
export function sendsSystemMail(config: Config): config is Config & { systemSmtpUrl: string; systemMailFrom: string } {
  return config.systemSmtpUrl !== null && config.systemMailFrom !== null
}

/** Writes a mail down in the transaction that is its reason, and wakes a worker. Where the server has no mailbox nothing happens. */
export async function queueSystemMail(tx: Database, { queue, config }: Deps, mail: SystemMail, now: Instant): Promise<void> {
  if (!sendsSystemMail(config)) return
  const mailId = newId()
  const { expiresIn, ...written } = mail
  await tx.insert(systemMails).values({
    id: mailId,
    sealedMail: seal(config.secretKey, purpose, placeOf(mailId), JSON.stringify(written)),
    nextTryAt: now,
    expiresAt: now.add(expiresIn),
  })
  await queue.send(tx, systemMailJob, { mailId })
}

const letter = z.object({ to: z.string().nullable(), subject: z.string(), text: z.string() })

/**
 * Sends one mail that was written down. A crash between the mail server's "accepted" and the record sends it once more, under the same
 * Message-ID. What the server refuses for good is forgotten and logged, without its recipient.
 */
export async function sendSystemMail({ db, clock, config, log }: Deps, mailId: string): Promise<void> {
  if (!sendsSystemMail(config)) return
  const [row] = await db.select().from(systemMails).where(eq(systemMails.id, mailId))
  const now = clock.now()
  if (!row || Temporal.Instant.compare(row.nextTryAt, now) > 0) return
  const forget = () => db.delete(systemMails).where(eq(systemMails.id, mailId))
  const { to, subject, text } = letter.parse(JSON.parse(unseal(config.secretKey, purpose, placeOf(mailId), row.sealedMail)))
  if (to === null || Temporal.Instant.compare(row.expiresAt, now) <= 0) {
    if (to !== null) log.warn({ mailId, attempts: row.attempt }, 'A system email expired before it could be sent.')
    await forget()
    return
  }
  const transport = createTransport({ url: config.systemSmtpUrl, requireTLS: needsTls(config.systemSmtpUrl), ...deadlines })
  try {
    await transport.sendMail({
      from: config.systemMailFrom,
      to,
      subject,
      text,
      date: new Date(now.epochMilliseconds),
      messageId: `<${mailId}@${new URL(config.publicUrl).hostname}>`,
      // RFC 3834: nobody's holiday notice should answer.
      headers: { 'Auto-Submitted': 'auto-generated' },
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    await forget()
  } catch (error) {
    const { code, responseCode, command } = error as { code?: string; responseCode?: number; command?: string }
    // A refused login is the operator's to mend, and the mail goes once it is.
    const final = code !== 'EAUTH' && responseCode !== undefined && responseCode >= 500
    log.warn({ mailId, code, responseCode, command, attempt: row.attempt + 1 }, 'A system email was not sent.')
    if (final) await forget()
    else
      await db
        .update(systemMails)
        .set({ attempt: row.attempt + 1, nextTryAt: now.add({ seconds: pauses[Math.min(row.attempt, pauses.length - 1)] ?? 900 }) })
        .where(eq(systemMails.id, mailId))
  } finally {
    transport.close()
  }
}

/** Wakes a worker for every mail whose time has come. */
export async function enqueueDueSystemMails({ db, queue, clock, config }: Deps): Promise<void> {
  if (!sendsSystemMail(config)) return
  const due = await db.select({ mailId: systemMails.id }).from(systemMails).where(lte(systemMails.nextTryAt, clock.now()))
  for (const { mailId } of due) await db.transaction((tx) => queue.send(tx, systemMailJob, { mailId }))
}

/** A password travels over TLS, except to a mail server on this very machine. */
function needsTls(url: string): boolean {
  const { username, hostname } = new URL(url)
  return username !== '' && !['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

function placeOf(mailId: string): string {
  return `system_mails.${mailId}.sealedMail`
}

/** What is sealed here. */
export const sealedSystemMails: SealedColumn = { table: 'system_mails', column: 'sealed_mail', key: 'id', purpose, place: placeOf }
