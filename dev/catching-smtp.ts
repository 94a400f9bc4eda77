import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { type CaughtMail, mailPage, mailsPage } from './mail-pages.ts'

/** The most emails kept; the oldest are dropped. */
const most = 500

export interface CatchingSmtp extends AsyncDisposable {
  smtpPort: number
  /** The address of the page that lists the emails. */
  url: string
  mails: CaughtMail[]
}

/** A fake mail server on loopback: accepts every login and every email, delivers none, and shows them in the browser. */
export async function openCatchingSmtp(ports: { smtp: number; web: number }): Promise<CatchingSmtp> {
  const mails: CaughtMail[] = []
  let count = 0
  const keep = async (raw: Buffer, to: string[]) => {
    const mail = await PostalMime.parse(raw)
    count += 1
    mails.unshift({
      id: count,
      at: new Date(),
      from: mail.from ? [mail.from.name, mail.from.address && `<${mail.from.address}>`].filter(Boolean).join(' ') : '',
      to: to.join(', '),
      subject: mail.subject ?? '(no subject)',
      html: mail.html ?? null,
      text: mail.text ?? null,
      headers: mail.headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
      raw: raw.toString('utf8'),
    })
    mails.splice(most)
  }

  const smtp = new SMTPServer({
    banner: 'Fake mail server of Duely, delivers nothing',
    authOptional: true,
    // Loopback needs no encryption, and there is no certificate that a client would trust.
    hideSTARTTLS: true,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    logger: false,
    onAuth: (auth, _session, done) => done(null, { user: auth.username ?? 'anyone' }),
    onData(stream, session, done) {
      const parts: Buffer[] = []
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.on('end', () => {
        keep(
          Buffer.concat(parts),
          session.envelope.rcptTo.map(({ address }) => address),
        ).then(
          () => done(),
          (error: Error) => done(error),
        )
      })
    },
  })
  smtp.on('error', () => undefined)
  await new Promise<void>((resolve, reject) => {
    smtp.server.once('error', reject)
    smtp.listen(ports.smtp, '127.0.0.1', () => resolve())
  })

  const web = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const say = (status: number, type: string, body: string) =>
      response
        .writeHead(status, {
          'content-type': `${type}; charset=utf-8`,
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
          // An email's content must not run scripts or make requests.
          'content-security-policy':
            "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-src 'self'; frame-ancestors 'self'",
        })
        .end(body)
    if (pathname === '/') return say(200, 'text/html', mailsPage(mails, (smtp.server.address() as AddressInfo).port))
    const [, id, part] = /^\/mail\/(\d+)(?:\/(html|raw))?$/.exec(pathname) ?? []
    const mail = mails.find((one) => one.id === Number(id))
    if (!mail) return say(404, 'text/html', mailsPage(mails, (smtp.server.address() as AddressInfo).port))
    switch (part) {
      case 'html':
        // Links open in a tab of their own: the frame must not show another page.
        return say(200, 'text/html', `${mail.html ?? ''}<base target="_blank">`)
      case 'raw':
        return say(200, 'text/plain', mail.raw)
      default:
        return say(200, 'text/html', mailPage(mail))
    }
  })
  await new Promise<void>((resolve, reject) => {
    web.once('error', reject)
    web.listen(ports.web, '127.0.0.1', () => resolve())
  })
  return {
    smtpPort: (smtp.server.address() as AddressInfo).port,
    url: `http://127.0.0.1:${(web.address() as AddressInfo).port}`,
    mails,
    async [Symbol.asyncDispose]() {
      web.close()
      web.closeAllConnections()
      await new Promise<void>((resolve) => smtp.close(() => resolve()))
    },
  }
}
