import { createTransport } from 'nodemailer'
import { expect, test } from 'vitest'
import { openCatchingSmtp } from './catching-smtp.ts'

test('an email sent with any login is shown completely, and its scripts do not run', async () => {
  await using mail = await openCatchingSmtp({ smtp: 0, web: 0 })
  expect(await (await fetch(mail.url)).text()).toContain('No emails yet')

  await createTransport({ host: '127.0.0.1', port: mail.smtpPort, auth: { user: 'asha@example.com', pass: 'anything' } }).sendMail({
    from: 'Asha <asha@example.com>',
    to: 'client@example.com',
    subject: 'Invoice <b>INV-0001</b>',
    text: 'Dear client',
    html: '<p>Dear <b>client</b></p><script>alert(1)</script>',
  })

  const list = await (await fetch(mail.url)).text()
  expect(list).toContain('client@example.com')
  expect(list).toContain('Invoice &lt;b&gt;INV-0001&lt;/b&gt;')
  const whole = await (await fetch(`${mail.url}/mail/1`)).text()
  for (const part of [
    'Asha &lt;asha@example.com&gt;',
    'Dear client',
    'Message-ID',
    '<iframe title="The email as HTML" sandbox="allow-popups',
  ])
    expect(whole).toContain(part)
  expect(whole).not.toContain('allow-scripts')
  const html = await fetch(`${mail.url}/mail/1/html`)
  expect(await html.text()).toContain('<p>Dear <b>client</b></p>')
  expect(html.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(await (await fetch(`${mail.url}/mail/1/raw`)).text()).toMatch(/^Subject: Invoice/m)
})
