import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { type Database, isUnavailable } from '#server/platform/database.ts'
import { failPoint } from '#server/platform/fail-point.ts'
import type { Log } from '#server/platform/log.ts'
import { type Provider, ProviderError } from '#server/platform/openid.ts'
import type { Mail, Mailer, Outcome } from './mailer.ts'
import { openRefreshToken, type Sender, sealRefreshToken } from './sender.ts'
import { oneLine } from './smtp-errors.ts'
import { mailConfigs } from './tables.ts'
import { outcomes } from './texts.ts'

/** Sends mail and reads nothing: a sensitive scope, where SMTP would need the restricted one over the whole mailbox. */
export const gmailScope = 'https://www.googleapis.com/auth/gmail.send'

export interface GmailOptions {
  provider: Provider
  apiUrl: string
  secretKey: string
  db: Database
  log: Log
  /** How long Gmail may take over one mail, in ms. */
  sendDeadline?: number
}

/** An access token is renewed this many seconds early, so that it does not expire during a send. */
const marginSeconds = 60
/** The stored grant does not open: wrong secret key, or moved to another row. */
class UnopenableError extends Error {}

/** Google APIs that are off for this server: no owner can fix that. */
const forOperator = new Set(['accessNotConfigured', 'SERVICE_DISABLED'])

interface Access {
  token: string
  /** By the clock of this process, which only goes forward. */
  until: number
}

/** Sends by Gmail's users.messages.send. At most one token renewal runs per mailbox. */
export function openGmailMailer(options: GmailOptions): Mailer {
  const { provider, db, log } = options
  const known = new Map<string, Access>()
  const renewing = new Map<string, Promise<Access>>()
  const underWay = new Set<Promise<unknown>>()
  let closing = false

  const renew = async (sender: Sender): Promise<Access> => {
    const renewed = await provider.refresh(openPermission(options.secretKey, sender))
    const access = { token: renewed.accessToken, until: performance.now() + (renewed.accessSeconds - marginSeconds) * 1000 }
    known.set(sender.senderId, access)
    // Google usually returns none, and the old one stays valid.
    if (renewed.refreshToken !== null) await keepRefreshToken(db, options.secretKey, sender, renewed.refreshToken)
    return access
  }
  const accessOf = (sender: Sender): Promise<Access> => {
    const access = known.get(sender.senderId)
    if (access && access.until > performance.now()) return Promise.resolve(access)
    const running = renewing.get(sender.senderId)
    if (running !== undefined) return running
    const started = currentSender(db, sender)
      .then(renew)
      .finally(() => renewing.delete(sender.senderId))
    renewing.set(sender.senderId, started)
    return started
  }

  const deliver = async (sender: Sender, take: () => Promise<Mail | null>): Promise<Outcome | null> => {
    let access: Access
    try {
      access = await accessOf(sender)
    } catch (error) {
      // The caller waits for the database; no email is claimed yet.
      if (isUnavailable(error)) throw error
      return classifyRenewal(error, log, sender)
    }
    const mail = await take()
    if (!mail) return null
    const answered = await hand(options, access, mail)
    if (answered.status !== 401) return classify(answered)
    // The token ended before its time: try once more with a new one. A send beside this one may have renewed it already.
    if (known.get(sender.senderId)?.token === access.token) known.delete(sender.senderId)
    try {
      access = await accessOf(sender)
    } catch (error) {
      return classifyRenewal(error, log, sender)
    }
    return classify(await hand(options, access, mail))
  }

  return {
    send(sender, take) {
      if (closing) return Promise.resolve(null)
      const delivered = deliver(sender, take)
      underWay.add(delivered)
      const done = () => underWay.delete(delivered)
      delivered.then(done, done)
      return delivered
    },
    // Each mail is a call of its own.
    closeIdle: () => undefined,
    async close() {
      closing = true
      while (underWay.size > 0) await Promise.allSettled(underWay)
      known.clear()
    },
  }
}

/** Reads the row again, because another process may have stored a new token. */
async function currentSender(db: Database, sender: Sender): Promise<Sender> {
  const [row] = await db
    .select()
    .from(mailConfigs)
    .where(and(eq(mailConfigs.ownerId, sender.ownerId), eq(mailConfigs.senderId, sender.senderId)))
  return row ?? sender
}

async function keepRefreshToken(db: Database, secretKey: string, sender: Sender, token: string): Promise<void> {
  await db
    .update(mailConfigs)
    .set({ sealedRefreshToken: sealRefreshToken(secretKey, sender.ownerId, token) })
    .where(and(eq(mailConfigs.ownerId, sender.ownerId), eq(mailConfigs.senderId, sender.senderId)))
}

/** Status 0: no answer; `reached`: Gmail may have the email nevertheless. */
interface Answered {
  status: number
  reason: string
  words: string
  reached: boolean
}

const apiAnswer = z.object({
  id: z.string().optional(),
  error: z
    .object({
      message: z.string().optional(),
      status: z.string().optional(),
      errors: z.array(z.object({ reason: z.string().optional() })).optional(),
    })
    .optional(),
})

const sendPath = '/gmail/v1/users/me/messages/send'
/** A longer message, in bytes, is uploaded: a JSON body has room for few attachments. */
const longestInJson = 1024 * 1024

async function hand({ apiUrl, sendDeadline = 60_000 }: GmailOptions, access: Access, mail: Mail): Promise<Answered> {
  failPoint('before-mail')
  const uploads = mail.raw.length > longestInJson
  try {
    const response = await fetch(uploads ? `${apiUrl}/upload${sendPath}?uploadType=media` : `${apiUrl}${sendPath}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${access.token}`, 'content-type': uploads ? 'message/rfc822' : 'application/json' },
      body: uploads ? new Uint8Array(mail.raw) : JSON.stringify({ raw: mail.raw.toString('base64url') }),
      redirect: 'error',
      signal: AbortSignal.timeout(sendDeadline),
    })
    const text = await response.text()
    if (response.ok) failPoint('after-250')
    const said = readAnswer(text)
    return {
      status: response.status,
      reason: said.error?.errors?.[0]?.reason ?? said.error?.status ?? '',
      words: oneLine(said.error?.message ?? (said.id ? outcomes.gmailAccepted(said.id) : '')),
      reached: true,
    }
  } catch (error) {
    return { status: 0, reason: '', words: '', reached: !neverConnected(error) }
  }
}

function readAnswer(text: string): z.output<typeof apiAnswer> {
  try {
    return apiAnswer.parse(JSON.parse(text))
  } catch {
    return {}
  }
}

/** Codes of a connection that never came about. */
const notThere = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'])

function neverConnected(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && notThere.has(String(cause.code))
}

/** Gmail's reasons for a used-up daily quota; every other limit ends within minutes. */
const dayUsedUp = new Set(['dailyLimitExceeded', 'quotaExceeded'])
const tooFast = new Set(['userRateLimitExceeded', 'rateLimitExceeded', 'RESOURCE_EXHAUSTED'])

/** By status and reason (Gmail API, "Resolve errors"), never by message text. */
function classify({ status, reason, words, reached }: Answered): Outcome {
  const reply = words === '' ? outcomes.gmailStatus(status) : words
  if (status >= 200 && status < 300) return { kind: 'accepted', reply }
  if (status === 0) return { kind: 'temporary', reply: outcomes.gmailSilent, unknown: reached }
  if (dayUsedUp.has(reason)) return { kind: 'quota', reply }
  if (status === 429 || tooFast.has(reason)) return { kind: 'temporary', reply, unknown: false, ofMailbox: true }
  if (status === 403 && forOperator.has(reason)) return { kind: 'temporary', reply, unknown: false }
  if (status === 401 || status === 403) return { kind: 'login_refused', reply: outcomes.gmailSays(reply).slice(0, 500) }
  if (status >= 500) return { kind: 'temporary', reply, unknown: true }
  return { kind: 'permanent', reply }
}

function openPermission(secretKey: string, sender: Sender): string {
  try {
    return openRefreshToken(secretKey, sender)
  } catch (error) {
    throw new UnopenableError('A stored permission does not open.', { cause: error })
  }
}

function classifyRenewal(error: unknown, log: Log, sender: Sender): Outcome {
  if (error instanceof UnopenableError) return { kind: 'login_refused', reply: outcomes.gmailUnreadable }
  const kind = error instanceof ProviderError ? error.kind : null
  if (kind === 'revoked') return { kind: 'login_refused', reply: outcomes.reconnectGmail }
  log.warn({ err: error, senderId: sender.senderId }, 'A Gmail access token was not renewed.')
  // For example the database: Google has not refused the grant.
  if (kind === null) return { kind: 'temporary', reply: outcomes.notRenewed, unknown: false }
  const reply = kind === 'refused' ? outcomes.renewalRefused : outcomes.renewalUnreachable
  return { kind: 'temporary', reply, unknown: false }
}
