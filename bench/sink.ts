import type net from 'node:net'
import tls from 'node:tls'
import { makeCertificate } from '#test/fakes/certificate.ts'

/**
 * An SMTP server (implicit TLS) in a process of its own that accepts every email and stores none; it reports to its parent when the first and
 * the last one arrived. Arguments: milliseconds before the reply to the dot, and before every other reply.
 */
const [dotMs = 0, replyMs = 0] = process.argv.slice(2).map(Number)
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
