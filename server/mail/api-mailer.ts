import { and, eq, isNull, lt, or, sql } from 'drizzle-orm'
import { type Database, isUnavailable } from '#server/platform/database.ts'
import { failPoint } from '#server/platform/fail-point.ts'
import type { Log } from '#server/platform/log.ts'
import { type OauthServer, ProviderError } from '#server/platform/openid.ts'
import { UnknownKeyError } from '#server/platform/secrets.ts'
import { type Mail, type Mailer, type Outcome, unopened } from './mailer.ts'
import { openRefreshToken, type Sender, sealRefreshToken } from './sender.ts'
import { mailConfigs } from './tables.ts'

/** A provider that sends by a call of its own, with an access token. */
export interface MailApi {
  oauth: Pick<OauthServer, 'refresh'>
  /** Makes the call. `status` 0: no answer; `reached`: the provider may have the email nevertheless. */
  hand(accessToken: string, mail: Mail): Promise<Answered>
  classify(answered: Answered): Outcome
  words: { reconnect: string; unreadable: string; notRenewed: string; refused: string; unreachable: string }
}

export interface Answered {
  status: number
  body: string
  headers: Headers
  reached: boolean
}

interface ApiMailerOptions {
  secretKey: string
  db: Database
  log: Log
}

/** An access token is renewed this many seconds early, so that it does not expire during a send. */
const marginSeconds = 60
/** Longer than a renewal may take. */
const renewalSeconds = 15
/** How long to wait, in ms, while another process renews. */
const renewalPause = 200

/** The stored grant does not open: damaged, or moved to another row. */
class UnopenableError extends Error {}

interface Access {
  token: string
  /** By the clock of this process, which only goes forward. */
  until: number
}

/** Sends by a provider's call. At most one token renewal runs per mailbox: a provider may end the old refresh token with it. */
export function openApiMailer(api: MailApi, options: ApiMailerOptions): Mailer {
  const { db, log, secretKey } = options
  const known = new Map<string, Access>()
  const renewing = new Map<string, Promise<Access>>()
  /** New refresh tokens that could not be stored yet: the stored ones may be invalid. */
  const unstored = new Map<string, string>()
  const underWay = new Set<Promise<unknown>>()
  let closing = false

  const renew = async (sender: Sender): Promise<Access> => {
    const current = await beginRenewal(db, sender)
    const { senderId } = sender
    try {
      const before = unstored.get(senderId) ?? openPermission(secretKey, current)
      const renewed = await api.oauth.refresh(before)
      const access = { token: renewed.accessToken, until: performance.now() + (renewed.accessSeconds - marginSeconds) * 1000 }
      known.set(senderId, access)
      // Google usually returns none, and the old one stays valid.
      if (renewed.refreshToken !== null) unstored.set(senderId, renewed.refreshToken)
    } catch (error) {
      // Otherwise the next try waits until it is over.
      await endRenewal(db, current).catch(() => undefined)
      throw error
    }
    const next = unstored.get(senderId)
    await endRenewal(
      db,
      current,
      next === undefined ? {} : { sealedRefreshToken: sealRefreshToken(secretKey, current.ownerId, next, current.place) },
    )
    unstored.delete(senderId)
    return known.get(senderId) as Access
  }
  const accessOf = (sender: Sender): Promise<Access> => {
    const access = known.get(sender.senderId)
    if (access && access.until > performance.now()) return Promise.resolve(access)
    const running = renewing.get(sender.senderId)
    if (running !== undefined) return running
    const started = renew(sender).finally(() => renewing.delete(sender.senderId))
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
      return classifyRenewal(api, error, log, sender)
    }
    const mail = await take()
    if (!mail) return null
    const answered = await api.hand(access.token, mail)
    if (answered.status !== 401) return api.classify(answered)
    // The token ended before its time: try once more with a new one. A send beside this one may have renewed it already.
    if (known.get(sender.senderId)?.token === access.token) known.delete(sender.senderId)
    try {
      access = await accessOf(sender)
    } catch (error) {
      return classifyRenewal(api, error, log, sender)
    }
    return api.classify(await api.hand(access.token, mail))
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
    // Each email is a call of its own.
    closeIdle: () => undefined,
    async close() {
      closing = true
      while (underWay.size > 0) await Promise.allSettled(underWay)
      known.clear()
    },
  }
}

const renewalOf = ({ ownerId, senderId }: Sender) => and(eq(mailConfigs.ownerId, ownerId), eq(mailConfigs.senderId, senderId))

/** Waits until no other process renews; answers the row as it is then, because another may have stored a new token. */
async function beginRenewal(db: Database, sender: Sender): Promise<Sender> {
  for (;;) {
    const free = or(isNull(mailConfigs.renewingUntil), lt(mailConfigs.renewingUntil, sql`clock_timestamp()`))
    const [row] = await db
      .update(mailConfigs)
      .set({ renewingUntil: sql`clock_timestamp() + make_interval(secs => ${renewalSeconds})` })
      .where(and(renewalOf(sender), free))
      .returning()
    if (row) return row
    const [busy] = await db.select({ senderId: mailConfigs.senderId }).from(mailConfigs).where(renewalOf(sender))
    // The mailbox was removed meanwhile: the claim of the email finds that.
    if (!busy) return sender
    await new Promise((resolve) => setTimeout(resolve, renewalPause))
  }
}

async function endRenewal(db: Database, sender: Sender, found: { sealedRefreshToken?: string } = {}): Promise<void> {
  await db
    .update(mailConfigs)
    .set({ renewingUntil: null, ...found })
    .where(renewalOf(sender))
}

/** Codes of a connection that never came about. */
const notThere = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'])

/** Calls a provider's API within `deadline` ms. */
export async function callApi(url: string, init: RequestInit, deadline: number): Promise<Answered> {
  failPoint('before-mail')
  try {
    const response = await fetch(url, { method: 'POST', ...init, redirect: 'error', signal: AbortSignal.timeout(deadline) })
    const body = await response.text()
    if (response.ok) failPoint('after-250')
    return { status: response.status, body, headers: response.headers, reached: true }
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined
    const neverConnected = cause instanceof Error && 'code' in cause && notThere.has(String(cause.code))
    return { status: 0, body: '', headers: new Headers(), reached: !neverConnected }
  }
}

/** JSON of an answer; null where it is none. */
export function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}

function openPermission(secretKey: string, sender: Sender): string {
  try {
    return openRefreshToken(secretKey, sender)
  } catch (error) {
    if (error instanceof UnknownKeyError) throw error
    throw new UnopenableError('A stored permission does not open.', { cause: error })
  }
}

function classifyRenewal({ words }: MailApi, error: unknown, log: Log, sender: Sender): Outcome {
  if (error instanceof UnknownKeyError) return unopened(words.unreadable)
  if (error instanceof UnopenableError) return { kind: 'login_refused', reply: words.unreadable }
  const kind = error instanceof ProviderError ? error.kind : null
  if (kind === 'revoked') return { kind: 'login_refused', reply: words.reconnect }
  log.warn({ err: error, senderId: sender.senderId, provider: sender.provider }, 'An access token was not renewed.')
  // For example the database: the provider has not refused the grant.
  if (kind === null) return { kind: 'temporary', reply: words.notRenewed, unknown: false }
  return { kind: 'temporary', reply: kind === 'refused' ? words.refused : words.unreachable, unknown: false }
}
