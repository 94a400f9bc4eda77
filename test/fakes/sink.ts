import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type net from 'node:net'
import tls from 'node:tls'
import { makeCertificate } from './certificate.ts'

/**
 * An SMTP server (implicit TLS, any login) in a process of its own that accepts every email and stores none, so that receiving a burst takes nothing
 * from what is measured.
 */
export interface Sink extends Disposable {
  port: number
  reset(): Promise<void>
  /** How many emails arrived since, and when the first and the last one did, by the machine's clock. */
  seen(): Promise<Seen>
}

interface Seen {
  received: number
  firstAt: number
  lastAt: number
}

/** Milliseconds before the reply to the dot, and before every other reply. */
export async function openSink({ dotMs = 0, replyMs = 0 } = {}): Promise<Sink> {
  const child: ChildProcess = fork(import.meta.filename, [String(dotMs), String(replyMs)], { execArgv: [] })
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  const ask = async (asked: object) => {
    const answered = once(child, 'message')
    child.send(asked)
    return (await answered)[0] as Seen
  }
  return { port, seen: () => ask({}), reset: async () => void (await ask({ reset: true })), [Symbol.dispose]: () => void child.kill() }
}

function serve(dotMs: number, replyMs: number): void {
  let received = 0
  let firstAt = 0
  let lastAt = 0

  const server = tls.createServer(makeCertificate(['127.0.0.1']), (socket) => {
    socket.setNoDelay(true)
    let rest = ''
    let inMail = false
    const say = (text: string, ms: number) => {
      const write = () => socket.writable && socket.write(`${text}\r\n`)
      if (ms === 0) write()
      else setTimeout(write, ms)
    }
    say('220 sink ready', replyMs)
    socket.setEncoding('latin1')
    socket.on('error', () => undefined)
    socket.on('data', (text: string) => {
      rest += text
      for (;;) {
        if (inMail) {
          const end = rest.indexOf('\r\n.\r\n')
          if (end < 0) {
            // Only the end of the message matters.
            rest = rest.slice(-4)
            return
          }
          rest = rest.slice(end + 5)
          inMail = false
          received += 1
          lastAt = performance.timeOrigin + performance.now()
          firstAt ||= lastAt
          say('250 2.0.0 Accepted', dotMs + replyMs)
          continue
        }
        const end = rest.indexOf('\r\n')
        if (end < 0) return
        const verb = rest.slice(0, 4).toUpperCase()
        rest = rest.slice(end + 2)
        if (verb === 'EHLO') say('250-sink\r\n250-8BITMIME\r\n250 AUTH PLAIN', replyMs)
        else if (verb === 'AUTH') say('235 2.7.0 Welcome', replyMs)
        else if (verb === 'DATA') {
          say('354 Send the message', replyMs)
          inMail = true
        } else if (verb === 'QUIT') socket.end('221 2.0.0 Bye\r\n')
        else say('250 2.0.0 OK', replyMs)
      }
    })
  })
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as net.AddressInfo).port }))
  process.on('message', (asked: { reset?: boolean }) => {
    if (asked.reset) [received, firstAt, lastAt] = [0, 0, 0]
    process.send?.({ received, firstAt, lastAt })
  })
  process.on('disconnect', () => process.exit(0))
}

if (import.meta.main) {
  const [dotMs = 0, replyMs = 0] = process.argv.slice(2).map(Number)
  serve(dotMs, replyMs)
}
