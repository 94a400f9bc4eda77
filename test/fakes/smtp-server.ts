import net from 'node:net'
import tls from 'node:tls'
import { type Certificate, makeCertificate } from './certificate.ts'

export interface ReceivedMail {
  envelope: { from: string; to: string[] }
  /** As sent, without dot-stuffing. */
  raw: Buffer
  /** Milliseconds by the machine's clock. */
  at: number
  messageId: string | null
  subject: string | null
}

/**
 * An injected fault at one step: a reply such as `'550 5.1.1 No such user'` (one that begins with 421 also ends the
 * connection), or one of `silence`, `reset`, `drip`, `later`. Undefined: success.
 */
export type Move = string | { kind: 'silence' } | { kind: 'reset' } | { kind: 'drip'; text: string; everyMs: number } | Later
interface Later {
  kind: 'later'
  when: number | Promise<unknown>
  next: Move | undefined
}

/** Never replies. After the final dot the email is stored. */
export const silence: Move = { kind: 'silence' }
/** Resets the connection (RST). After the final dot the email is stored. */
export const reset: Move = { kind: 'reset' }
/** Replies one byte per interval without end. After the final dot the email is stored. */
export function drip(everyMs: number, text = '250-'.padEnd(10_000, 'still thinking ')): Move {
  return { kind: 'drip', text, everyMs }
}
/** The fault, or success, after a delay in milliseconds or after a promise. */
export function later(when: number | Promise<unknown>, next?: Move): Move {
  return { kind: 'later', when, next }
}

/** Faults by step. Numbers count from 1 and restart with each `answer`. */
export interface Script {
  greeting?: (connection: number) => Move | undefined
  /** Offered extensions: by default all but PIPELINING, and STARTTLS only if the server has TLS. */
  offers?: { starttls?: boolean; smtputf8?: boolean; auth?: boolean; mechanisms?: string; pipelining?: boolean }
  auth?: (attempt: number) => Move | undefined
  mail?: (from: string, nth: number) => Move | undefined
  /** `offered`: the number of RCPT commands for this recipient. */
  rcpt?: (to: string, offered: number) => Move | undefined
  data?: (nth: number) => Move | undefined
  /** After the final dot: a 2xx reply and every silence, reset or drip stores the email. */
  dot?: (mail: ReceivedMail, nth: number) => Move | undefined
  /** RSET, NOOP and all other commands. */
  other?: (command: string) => Move | undefined
}

export interface FakeSmtp extends AsyncDisposable {
  host: '127.0.0.1'
  port: number
  tls: 'none' | 'starttls' | 'ssl'
  /** Emails accepted with 250 after the final dot, or stored although the connection then broke. */
  mails: ReceivedMail[]
  /** The login that AUTH accepts. */
  login: { user: string; pass: string }
  /** Every command line, secrets masked. */
  commands: string[]
  authTries: number
  connections: { open: number; most: number; total: number }
  /** The certificate that clients must trust. */
  certificate: string
  answer(script: Script): void
  /** Resolves once that many emails were stored. */
  received(count: number): Promise<void>
  /** Resolves once no connection is open. */
  quiet(): Promise<void>
  /** Closes every open connection, like a restarting server. */
  hangUp(): void
}

export interface SmtpOptions {
  /** `ssl`: TLS from the first byte. */
  tls?: 'none' | 'starttls' | 'ssl'
  login?: { user: string; pass: string }
  /** Before each 250 after the dot. */
  delayMs?: number
  certificate?: Certificate
}

/** The default certificate: one per process, for the names that tests use. */
let ownCertificate: Certificate | null = null

/** An SMTP server on loopback that speaks the real protocol (RFC 5321, 3207, 4954) with fault injection. */
export async function openFakeSmtp(options: SmtpOptions = {}): Promise<FakeSmtp> {
  ownCertificate ??= makeCertificate(['smtp.example.com', 'localhost', '127.0.0.1'])
  const certificate = options.certificate ?? ownCertificate
  const kind = options.tls ?? 'none'
  const context = tls.createSecureContext(certificate)
  const sockets = new Set<net.Socket>()
  const waiting: { count: number; resolve: () => void }[] = []
  const silent: (() => void)[] = []
  let script: Script = {}
  let counted = { connections: 0, auth: 0, mails: 0, data: 0, dots: 0, offered: new Map<string, number>() }

  const fake: FakeSmtp = {
    host: '127.0.0.1',
    port: 0,
    tls: kind,
    mails: [],
    login: options.login ?? { user: 'asha@example.com', pass: 'app-password' },
    commands: [],
    authTries: 0,
    connections: { open: 0, most: 0, total: 0 },
    certificate: certificate.cert,
    answer(next) {
      script = next
      counted = { connections: 0, auth: 0, mails: 0, data: 0, dots: 0, offered: new Map() }
    },
    received(count) {
      if (fake.mails.length >= count) return Promise.resolve()
      return new Promise((resolve) => waiting.push({ count, resolve }))
    },
    quiet() {
      if (fake.connections.open === 0) return Promise.resolve()
      return new Promise((resolve) => silent.push(resolve))
    },
    hangUp() {
      for (const socket of sockets) socket.destroy()
    },
    async [Symbol.asyncDispose]() {
      fake.hangUp()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }

  const keep = (mail: ReceivedMail) => {
    fake.mails.push(mail)
    for (const one of waiting.filter(({ count }) => fake.mails.length >= count)) {
      waiting.splice(waiting.indexOf(one), 1)
      one.resolve()
    }
  }

  const talk = (plain: net.Socket) => {
    sockets.add(plain)
    counted.connections += 1
    fake.connections.total += 1
    fake.connections.open += 1
    fake.connections.most = Math.max(fake.connections.most, fake.connections.open)
    let open = true
    const over = () => {
      if (open) fake.connections.open -= 1
      open = false
      if (fake.connections.open === 0) for (const resolve of silent.splice(0)) resolve()
    }
    // A connection that the server has ended after QUIT is over (RFC 5321, 4.1.1.10), even if the next one is accepted before its 'close' event.
    plain.on('finish', over)
    plain.on('close', () => {
      sockets.delete(plain)
      over()
    })

    let socket = plain
    let input: Buffer = Buffer.alloc(0)
    const held: Buffer[] = []
    let busy = true
    let expects: ((line: string) => void) | null = null
    let body: Buffer[] | null = null
    let envelope = { from: '', to: [] as string[] }
    let from: string | null = null
    let secured = false
    const timers = new Set<NodeJS.Timeout>()

    const say = (text: string) => {
      if (!socket.writable) return
      socket.write(`${text}\r\n`)
      if (text.startsWith('421')) socket.end()
    }
    const wait = (ms: number, then: () => void) => {
      const timer = setTimeout(() => {
        timers.delete(timer)
        then()
      }, ms)
      timers.add(timer)
    }
    plain.on('close', () => {
      for (const timer of timers) clearTimeout(timer)
    })
    plain.on('error', () => undefined)

    /** Performs the fault, or `well`; the next command is read afterwards. */
    const play = (move: Move | undefined, well: () => void) => {
      if (move === undefined) well()
      else if (typeof move === 'string') say(move)
      else if (move.kind === 'reset') return void plain.resetAndDestroy()
      else if (move.kind === 'silence') return
      else if (move.kind === 'drip') return dripOut(move.text, move.everyMs)
      else if (typeof move.when === 'number') return wait(move.when, () => play(move.next, well))
      else return void move.when.then(() => play(move.next, well))
      busy = false
      read()
    }
    const dripOut = (text: string, everyMs: number) => {
      if (!socket.writable) return
      socket.write(text.slice(0, 1))
      wait(everyMs, () => dripOut(text.slice(1) || text, everyMs))
    }

    const read = () => {
      while (!busy) {
        if (body) return readBody()
        const end = input.indexOf('\n')
        if (end < 0) return
        const line = input.subarray(0, end).toString('utf8').replace(/\r$/, '')
        input = input.subarray(end + 1)
        busy = true
        if (expects) {
          const next = expects
          expects = null
          next(line)
        } else obey(line)
      }
    }

    const readBody = () => {
      const end = input.subarray(0, 3).equals(dotLine) ? 0 : input.indexOf('\r\n.\r\n')
      if (end < 0) return
      const raw = unstuff(end === 0 ? Buffer.alloc(0) : input.subarray(0, end + 2))
      input = input.subarray(end === 0 ? 3 : end + 5)
      body = null
      busy = true
      counted.dots += 1
      const mail = { envelope, raw, at: Date.now(), messageId: header(raw, 'message-id'), subject: header(raw, 'subject') }
      envelope = { from: '', to: [] }
      from = null
      const move = script.dot?.(mail, counted.dots) ?? (options.delayMs ? later(options.delayMs) : undefined)
      if (typeof move === 'object' && move.kind !== 'later') keep(mail)
      play(settle(move, mail), () => {
        keep(mail)
        say('250 2.0.0 Accepted')
      })
    }
    /** Any other 2xx reply stores the email too. */
    const settle = (move: Move | undefined, mail: ReceivedMail): Move | undefined => {
      if (typeof move === 'string' && move.startsWith('2')) keep(mail)
      if (typeof move === 'object' && move.kind === 'later' && move.next !== undefined) return { ...move, next: settle(move.next, mail) }
      return move
    }

    const obey = (line: string) => {
      fake.commands.push(/^AUTH (?:PLAIN|LOGIN) /i.test(line) ? line.replace(/^(AUTH \w+) .*$/i, '$1 ***') : line)
      const verb = line.split(' ', 1)[0]?.toUpperCase()
      switch (verb) {
        case 'EHLO':
          return play(script.other?.(line), () => say(greet().join('\r\n')))
        case 'HELO':
          return play(script.other?.(line), () => say('250 fake.example.com'))
        case 'STARTTLS':
          return play(script.other?.(line), () => (offersStarttls() ? upgrade() : say('502 5.5.1 Not offered')))
        case 'AUTH':
          return authenticate(line)
        case 'MAIL': {
          counted.mails += 1
          const sender = /^MAIL FROM:<([^>]*)>/i.exec(line)?.[1]
          return play(script.mail?.(sender ?? '', counted.mails), () => {
            if (sender === undefined) return say('501 5.5.4 Syntax')
            from = sender
            envelope = { from: sender, to: [] }
            say('250 2.1.0 OK')
          })
        }
        case 'RCPT': {
          const to = /^RCPT TO:<([^>]*)>/i.exec(line)?.[1] ?? ''
          const offered = (counted.offered.get(to) ?? 0) + 1
          counted.offered.set(to, offered)
          return play(script.rcpt?.(to, offered), () => {
            if (from === null) return say('503 5.5.1 MAIL first')
            envelope.to.push(to)
            say('250 2.1.5 OK')
          })
        }
        case 'DATA':
          counted.data += 1
          return play(script.data?.(counted.data), () => {
            if (envelope.to.length === 0) return say('503 5.5.1 RCPT first')
            body = []
            say('354 Send the message')
          })
        case 'QUIT':
          say('221 2.0.0 Bye')
          return void socket.end()
        case 'RSET':
          envelope = { from: '', to: [] }
          from = null
          return play(script.other?.(line), () => say('250 2.0.0 OK'))
        case 'NOOP':
          return play(script.other?.(line), () => say('250 2.0.0 OK'))
        default:
          return play(script.other?.(line), () => say('500 5.5.2 Unknown command'))
      }
    }

    const offersStarttls = () => kind === 'starttls' && !secured && script.offers?.starttls !== false
    const greet = () => {
      const lines = ['fake.example.com', '8BITMIME', 'SIZE 26214400', 'ENHANCEDSTATUSCODES']
      if (script.offers?.smtputf8 !== false) lines.push('SMTPUTF8')
      if (script.offers?.pipelining) lines.push('PIPELINING')
      if (script.offers?.auth !== false) lines.push(`AUTH ${script.offers?.mechanisms ?? 'PLAIN LOGIN'}`)
      if (offersStarttls()) lines.push('STARTTLS')
      return lines.map((line, at) => `250${at === lines.length - 1 ? ' ' : '-'}${line}`)
    }

    const authenticate = (line: string) => {
      counted.auth += 1
      fake.authTries += 1
      const [, method = '', first] = line.split(' ')
      const judge = (user: string, pass: string) =>
        play(script.auth?.(counted.auth), () =>
          say(user === fake.login.user && pass === fake.login.pass ? '235 2.7.0 Welcome' : '535 5.7.8 Username and Password not accepted'),
        )
      const judgePlain = (text: string) => {
        const [, user = '', pass = ''] = Buffer.from(text, 'base64').toString('utf8').split('\0')
        judge(user, pass)
      }
      const ask = (prompt: string, next: (answer: string) => void) => {
        expects = next
        busy = false
        say(prompt)
      }
      if (method.toUpperCase() === 'PLAIN') return first ? judgePlain(first) : ask('334 ', judgePlain)
      if (method.toUpperCase() !== 'LOGIN') return play('504 5.5.4 Unknown method', () => undefined)
      const askPass = (user: string) =>
        ask('334 UGFzc3dvcmQ6', (pass) => judge(Buffer.from(user, 'base64').toString(), Buffer.from(pass, 'base64').toString()))
      return first ? askPass(first) : ask('334 VXNlcm5hbWU6', askPass)
    }

    const upgrade = () => {
      say('220 2.0.0 Go ahead')
      plain.removeAllListeners('data')
      input = Buffer.alloc(0)
      secure()
    }
    const secure = () => {
      secured = true
      socket = new tls.TLSSocket(plain, { isServer: true, secureContext: context })
      listen(socket)
      return socket
    }
    const listen = (on: net.Socket) => {
      on.on('data', (chunk: Buffer) => {
        // Joined once the end of a large email has arrived, not for each part.
        const seen = Buffer.concat([(held.at(-1) ?? input).subarray(-4), chunk])
        if (body !== null && input.length > 4 && chunk.length > 4 && !seen.includes('\r\n.\r\n')) {
          held.push(chunk)
          return
        }
        input = Buffer.concat([input, ...held.splice(0), chunk])
        read()
      })
      // A client may disconnect at any time.
      on.on('error', () => undefined)
    }
    const connection = counted.connections
    const welcome = () => play(script.greeting?.(connection), () => say('220 fake.example.com ESMTP'))
    if (kind === 'ssl') secure().once('secure', welcome)
    else {
      listen(plain)
      welcome()
    }
  }

  const server = net.createServer({ noDelay: true }, talk)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The fake SMTP server has no port.')
  fake.port = address.port
  return fake
}

const dotLine = Buffer.from('.\r\n')

/** Removes dot-stuffing (RFC 5321, 4.5.2). */
function unstuff(data: Buffer): Buffer {
  if (data[0] !== 0x2e && data.indexOf('\r\n.') < 0) return Buffer.from(data)
  return Buffer.from(data.toString('latin1').replace(/^\./gm, ''), 'latin1')
}

/** One header of an email, unfolded; null if it is missing. */
function header(raw: Buffer, name: string): string | null {
  const end = raw.indexOf('\r\n\r\n')
  const head = raw
    .subarray(0, end < 0 ? raw.length : end)
    .toString('utf8')
    .replace(/\r\n[ \t]+/g, ' ')
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':')
    if (line.slice(0, colon).toLowerCase() === name) return line.slice(colon + 1).trim()
  }
  return null
}
