import { expect, test } from 'vitest'
import { reminderCalls } from '#contract/reminders.ts'
import { aMailbox, anInvoice, aPerson } from '#test/factories.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask, openTestApp } from '#test/harness.ts'
import { operate } from './commands.ts'

test('the operator’s page opens by a link of the command line, once, for ten minutes, and names no client', async () => {
  await using app = await openTestApp({ now: Temporal.Now.instant().toString() })
  await using smtp = await openFakeSmtp()
  const owner = await aPerson(app, { email: 'asha<b>@example.com' })
  await aMailbox(app, owner, smtp)
  for (const name of ['kaveri', 'zoe'])
    await anInvoice(app, { owner, clientName: name, clientEmail: `${name}@example.com`, dueDate: '2026-01-01' })
  await app.whileJobsRun(ask(app, owner, reminderCalls.start))
  const link = async () => {
    const [url = ''] = (await operate(app.deps, ['operator-link'])).lines
    expect(url).toMatch(/^http:\/\/localhost:0\/operator\?link=[\w-]{43}$/)
    return url.split('?link=')[1] ?? ''
  }
  const get = (query = '', cookie = '') => app.app.inject({ url: `/operator${query}`, headers: { cookie } })
  const open = (token: string) =>
    app.app.inject({
      method: 'POST',
      url: '/operator',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: `link=${token}`,
    })

  expect([(await get()).statusCode, (await open('guessed')).statusCode]).toEqual([403, 403])
  const replaced = await link()
  const token = await link()
  expect((await open(replaced)).statusCode).toBe(403)
  // Looking at the address does not use it up.
  expect((await get(`?link=${token}`)).body).toContain('<button>Open</button>')
  expect((await get('?link=%22%3E%3Cscript%3E')).body).not.toContain('<script')
  expect([(await get(`?link=${'a'.repeat(101)}`)).statusCode, (await open('a'.repeat(101))).statusCode]).toEqual([403, 403])
  const opened = await open(token)
  expect([opened.statusCode, opened.headers.location]).toEqual([303, '/operator'])
  expect(opened.headers['set-cookie']).toMatch(/^duely_operator=.*; Path=\/operator; HttpOnly; SameSite=Strict$/)
  expect((await open(token)).statusCode).toBe(403)

  const cookie = String(opened.headers['set-cookie']).split(';')[0] ?? ''
  const page = await get('', cookie)
  expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'nonce-/)
  expect(page.body).toMatch(/<td>Accounts<\/td><td class="n">1<\/td>.*<td>Open invoices<\/td><td class="n">2<\/td>/)
  expect(page.body).toMatch(
    /<h2>Workers<\/h2>.*<h2>Busiest accounts of the last hour<\/h2>.*asha&#60;b&#62;@example\.com<\/td><td class="n">[\d.]+<\/td><td class="n">2<\/td>/s,
  )
  expect(page.body).not.toMatch(/kaveri|zoe/)
  // It opens no call, and ends.
  expect((await app.app.inject({ url: '/invoice', headers: { cookie } })).statusCode).toBe(401)
  app.clock.advance({ minutes: 31 })
  expect((await get('', cookie)).statusCode).toBe(403)
  const late = await link()
  app.clock.advance({ minutes: 11 })
  expect((await open(late)).statusCode).toBe(403)
})
