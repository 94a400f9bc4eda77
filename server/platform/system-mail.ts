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

/** A transactional email of Duely itself. `expiresIn`: it is dropped after that. */
export interface SystemMail {
  /** null: no recipient. It is queued and dropped, so that it takes as long as a real one. */
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
/** Seconds between attempts; the last one repeats until the email expires. */
const pauses = [15, 30, 60, 120, 300, 900]
const deadlines = { connectionTimeout: 10_000, greetingTimeout: 20_000, socketTimeout: 60_000 }

/** Whether this server has a mailbox of its own. */
export function sendsSystemMail(config: Config): config is Config & { systemSmtpUrl: string; systemMailFrom: string } {
  return config.systemSmtpUrl !== null && config.systemMailFrom !== null
}

/** Must run in the transaction of the event it is about. Does nothing where the server sends no email. */
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
 * Sends one queued email. A crash between the mail server's "accepted" and the record sends it once more, under the same
 * Message-ID. A permanently refused email is dropped and logged, without its recipient.
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
      // RFC 3834: suppresses automatic replies.
      headers: { 'Auto-Submitted': 'auto-generated' },
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    await forget()
  } catch (error) {
    const { code, responseCode, command } = error as { code?: string; responseCode?: number; command?: string }
    // The operator can fix a refused login, so the email is retried.
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

export const sealedSystemMails: SealedColumn = { table: 'system_mails', column: 'sealed_mail', key: 'id', purpose, place: placeOf }
