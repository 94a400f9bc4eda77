import net from 'node:net'
import { createTransport } from 'nodemailer'
import { expect, test } from 'vitest'
import { later, openFakeSmtp, reset } from './smtp-server.ts'

const mail = {
  from: 'asha@example.com',
  to: 'client@example.org',
  subject: 'Your invoice',
  text: '.\r\n.. a line that begins with a dot\r\n.',
}

for (const kind of ['none', 'starttls', 'ssl'] as const) {
  test(`the fake stores what it receives (TLS: ${kind})`, async () => {
    await using smtp = await openFakeSmtp({ tls: kind, delayMs: 1 })
    const { host, port, login, certificate } = smtp
    const tls = { ca: certificate, servername: 'smtp.example.com' }
    const transport = createTransport({ host, port, secure: kind === 'ssl', requireTLS: kind === 'starttls', auth: login, tls })
    await Promise.all([smtp.received(1), transport.sendMail(mail)])
    expect(smtp.mails[0]).toMatchObject({ envelope: { from: 'asha@example.com', to: ['client@example.org'] }, subject: 'Your invoice' })
    expect(smtp.mails[0]?.messageId).toMatch(/^<.+@example\.com>$/)
    expect(smtp.mails[0]?.raw.toString()).toContain('\r\n.\r\n.. a line that begins with a dot\r\n.\r\n')
    expect(smtp.commands.join()).not.toContain(Buffer.from(`\0${login.user}\0${login.pass}`).toString('base64'))
    transport.close()
  })
}

test('the fake refuses, delays and disconnects on request', async () => {
  await using smtp = await openFakeSmtp()
  const transport = createTransport({ host: smtp.host, port: smtp.port, auth: smtp.login })
  smtp.answer({ rcpt: (_to, offered) => (offered < 2 ? '450 4.7.1 Greylisted' : undefined) })
  await expect(transport.sendMail(mail)).rejects.toMatchObject({ responseCode: 450 })
  await transport.sendMail(mail)
  smtp.answer({ dot: (_mail, nth) => (nth === 1 ? reset : later(1, '552 5.2.2 Full')) })
  await expect(transport.sendMail(mail)).rejects.toThrow()
  await expect(transport.sendMail(mail)).rejects.toMatchObject({ responseCode: 552 })
  expect(smtp.mails).toHaveLength(2)
  smtp.login = { user: 'asha@example.com', pass: 'changed' }
  const stale = createTransport({ host: smtp.host, port: smtp.port, auth: { user: 'asha@example.com', pass: 'app-password' } })
  await expect(stale.sendMail(mail)).rejects.toMatchObject({ responseCode: 535 })
})

test('pipelined commands are answered in order', async () => {
  await using smtp = await openFakeSmtp()
  const socket = net.connect(smtp.port, smtp.host)
  socket.write('EHLO me\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\nDATA\r\n')
  socket.write('Subject: x\r\n\r\n.\r\nQUIT\r\n')
  const said: string[] = []
  for await (const chunk of socket) said.push(String(chunk))
  expect(said.join('').match(/^\d{3}(?= )/gm)).toEqual(['220', '250', '250', '250', '354', '250', '221'])
  expect(smtp.mails[0]?.raw.toString()).toBe('Subject: x\r\n\r\n')
})

test('a reset ends the connection immediately, also over TLS', async () => {
  for (const kind of ['none', 'starttls', 'ssl'] as const) {
    await using smtp = await openFakeSmtp({ tls: kind })
    smtp.answer({ dot: () => reset })
    const { host, port, login, certificate } = smtp
    const tls = { ca: certificate, servername: 'smtp.example.com' }
    const transport = createTransport({ host, port, secure: kind === 'ssl', requireTLS: kind === 'starttls', auth: login, tls })
    await expect(transport.sendMail(mail)).rejects.toMatchObject({ code: expect.stringMatching(/ESOCKET|ECONNECTION/) })
    expect(smtp.mails).toHaveLength(1)
    await smtp.quiet()
  }
})
