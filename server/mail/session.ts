import net from 'node:net'
import { Readable } from 'node:stream'
import tls from 'node:tls'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import { failPoint } from '#server/platform/fail-point.ts'
import { certificateError, connectToAddresses, type VettedHost } from '#server/platform/host.ts'
import { type Resolve, resolveName } from '#server/platform/resolve.ts'
import { vetHost } from './host.ts'
import { isTemporary, MailError, oneLine, replyCode, type SmtpErrorCode } from './smtp-errors.ts'
import { outcomes } from './texts.ts'

/** Milliseconds each step may take in all, however often a byte arrives meanwhile. */
export interface Deadlines {
  /** Name and TCP. */
  connect: number
  /** The TLS handshake from the first byte; then the server's first words. */
  greeting: number
  /** Every single command, STARTTLS with its handshake included. */
  command: number
  /** All of these for one email, the connection included where it needs a new one. */
  beforeDot: number
  /** From the server's 354 until its reply to the final dot. */
  dot: number
}

/** Access to the network, replaceable in tests. */
export interface NetworkDeps {
  allowPrivateHosts: boolean | 'strict'
  resolve: Resolve
  /** Opens a TCP connection to one of these addresses and no other. */
  connect(addresses: string[], port: number): net.Socket
  deadlines: Deadlines
  /** Certificates (PEM) that are trusted besides the well-known authorities. */
  trust: string | null
  /** What this server calls itself (RFC 5321, 4.1.1.1); null: its address. */
  ehlo: string | null
}

export const defaultNetwork: Omit<NetworkDeps, 'allowPrivateHosts'> = {
  resolve: resolveName,
  connect: connectToAddresses,
  deadlines: { connect: 10_000, greeting: 20_000, command: 30_000, beforeDot: 60_000, dot: 120_000 },
  trust: null,
  ehlo: null,
}

/** How a server greets others, by the address that people reach it at: its name, or an address literal (RFC 5321, 4.1.3). */
export function ehloOf(publicUrl: string): string {
  const host = new URL(publicUrl).hostname.replace(/^\[|\]$/g, '')
  return net.isIPv6(host) ? `[IPv6:${host}]` : net.isIPv4(host) ? `[${host}]` : host
}

/** The mechanisms that a login can use here (RFC 4954); a server with others alone gets no password. */
const spoken = ['PLAIN', 'LOGIN', 'CRAM-MD5']

/** Where to go and who goes there. */
interface Target {
  host: string
  port: number
  /** TLS from the first byte; otherwise STARTTLS. */
  secure: boolean
  user: string
  pass: string
}

/** A connection that has logged in. One email at a time. */
export interface Session {
  /** False once the connection is gone. */
  readonly alive: boolean
  /** Whether addresses beyond ASCII may be used (RFC 6531). */
  readonly smtpUtf8: boolean
  /**
   * Resolves to the server's words on accepting the email, and on refusing copies; rejects with MailError `reply` or why the connection broke. Where
   * it refuses `to`, nothing is sent to the others.
   */
  send(mail: {
    raw: Buffer
    from: string
    to: string
    copies: string[]
  }): Promise<{ reply: string; refused: { to: string; reply: string }[] }>
  /** Asks to write from this address to itself, as an email would, and leaves; the connection ends. Rejects with MailError `reply` where that is refused. */
  tryEnvelope(address: string): Promise<void>
  /** How far the last email came: whether the server had answered, and whether the data was sent. */
  readonly progress: { answered: boolean; dataSent: boolean }
  /** Makes the connection ready for another email after a refused one. */
  reset(): Promise<void>
  /** Says goodbye and closes; resolves when that is done. */
  quit(): Promise<void>
  /** Calls back once when the connection is gone. */
  onGone(then: () => void): void
}

/**
 * Connects, secures the connection and logs in. Throws MailError.
 * The password only ever travels over TLS with a checked certificate, except to a private host that the operator allows without.
 * `probe`: where a server that should speak first says nothing for that many milliseconds, finds out whether it waits for TLS.
 */
export async function openSession(
  target: Target,
  network: NetworkDeps,
  extra: { signal?: AbortSignal; probe?: number } = {},
): Promise<Session> {
  const { deadlines } = network
  const began = performance.now()
  const connecting = limit(deadlines.connect, extra.signal)
  const host = await connecting.race(vetHost(target, { resolve: network.resolve, allowPrivateHosts: network.allowPrivateHosts !== false }))
  const plain = network.connect(host.addresses, target.port)
  try {
    await connecting.race(connected(plain))
    const lax = host.isPrivate && network.allowPrivateHosts === true
    const security: tls.ConnectionOptions = {
      secureContext: contextOf(network),
      rejectUnauthorized: !lax,
      ...(net.isIP(host.name) ? {} : { servername: host.name }),
    }
    const socket = target.secure ? await limit(deadlines.greeting, extra.signal).race(secured(plain, host, security)) : plain
    return await talk(socket, plain, { target, host, lax, security, network, began, ...extra })
  } catch (error) {
    plain.destroy()
    throw error
  }
}

const contexts = new WeakMap<NetworkDeps, tls.SecureContext>()

/** Made once: it holds all trusted certificates. */
function contextOf(network: NetworkDeps): tls.SecureContext {
  const made =
    contexts.get(network) ??
    tls.createSecureContext({ minVersion: 'TLSv1.2', ...(network.trust === null ? {} : { ca: [...tls.rootCertificates, network.trust] }) })
  contexts.set(network, made)
  return made
}

interface Talk {
  target: Target
  host: VettedHost
  /** A private host that the operator allows: it may do without TLS, without a certificate and without a login. */
  lax: boolean
  security: tls.ConnectionOptions
  network: NetworkDeps
  /** When connecting began. */
  began: number
  signal?: AbortSignal
  probe?: number
}

async function talk(socket: net.Socket, plain: net.Socket, about: Talk): Promise<Session> {
  const { target, host, lax, network } = about
  const { deadlines } = network
  const longest = Math.max(deadlines.greeting, deadlines.command, deadlines.dot) * 10
  const gone: (() => void)[] = []
  let timer: NodeJS.Timeout | undefined
  let fail: ((error: MailError) => void) | null = null
  let broken: MailError | null = null
  let smtpUtf8 = false
  let mechanisms: string[] = []
  let asked = ''
  let dotUntil = about.began + deadlines.beforeDot
  let progress = { answered: false, dataSent: false }
  let connectingTook = 0
  /** The replies to an email with copies, or to an envelope that is only tried: to MAIL, then to the RCPT of its client. Commands may be sent ahead of them. */
  let replies: string[] | null = null
  let isTrial = false

  const smtp = new SMTPConnection({
    connection: socket,
    host: host.name,
    port: target.port,
    ...(network.ehlo === null ? {} : { name: network.ehlo }),
    secure: target.secure,
    secured: target.secure,
    requireTLS: !target.secure && !lax,
    tls: about.security,
    // Our own deadlines decide: a byte now and then prolongs these.
    connectionTimeout: longest,
    greetingTimeout: longest,
    socketTimeout: longest,
    socketCloseTimeout: 0,
    maxResponseSize: 64 * 1024,
    transactionLog: true,
    logger: trafficLogger({
      client(line) {
        asked = line.split(' ', 1)[0] ?? ''
        allow(Math.min(deadlines.command, dotUntil - performance.now()))
      },
      server(reply) {
        progress.answered = true
        replies?.push(reply)
        const [toSender = '', toClient = ''] = replies ?? []
        if (replies?.length === 2 && toSender.startsWith('2') && !toClient.startsWith('2'))
          lose(new MailError('reply', oneLine(toClient), 'RCPT TO'))
        // Before DATA is asked for: no email may come of it.
        else if (isTrial && replies?.length === 2) lose(new MailError('broken_off'))
        if (asked !== 'EHLO' || replyCode(reply) !== 250) return
        smtpUtf8 = /^250[ -]SMTPUTF8\b/im.test(reply)
        mechanisms = [...reply.matchAll(/^250[ -]AUTH[ =](.*)$/gim)].flatMap(([, names = '']) => names.trim().toUpperCase().split(/\s+/))
      },
    }),
  })

  const lose = (error: MailError) => {
    if (broken) return
    broken = error
    clearTimeout(timer)
    smtp.close()
    plain.destroy()
    fail?.(error)
    for (const then of gone) then()
  }
  const allow = (ms: number) => {
    clearTimeout(timer)
    timer = setTimeout(() => lose(new MailError('timeout')), ms)
  }
  /** One exchange with the server: settles by its callback, by the connection's end or by the deadline. */
  const exchange = <T>(start: (done: (error?: Error | null, result?: T) => void) => void): Promise<T> => {
    if (broken) return Promise.reject(broken)
    return new Promise<T>((resolve, reject) => {
      fail = reject
      start((error, result) => (error ? reject(error) : resolve(result as T)))
    }).finally(() => {
      fail = null
      clearTimeout(timer)
    })
  }
  smtp.on('error', (error: Error) => lose(understand(error)))
  smtp.on('end', () => lose(new MailError('broken_off')))
  const abort = () => lose(new MailError('timeout'))
  about.signal?.addEventListener('abort', abort, { once: true })

  try {
    allow(deadlines.greeting)
    await exchange<void>((done) => {
      smtp.connect(done)
      if (about.probe !== undefined && !target.secure) void probe(about, () => progress.answered || broken !== null, lose)
    }).catch((error: Error) => {
      throw understand(error)
    })
    if (smtp.allowsAuth || !lax) {
      if (!smtp.allowsAuth) throw new MailError('no_login')
      if (mechanisms.length > 0 && !spoken.some((one) => mechanisms.includes(one)))
        throw new MailError('no_mechanism', mechanisms.join(', '))
      await exchange((done) => smtp.login({ user: target.user, pass: target.pass }, done)).catch((error: Error) => {
        const known = understand(error, 'login')
        throw new MailError(known.code, known.reply && withoutSecrets(known.reply, target))
      })
    }
  } catch (error) {
    lose(error instanceof MailError ? error : new MailError('broken_off'))
    throw error
  } finally {
    about.signal?.removeEventListener('abort', abort)
  }
  connectingTook = performance.now() - about.began
  dotUntil = Number.POSITIVE_INFINITY

  return {
    get alive() {
      return broken === null
    },
    get smtpUtf8() {
      return smtpUtf8
    },
    get progress() {
      return progress
    },
    async send({ raw, from, to, copies }) {
      const own = { answered: false, dataSent: false }
      progress = own
      replies = copies.length === 0 ? null : []
      dotUntil = performance.now() + deadlines.beforeDot - connectingTook
      // Counts for the first email only.
      connectingTook = 0
      // The stream is read after the server's 354, and the final dot follows its end.
      const message = new Readable({
        read() {
          allow(deadlines.dot)
          own.dataSent = true
          this.push(raw)
          this.push(null)
        },
      })
      message.once('end', () => setImmediate(failPoint, 'after-dot'))
      try {
        const info = await exchange<SMTPConnection.SentMessageInfo>((done) =>
          smtp.send({ from, to: [to, ...copies], size: raw.length, use8BitMime: true }, message, done),
        )
        const refused = (info.rejectedErrors ?? []).map(({ recipient = '', response = '' }) => ({
          to: recipient,
          reply: oneLine(response),
        }))
        return { reply: oneLine(info.response), refused }
      } catch (error) {
        throw understand(error as Error, 'reply')
      } finally {
        replies = null
        dotUntil = Number.POSITIVE_INFINITY
      }
    },
    async tryEnvelope(address) {
      replies = []
      isTrial = true
      await exchange((done) => smtp.send({ from: address, to: [address] }, Readable.from([]), done)).catch((error: Error) => {
        const said = understand(error, 'reply')
        // Both were accepted, and the connection was left.
        if (said.code !== 'broken_off' || replies?.length !== 2) throw said
      })
    },
    async reset() {
      await exchange((done) => smtp.reset(done)).catch(() => lose(new MailError('broken_off')))
    },
    async quit() {
      if (broken) return
      await exchange<void>((done) => {
        gone.push(() => done())
        smtp.quit()
        // The email is accepted already, so QUIT has a short deadline.
        allow(Math.min(deadlines.command, 2_000))
      }).catch(() => undefined)
      lose(new MailError('broken_off'))
    },
    onGone(then) {
      if (broken) then()
      else gone.push(then)
    },
  }
}

/** A server that waits for TLS says nothing where STARTTLS wants it to speak first: tries a handshake on a connection of its own. */
async function probe(about: Talk, settled: () => boolean, lose: (error: MailError) => void): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, about.probe).unref())
  if (settled()) return
  const socket = about.network.connect(about.host.addresses, about.target.port)
  try {
    const patience = limit(about.network.deadlines.greeting, about.signal)
    await patience.race(connected(socket))
    await patience.race(secured(socket, about.host, { ...about.security, rejectUnauthorized: false }))
    if (!settled()) lose(new MailError('speaks_tls'))
  } catch {
    // It speaks neither: the deadline says so.
  } finally {
    socket.destroy()
  }
}

function connected(socket: net.Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('connect', resolve)
    // The listener stays: a socket that fails later must not end the process.
    socket.on('error', (error: Error) => reject(understand(error)))
  })
}

function secured(plain: net.Socket, host: VettedHost, security: tls.ConnectionOptions): Promise<tls.TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ ...security, socket: plain, host: host.name }, () => resolve(socket))
    socket.on('error', (error: Error) => reject(understand(error, 'handshake')))
    socket.once('close', () => reject(new MailError('broken_off')))
  })
}

/** A deadline over something that cannot be cancelled; the caller closes what it leaves behind. */
function limit(ms: number, signal: AbortSignal | undefined): { race<T>(work: Promise<T>): Promise<T> } {
  const started = performance.now()
  return {
    race(work) {
      return new Promise((resolve, reject) => {
        const late = () => reject(new MailError('timeout'))
        const timer = setTimeout(late, Math.max(0, started + ms - performance.now()))
        if (signal?.aborted) late()
        signal?.addEventListener('abort', late, { once: true })
        work.then(resolve, reject).finally(() => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', late)
        })
      })
    },
  }
}

/** By the reply's code first, then by the code of nodemailer, Node or OpenSSL, never by message text. */
function understand(error: Error, step: 'connection' | 'handshake' | 'login' | 'reply' = 'connection'): MailError {
  if (error instanceof MailError) return error
  const {
    response,
    code = '',
    originalCode,
    command = null,
  } = error as Error & {
    response?: unknown
    code?: string
    originalCode?: string
    command?: string
  }
  const reply = typeof response === 'string' && response !== '' ? oneLine(response) : null
  if (command === 'STARTTLS' && reply) return new MailError(isTemporary(reply) ? 'turned_away' : 'no_starttls', reply)
  if (code === 'EMESSAGE' && !reply) return new MailError('reply', outcomes.tooLarge)
  if (reply) return new MailError(step === 'login' ? 'login' : step === 'reply' ? 'reply' : 'turned_away', reply, command)
  return new MailError(codeOf(originalCode ?? code))
}

function codeOf(code: string): SmtpErrorCode {
  const certificate = certificateError(code)
  if (certificate !== null) return `certificate_${certificate}`
  switch (code) {
    case 'ECONNREFUSED':
      return 'connection_refused'
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EADDRNOTAVAIL':
      return 'unreachable'
    case 'ETIMEDOUT':
      return 'timeout'
    // The text of an SMTP greeting where the first record of TLS should be.
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return 'speaks_plain'
    case 'ETLS':
      return 'tls_failed'
    default:
      return code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS') ? 'tls_failed' : 'broken_off'
  }
}

/** A server may echo what it was sent: a password must not be shown or stored. */
function withoutSecrets(reply: string, { user, pass }: Target): string {
  const secrets = [Buffer.from(`\0${user}\0${pass}`).toString('base64'), Buffer.from(pass).toString('base64'), pass]
  return secrets.reduce((text, secret) => text.replaceAll(secret, '•••'), reply)
}

/** Observes the SMTP dialogue; nodemailer masks secrets. */
function trafficLogger(heard: { client(line: string): void; server(reply: string): void }) {
  const nothing = () => undefined
  const debug = (entry: unknown, line: unknown) => {
    const { tnx } = entry as { tnx?: string }
    if (tnx === 'client') heard.client(String(line))
    if (tnx === 'server') heard.server(String(line))
  }
  return { level: nothing, trace: nothing, debug, info: nothing, warn: nothing, error: nothing, fatal: nothing }
}
