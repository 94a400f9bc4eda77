import pLimit, { type LimitFunction } from 'p-limit'
import { asciiAddress } from '#contract/addresses.ts'
import { failPoint } from '#server/platform/fail-point.ts'
import type { Log } from '#server/platform/log.ts'
import { UnknownKeyError } from '#server/platform/secrets.ts'
import { defersMailbox, faultOf, isLimitForNow, limitSeconds, type Stage } from './refusals.ts'
import { openPassword, type Sender } from './sender.ts'
import { type Deadlines, defaultNetwork, type NetworkDeps, openSession, type Session } from './session.ts'
import { enhancedCode, isTemporary, MailError, passwordsSwitchedOff, replyCode } from './smtp-errors.ts'
import { describeError, outcomes, passwordsSwitchedOffText } from './texts.ts'

/** The result of sending one email. `reply` is the server's own words, one line, at most 500 characters. */
export type Outcome =
  | { kind: 'accepted'; reply: string; copiesRefused?: { to: string; reply: string }[] }
  /**
   * 4yz, connection, TLS, DNS, timeout. `unknown`: the data was sent, so the server may have the email. `ofMailbox`: the reply is about the
   * mailbox, not about the recipient or the connection. `unreached`: the host did not answer, so it would not answer other mailboxes either. `retryAfter`:
   * for so many seconds the mailbox must send nothing. `unopened`: the stored password or permission was sealed with an unknown key; the reply of the
   * refused login that this becomes if it lasts.
   */
  | { kind: 'temporary'; reply: string; unknown: boolean; ofMailbox?: boolean; unreached?: boolean; retryAfter?: number; unopened?: string }
  /** `ofAddress`: the client's address does not exist; otherwise this email alone was refused. */
  | { kind: 'permanent'; reply: string; ofAddress?: boolean }
  | { kind: 'login_refused'; reply: string }
  /** The mailbox may not send as itself: about no client. */
  | { kind: 'sender_refused'; reply: string }
  /** `seconds`: for how long by the server's words; without it until the next day. */
  | { kind: 'quota'; reply: string; seconds?: number }

/** One email as it leaves: the whole message, and its envelope. */
export interface Mail {
  raw: Buffer
  from: string
  to: string
  /** Further recipients, whose refusal does not stop it. */
  copies?: string[]
}

export interface Mailer {
  /**
   * Sends one email to one recipient. `take` is called once a connection is ready, so that nothing slow happens between claim and sending; if it
   * answers null, nothing is sent and the outcome is null. It is not called without a connection. Rejects only with what `take` threw.
   */
  send(sender: Sender, take: () => Promise<Mail | null>): Promise<Outcome | null>
  /** Closes idle connections of this mailbox, so that another process can open as many. */
  closeIdle(sender: Sender): void
  /** Lets what is under way finish, then closes every connection. */
  close(): Promise<void>
}

export interface MailerOptions {
  secretKey: string
  allowPrivateHosts: NetworkDeps['allowPrivateHosts']
  log: Log
  resolve?: NetworkDeps['resolve']
  connect?: NetworkDeps['connect']
  deadlines?: Partial<Deadlines>
  trust?: string
  ehlo?: string
  /** How long a connection is kept for the next email, in ms. */
  idleMs?: number
}

/** Every provider allows two connections per mailbox. */
const connectionsPerSender = 2
/** Many servers close a connection after this many emails; reconnecting costs less than a refused email. */
const mailsPerConnection = 100

interface Connection {
  session: Session
  mails: number
  idle: NodeJS.Timeout | undefined
}

/** The connections of one mailbox. */
interface SmtpPool {
  limit: LimitFunction
  idle: Connection[]
  /** Connections that are open, or being opened. */
  open: number
}

/** How long, in ms, a mailbox keeps to one connection whose server turned a second one away. */
const oneAtATime = 24 * 3_600_000

/** Whether a server turned away a connection because there are others: RFC 5321, 3.8, and Exchange Online's 4.3.2. */
function isTooMany(error: unknown): boolean {
  if (!(error instanceof MailError) || (error.code !== 'turned_away' && error.code !== 'login')) return false
  return replyCode(error.reply) === 421 || ['4.7.0', '4.3.2'].includes(enhancedCode(error.reply) ?? '')
}

/** Sends by SMTP with a small connection pool per mailbox. Each step has a deadline that slow bytes cannot prolong. */
export function openSmtpMailer(options: MailerOptions): Mailer {
  const network: NetworkDeps = {
    ...defaultNetwork,
    allowPrivateHosts: options.allowPrivateHosts,
    ...(options.resolve ? { resolve: options.resolve } : {}),
    ...(options.connect ? { connect: options.connect } : {}),
    trust: options.trust ?? null,
    ehlo: options.ehlo ?? null,
    deadlines: { ...defaultNetwork.deadlines, ...options.deadlines },
  }
  const idleMs = options.idleMs ?? 5_000
  const pools = new Map<string, SmtpPool>()
  /** Until when these mailboxes have one connection, by the clock of this process. */
  const single = new Map<string, number>()
  const underWay = new Set<Promise<unknown>>()
  let closing = false

  /** What must be finished before the mailer is closed. */
  const track = (work: Promise<unknown>): void => {
    underWay.add(work)
    const done = () => underWay.delete(work)
    work.then(done, done)
  }

  const dropIfUnused = (senderId: string, pool: SmtpPool): void => {
    if (pool.limit.activeCount === 0 && pool.limit.pendingCount === 0 && pool.idle.length === 0 && pools.get(senderId) === pool)
      pools.delete(senderId)
  }

  const connect = async (sender: Sender, pool: SmtpPool): Promise<Connection> => {
    const { host, port, secure, address, username } = sender
    if (host === null || port === null || secure === null) throw new MailError('no_login')
    const target = { host, port, secure, user: username ?? address, pass: openPassword(options.secretKey, sender) }
    pool.open += 1
    const session = await openSession(target, network).catch((error: unknown) => {
      pool.open -= 1
      throw error
    })
    const connection: Connection = { session, mails: 0, idle: undefined }
    session.onGone(() => {
      pool.open -= 1
      clearTimeout(connection.idle)
      pool.idle = pool.idle.filter((other) => other !== connection)
      dropIfUnused(sender.senderId, pool)
    })
    return connection
  }

  const takeIdle = (pool: SmtpPool): Connection | null => {
    const connection = pool.idle.pop()
    clearTimeout(connection?.idle)
    return connection ?? null
  }

  const keep = async (pool: SmtpPool, connection: Connection | null): Promise<void> => {
    if (!connection?.session.alive) return
    if (closing || connection.mails >= mailsPerConnection) return connection.session.quit()
    connection.idle = setTimeout(() => {
      // Out of the pool before it quits: an email sent meanwhile must take another connection.
      pool.idle = pool.idle.filter((other) => other !== connection)
      track(connection.session.quit())
    }, idleMs).unref()
    pool.idle.push(connection)
  }

  interface Attempt {
    connection: Connection | null
    outcome: Outcome | null
    /** What `take` threw. */
    taking: { failed: unknown } | null
  }

  /** `one_at_a_time`: nothing was tried, because another connection of the mailbox is all that its server allows. */
  const attempt = async (sender: Sender, pool: SmtpPool, take: () => Promise<Mail | null>): Promise<Attempt | 'one_at_a_time'> => {
    let connection = takeIdle(pool)
    let taking: Attempt['taking'] = null
    let isTaken = false
    try {
      const kept = connection !== null
      connection ??= await connect(sender, pool)
      isTaken = true
      const mail = await take().catch((error: unknown) => {
        taking = { failed: error }
        return null
      })
      if (!mail) return { connection, outcome: null, taking }
      try {
        return { connection, outcome: await hand(connection, mail), taking }
      } catch (error) {
        // The server closed an idle connection before it answered anything, so this was no attempt.
        const { answered, dataSent } = connection.session.progress
        if (!kept || !(error instanceof MailError) || (answered && replyCode(error.reply) !== 421) || dataSent) throw error
        connection = null
        connection = await connect(sender, pool)
        return { connection, outcome: await hand(connection, mail), taking }
      }
    } catch (error) {
      if (!isTaken && pool.open > 0 && pool.limit.concurrency > 1 && isTooMany(error)) return 'one_at_a_time'
      const dataSent = connection?.session.progress.dataSent ?? false
      const outcome = classify(error, { sender, dataSent, connected: connection !== null })
      if (outcome.kind !== 'permanent' && !(error instanceof MailError && error.code === 'reply'))
        options.log.info(
          { senderId: sender.senderId, host: sender.host, port: sender.port, outcome: outcome.kind },
          'A mail server could not be used.',
        )
      return { connection, outcome, taking }
    }
  }

  const deliver = (sender: Sender, take: () => Promise<Mail | null>): Promise<Outcome | null> => {
    const connections = (single.get(sender.senderId) ?? 0) > performance.now() ? 1 : connectionsPerSender
    const pool = pools.get(sender.senderId) ?? { limit: pLimit(connections), idle: [], open: 0 }
    pools.set(sender.senderId, pool)
    return new Promise((resolve, reject) => {
      const work = pool.limit(async () => {
        const attempted = await attempt(sender, pool, take)
        if (attempted === 'one_at_a_time') {
          single.set(sender.senderId, performance.now() + oneAtATime)
          pool.limit.concurrency = 1
          // Behind the email that is on its way.
          return void deliver(sender, take).then(resolve, reject)
        }
        const { connection, outcome, taking } = attempted
        if (taking) reject(taking.failed)
        else resolve(outcome)
        // The slot stays taken until the connection is ready again; the caller does not wait for that.
        if (outcome && outcome.kind !== 'accepted' && connection?.session.alive) await connection.session.reset()
        await keep(pool, connection)
      })
      track(work.catch(reject).then(() => dropIfUnused(sender.senderId, pool)))
    })
  }

  return {
    send(sender, take) {
      if (closing) return Promise.resolve(null)
      const delivered = deliver(sender, take)
      track(delivered)
      return delivered
    },
    closeIdle({ senderId }) {
      for (const connection of pools.get(senderId)?.idle.splice(0) ?? []) {
        clearTimeout(connection.idle)
        track(connection.session.quit())
      }
    },
    async close() {
      closing = true
      for (const pool of pools.values())
        for (const connection of pool.idle.splice(0)) {
          clearTimeout(connection.idle)
          track(connection.session.quit())
        }
      while (underWay.size > 0) await Promise.allSettled(underWay)
    },
  }
}

/** Rejects unusable addresses without asking the server. */
async function hand(connection: Connection, mail: Mail): Promise<Outcome> {
  const [from, to] = [asciiAddress(mail.from), asciiAddress(mail.to)]
  if (!from || !to)
    return { kind: 'permanent', reply: outcomes.notAnAddress((from ? mail.to : mail.from).replace(/\p{C}+/gu, ' ').slice(0, 254)) }
  if (!connection.session.smtpUtf8 && !isAscii(from + to))
    return {
      kind: 'permanent',
      reply: outcomes.noSmtpUtf8(to),
    }
  const { smtpUtf8 } = connection.session
  const unusable: { to: string; reply: string }[] = []
  const copies = (mail.copies ?? []).flatMap((copy) => {
    const address = asciiAddress(copy)
    if (address && (smtpUtf8 || isAscii(address))) return address
    unusable.push({ to: copy, reply: address ? outcomes.noSmtpUtf8(address) : outcomes.notAnAddress(copy) })
    return []
  })
  connection.mails += 1
  failPoint('before-mail')
  const { reply, refused } = await connection.session.send({ raw: mail.raw, from, to, copies })
  failPoint('after-250')
  const copiesRefused = [...unusable, ...refused]
  return { kind: 'accepted', reply, ...(copiesRefused.length > 0 ? { copiesRefused } : {}) }
}

/** Another process may have the key; the next try is a few minutes later. */
export function unopened(lasting: string): Outcome {
  return { kind: 'temporary', reply: outcomes.keyUnknown, unknown: false, retryAfter: 300, unopened: lasting }
}

/** By the step and the reply (`refusals.ts`). */
function classify(error: unknown, about: { sender: Sender; dataSent: boolean; connected: boolean }): Outcome {
  if (error instanceof UnknownKeyError) return unopened(outcomes.passwordUnreadable)
  if (!(error instanceof MailError))
    // The password does not open: damaged, or moved to another row.
    return { kind: 'login_refused', reply: outcomes.passwordUnreadable }
  const { code, reply, command } = error
  if (reply !== null && passwordsSwitchedOff.has(enhancedCode(reply) ?? ''))
    return { kind: 'login_refused', reply: passwordsSwitchedOffText(about.sender.host ?? 'This server', reply).slice(0, 500) }
  if (code === 'login' && !isTemporary(reply)) return { kind: 'login_refused', reply: reply ?? '' }
  if (code === 'no_mechanism') return { kind: 'login_refused', reply: plainWords(error, about.sender) }
  if (code !== 'reply' || reply === null)
    return {
      kind: 'temporary',
      reply: reply ?? plainWords(error, about.sender),
      unknown: about.dataSent,
      // A reply to this mailbox's login shows nothing about others.
      unreached: !about.connected && reply === null,
    }
  if (Math.floor(replyCode(reply) / 100) !== 5 && !isLimitForNow(reply))
    return { kind: 'temporary', reply, unknown: false, ofMailbox: defersMailbox(stageOf(command), reply) }
  switch (isLimitForNow(reply) ? 'limit' : faultOf(stageOf(command), reply).fault) {
    case 'login':
      return { kind: 'login_refused', reply }
    case 'sender':
      return { kind: 'sender_refused', reply }
    case 'limit': {
      const seconds = limitSeconds(reply)
      return { kind: 'quota', reply, ...(seconds === null ? {} : { seconds }) }
    }
    case 'address':
      return { kind: 'permanent', reply, ofAddress: true }
    case 'mail':
      return { kind: 'permanent', reply }
  }
}

function stageOf(command: string | null): Stage {
  return command === 'MAIL FROM' ? 'mail' : command === 'RCPT TO' ? 'rcpt' : 'message'
}

function plainWords(error: MailError, { host, port }: Sender): string {
  return describeError(error, { host: host ?? '', port: port ?? 0 }).sentence.slice(0, 500)
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length
}
