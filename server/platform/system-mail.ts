import { and, asc, eq, lte, notExists, sql } from 'drizzle-orm'
import { createTransport, type Transporter } from 'nodemailer'
import { z } from 'zod'
import { screens } from '#contract/screens.ts'
import { withoutMarks } from '#contract/text.ts'
import type { Config } from '#server/config.ts'
import type { Instant } from './clock.ts'
import { newId } from './columns.ts'
import type { Database } from './database.ts'
import type { Deps } from './deps.ts'
import { job } from './job.ts'
import type { SealedColumn } from './reseal.ts'
import { seal, unseal } from './secrets.ts'
import { layOut, type SystemMailContent } from './system-mail-layout.ts'
import { countMail, findHeld, forgetHeld, type HeldMails, hashAddress, limitOf } from './system-mail-limits.ts'
import { jobs, systemMails } from './tables.ts'
import { digest } from './texts.ts'

/** Whom a system email is for: a row of accounts, or another address with the id of the account that asked. */
export interface Recipient {
  /** null: no account has this address. The same work is done for it, and nothing is sent. */
  id: string | null
  email: string
  /** When this address was shown to be the recipient's own; null: never. */
  emailVerifiedAt: Instant | null
}

/** A transactional email of Duely itself. */
export interface SystemMail extends SystemMailContent {
  /** Counted together. Stored, so never rename it. */
  kind: string
  to: Recipient
  /** Where a reply goes; nowhere without it. */
  replyTo?: string | undefined
  /** It is dropped when it could not be sent within this time. */
  expiresIn: Temporal.DurationLike
  /**
   * An email that opens an account or confirms an address: the only kind that an unconfirmed address gets, sent before all others.
   * `hash`: of the token, where it has one; its validity begins when the mail server accepts the email.
   */
  link?: { hash: string | null }
}

const payload = z.object({ mailId: z.uuid() })
const key = ({ mailId }: { mailId: string }) => mailId

export const systemLinkJob = job({ name: 'system-mail', payload, key })
export const systemNoticeJob = job({ name: 'system-notice', payload, key })

const purpose = 'system-mail'
/** Seconds between attempts; the last one repeats until the email expires. */
const pauses = [15, 30, 60, 120, 300, 900]
const deadlines = { connectionTimeout: 10_000, greetingTimeout: 20_000, socketTimeout: 60_000 }
/** For one email, with its wait for a connection, in ms. */
const patience = 120_000
/** Two connections; one is closed when it was idle for this long, in ms. */
const pool = { pool: true, maxConnections: 2, maxRequeues: 1, idleTimeout: 2_000 } as const
const digestAfter = { hours: 24 }
const digestLife = { hours: 24 }
/** How many waiting emails are enqueued again at a time. */
const sweptAtOnce = 500

/** Whether this server has a mailbox of its own. */
export function sendsSystemMail(config: Config): config is Config & { systemSmtpUrl: string; systemMailFrom: string } {
  return config.systemSmtpUrl !== null && config.systemMailFrom !== null
}

/**
 * Must run in the transaction of the event it is about. Does nothing where the server sends no email. An unconfirmed address gets at most 3
 * links an hour and nothing else; a confirmed one at most 20 emails of a kind a day, and a digest of the rest. Answers null, or when the
 * next such email may be sent to this address, because this one will not be.
 */
export async function queueSystemMail(tx: Database, { queue, config }: Deps, mail: SystemMail, now: Instant): Promise<Instant | null> {
  const { to, link, kind, subject } = mail
  if (!sendsSystemMail(config) || (to.emailVerifiedAt === null && !link)) return null
  const addressHash = hashAddress(config, to.email)
  const confirmed = to.emailVerifiedAt !== null
  const limit = limitOf(kind, to.id === null ? 'accountless' : confirmed ? 'confirmed' : 'unconfirmed')
  const nextAt = await countMail(tx, { addressHash, limit, subject, held: confirmed }, now)
  if (nextAt && confirmed) await queueDigest(tx, config, { to, addressHash }, now)
  if (nextAt && !link) return nextAt
  const unsubscribe = mail.unsubscribe && config.publicUrl + mail.unsubscribe.path
  // Without a recipient it is dropped by the job: the request takes as long as one that sends an email.
  const written = {
    to: nextAt || to.id === null ? null : to.email,
    replyTo: mail.replyTo,
    subject,
    unsubscribe,
    ...layOut(config.publicUrl, mail),
  }
  const { id, sealedMail } = sealed(config, written)
  const [row] = await tx
    .insert(systemMails)
    .values({
      id,
      sealedMail,
      nextTryAt: now,
      expiresAt: now.add(mail.expiresIn),
      accountId: to.id,
      isLink: link !== undefined,
      linkHash: link?.hash ?? null,
      // Accounts take turns: the tenth email of one is after the first of another.
      place: sql`(SELECT count(*)::int FROM system_mails m WHERE m.account_id = ${to.id}::uuid AND m.is_link = ${link !== undefined}::boolean
        AND m.next_try_at <= ${now.toString()}::timestamptz)`,
    })
    .returning({ place: systemMails.place })
  await queue.send(tx, link ? systemLinkJob : systemNoticeJob, { mailId: id }, row?.place)
  return nextAt
}

/** One digest waits for an address at a time. */
async function queueDigest(tx: Database, config: Config, about: { to: Recipient; addressHash: string }, now: Instant): Promise<void> {
  const at = now.add(digestAfter)
  await tx
    .insert(systemMails)
    .values({
      ...sealed(config, { to: about.to.email, subject: digest.subject, text: '' }),
      nextTryAt: at,
      expiresAt: at.add(digestLife),
      accountId: about.to.id,
      digestFor: about.addressHash,
    })
    .onConflictDoNothing()
}

/** Before an account is deleted: what still waits for its owner is not sent. */
export async function dropSystemMails(tx: Database, accountId: string): Promise<void> {
  const dropped = await tx.delete(systemMails).where(eq(systemMails.accountId, accountId)).returning({ digestFor: systemMails.digestFor })
  for (const { digestFor } of dropped) if (digestFor !== null) await forgetHeld(tx, digestFor, await findHeld(tx, digestFor))
}

/** Rows of version 0.1.0 have no HTML. */
const storedMail = z.object({
  to: z.string().nullable(),
  replyTo: z.string().optional(),
  subject: z.string(),
  text: z.string(),
  html: z.string().optional(),
  /** Where one POST ends emails of this kind. */
  unsubscribe: z.string().optional(),
})
type StoredMail = z.output<typeof storedMail>

/** Called with the hash of a link's token when its email was accepted, or with null once it cannot be sent any more. */
export type OnLinkSettled = (db: Database, hash: string, acceptedAt: Instant | null) => Promise<void>

/** Sends one queued email. */
export type SendSystemMail = (mailId: string) => Promise<void>

/**
 * Sends queued emails over two connections. A crash between the mail server's "accepted" and the record sends an email once more, under the
 * same Message-ID. A permanently refused email is dropped and logged, without its recipient.
 */
export function openSystemMailer({ db, clock, config, log }: Deps, onLinkSettled: OnLinkSettled): SendSystemMail {
  if (!sendsSystemMail(config)) return () => Promise.resolve()
  const { systemSmtpUrl: url, systemMailFrom: from } = config
  let transport: Transporter | null = null

  const transmit = async (mailId: string, { unsubscribe, subject, text, html, ...mail }: StoredMail & { to: string }): Promise<void> => {
    transport ??= createTransport({ url, requireTLS: needsTls(url), ...pool, ...deadlines })
    await transport.sendMail({
      from,
      ...mail,
      // Names are of others, and can be older than the rule that they have no such marks.
      subject: withoutMarks(subject),
      text: withoutMarks(text),
      ...(html === undefined ? {} : { html: withoutMarks(html) }),
      date: new Date(clock.now().epochMilliseconds),
      messageId: `<${mailId}@${new URL(config.publicUrl).hostname}>`,
      headers: {
        // RFC 3834: suppresses automatic replies.
        'Auto-Submitted': 'auto-generated',
        // RFC 8058.
        ...(unsubscribe ? { 'List-Unsubscribe': `<${unsubscribe}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } : {}),
      },
      disableFileAccess: true,
      disableUrlAccess: true,
      signal: AbortSignal.timeout(patience),
    })
  }

  return async (mailId) => {
    const [row] = await db.select().from(systemMails).where(eq(systemMails.id, mailId))
    const now = clock.now()
    if (!row || Temporal.Instant.compare(row.nextTryAt, now) > 0) return
    const { linkHash, digestFor } = row
    const held = digestFor === null ? null : await findHeld(db, digestFor)
    const settle = async (acceptedAt: Instant | null) => {
      if (linkHash !== null) await onLinkSettled(db, linkHash, acceptedAt)
      if (digestFor !== null && held) await forgetHeld(db, digestFor, held)
      await db.delete(systemMails).where(eq(systemMails.id, mailId))
    }
    const putOff = async () => {
      const pause = pauses[Math.min(row.attempt, pauses.length - 1)] ?? 900
      await db
        .update(systemMails)
        .set({ attempt: row.attempt + 1, nextTryAt: now.add({ seconds: pause }) })
        .where(eq(systemMails.id, mailId))
    }
    const mail = opened(config, row)
    if (mail?.to === null || held?.length === 0) return settle(null)
    if (Temporal.Instant.compare(row.expiresAt, now) <= 0) {
      log.warn({ mailId, attempts: row.attempt }, 'A system email expired before it could be sent.')
      return settle(null)
    }
    if (!mail) {
      log.error({ mailId, attempt: row.attempt + 1 }, 'A system email does not open with SECRET_KEY; it is tried again until it expires.')
      return putOff()
    }
    const { to, ...written } = mail
    try {
      await transmit(mailId, { to, ...written, ...(held ? layOut(config.publicUrl, digestOf(held)) : {}) })
    } catch (error) {
      const { code, responseCode, command } = error as { code?: string; responseCode?: number; command?: string }
      // The operator can fix anything else, such as a refused login, so the email is retried.
      const ofEmail = code === 'EENVELOPE' || code === 'EMESSAGE'
      const final = ofEmail && responseCode !== undefined && responseCode >= 500
      log.warn({ mailId, code, responseCode, command, attempt: row.attempt + 1 }, 'A system email was not sent.')
      return final ? settle(null) : putOff()
    }
    await settle(clock.now())
  }
}

function digestOf(held: HeldMails[]): SystemMailContent {
  const { subject, intro, line, button } = digest
  const lines = held.map((one) => line(one.subject, one.held)).join('\n')
  return { subject, before: [intro, lines], button: { label: button, path: screens.profile } }
}

/** Enqueues emails whose next attempt or day has come. */
export async function enqueueDueSystemMails({ db, queue, clock, config }: Deps): Promise<void> {
  if (!sendsSystemMail(config)) return
  const enqueued = db
    .select({ one: sql`1` })
    .from(jobs)
    .where(
      sql`${jobs.name} IN (${systemLinkJob.name}, ${systemNoticeJob.name}) AND ${jobs.key} = ${systemMails.id}::text AND ${jobs.turn} > 0`,
    )
  const due = await db
    .select({ mailId: systemMails.id, isLink: systemMails.isLink, place: systemMails.place })
    .from(systemMails)
    .where(and(lte(systemMails.nextTryAt, clock.now()), notExists(enqueued)))
    .orderBy(asc(systemMails.place), asc(systemMails.nextTryAt))
    .limit(sweptAtOnce)
  for (const { mailId, isLink, place } of due)
    await db.transaction((tx) => queue.send(tx, isLink ? systemLinkJob : systemNoticeJob, { mailId }, place))
}

function sealed(config: Config, mail: StoredMail): { id: string; sealedMail: string } {
  const id = newId()
  return { id, sealedMail: seal(config.secretKey, purpose, placeOf(id), JSON.stringify(mail)) }
}

/** Null where it does not open: the operator can add the previous line of SECRET_KEY again. The error may quote the email, so it is not logged. */
function opened(config: Config, { id, sealedMail }: { id: string; sealedMail: string }): StoredMail | null {
  try {
    return storedMail.parse(JSON.parse(unseal(config.secretKey, purpose, placeOf(id), sealedMail)))
  } catch {
    return null
  }
}

/** Signs in to the server's own mailbox without sending anything. Answers null, or what the mail server or the network said. */
export async function findMailTrouble(config: Config): Promise<string | null> {
  if (!sendsSystemMail(config)) return null
  const { systemSmtpUrl: url } = config
  const transport = createTransport({
    url,
    requireTLS: needsTls(url),
    connectionTimeout: 5_000,
    greetingTimeout: 5_000,
    socketTimeout: 5_000,
  })
  try {
    await transport.verify()
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    transport.close()
  }
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
