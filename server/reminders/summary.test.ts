import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { ownerLinkCalls } from '#contract/owner-links.ts'
import { paymentCalls } from '#contract/payments.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { accounts } from '#server/accounts/tables.ts'
import { invoices } from '#server/invoices/tables.ts'
import { aMailbox, anInvoice, aPerson, type Person, signedInAgain } from '#test/factories.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { readEmail } from '#test/read-email.ts'
import { buyOnce, openShop, type Shop } from '#test/shop.ts'
import { addOwnerLink } from './owner-links.ts'
import { ownerLinks } from './tables.ts'

const change = async (app: TestApp, person: Person, weeklySummary: boolean) =>
  ask(app, await signedInAgain(app, person), reminderCalls.changeSettings, { body: { weeklySummary } })

type System = Record<'systemSmtpUrl' | 'systemMailFrom' | 'publicUrl', string>

/** A server with email of its own. */
async function onServer(open: (config: System) => Promise<{ app: TestApp } & AsyncDisposable>) {
  const smtp = await openFakeSmtp()
  const system = {
    systemSmtpUrl: `smtp://127.0.0.1:${smtp.port}`,
    systemMailFrom: 'hello@duely.example',
    publicUrl: 'https://duely.example',
  }
  const opened = await open(system)
  const { app } = opened
  const summaries = () => smtp.mails.filter((mail) => mail.subject === 'Your weekly summary')
  return {
    app,
    async at(instant: string) {
      app.clock.set(instant)
      await app.runJobs()
      return summaries().length
    },
    last: () => readEmail(summaries().at(-1)?.raw),
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]()
      await smtp[Symbol.asyncDispose]()
    },
  }
}

const inIndia = () =>
  onServer(async (config) => {
    const app = await openTestApp({ now: '2026-02-20T06:00:00Z', config })
    return { app, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() }
  })

test('on Monday at 8:00 the weekly summary has what happened in the week before, and what is planned', async () => {
  await using server = await inIndia()
  const { app } = server
  const asha = await aPerson(app, { confirmed: true })
  await using clients = await openFakeSmtp()
  clients.answer({ rcpt: (to) => (to === 'gone@example.com' ? '550 5.1.1 No such user' : undefined) })
  await aMailbox(app, asha, clients)
  const paid = await anInvoice(app, { owner: asha, dueDate: '2026-02-10', amount: 5000 })
  await anInvoice(app, { owner: asha, clientEmail: 'gone@example.com', dueDate: '2026-02-23' })
  const promised = await anInvoice(app, { owner: asha, clientEmail: 'later@example.com', dueDate: '2026-02-10' })
  await app.db.update(invoices).set({ promisedUntil: '2026-03-01' }).where(eq(invoices.id, promised._id))
  expect((await change(app, asha, true)).reply.weeklySummary).toBe(true)
  app.clock.set('2026-02-25T06:00:00Z')
  const now = await signedInAgain(app, asha)
  await app.whileJobsRun(ask(app, now, reminderCalls.start))
  const about = { amount: 5000, paidOn: '2026-02-25' }
  expect((await ask(app, now, paymentCalls.record, { params: { id: paid._id }, body: about })).status).toBe(201)
  await app.db
    .update(accounts)
    .set({ nextRunAt: Temporal.Instant.from('2026-03-02T03:30:00Z') })
    .where(eq(accounts.id, asha.id))
  expect([await server.at('2026-03-02T02:29:59Z'), await server.at('2026-03-02T02:30:00Z')]).toEqual([0, 1])
  const { text, to } = await server.last()
  expect(to?.[0]?.address).toBe(asha.email)
  expect(text).toContain(
    'Paid: ₹5,000.00 for 1 invoice\nSent: 2 reminders\nNot delivered: 1 reminder\nNot paid as promised: 1 invoice\nNewly overdue: 1 invoice\nThis week: 7 reminders to 1 client\n',
  )
  expect(await server.at('2026-03-08T20:00:00Z')).toBe(1)
})

test('a week with nothing to report has no summary', async () => {
  await using server = await inIndia()
  const asha = await aPerson(server.app, { confirmed: true })
  await change(server.app, asha, true)
  expect([await server.at('2026-02-23T02:30:00Z'), await server.at('2026-03-02T02:30:00Z')]).toEqual([0, 0])
  await anInvoice(server.app, { owner: asha, dueDate: '2026-03-05' })
  expect(await server.at('2026-03-09T02:30:00Z')).toBe(1)
})

test('what an import created as paid is not among what was paid in the week, and what a later import records of it is', async () => {
  await using server = await inIndia()
  const { app } = server
  const asha = await aPerson(app, { confirmed: true })
  await change(app, asha, true)
  const line = { clientName: 'Old', clientEmail: 'old@example.com', amount: 1000, dueDate: '2026-01-10' }
  const part = { ...line, reference: 'Z-2', status: 'overdue' as const, amountPaid: 400 }
  const lines = [{ ...line, reference: 'Z-1', status: 'paid' as const }, part]
  expect((await ask(app, asha, invoiceCalls.import, { body: { lines, source: 'zoho' } })).reply.imported).toBe(2)
  await anInvoice(app, { owner: asha, dueDate: '2026-02-21' })
  expect(await server.at('2026-02-23T02:30:00Z')).toBe(1)
  expect((await server.last()).text).not.toContain('Paid:')
  const again = { lines: [{ ...part, amountPaid: 700 }], source: 'zoho', onExisting: 'update' as const }
  await ask(app, await signedInAgain(app, asha), invoiceCalls.import, { body: again })
  expect(await server.at('2026-03-02T02:30:00Z')).toBe(2)
  expect((await server.last()).text).toContain('Paid: ₹300.00 for 1 invoice')
})

test('the summary moves with the time zone, and there is one a week', async () => {
  await using server = await inIndia()
  const { app } = server
  const asha = await aPerson(app, { confirmed: true })
  await anInvoice(app, { owner: asha, dueDate: '2026-02-21' })
  await change(app, asha, true)
  await ask(app, asha, accountCalls.changeProfile, { body: { timezone: 'America/New_York' } })
  expect([await server.at('2026-02-23T12:59:59Z'), await server.at('2026-02-23T13:00:00Z')]).toEqual([0, 1])
  await ask(app, await signedInAgain(app, asha), accountCalls.changeProfile, { body: { timezone: 'Pacific/Honolulu' } })
  await anInvoice(app, { owner: asha, dueDate: '2026-02-27' })
  expect([await server.at('2026-03-02T17:59:59Z'), await server.at('2026-03-02T18:00:00Z')]).toEqual([1, 2])
})

test.for([
  ['2026-03-02T14:30:00Z', 1],
  ['2026-03-02T14:30:01Z', 0],
] as const)('a server that was down until %s sends %i summary', async ([back, sent]) => {
  await using server = await inIndia()
  const asha = await aPerson(server.app, { confirmed: true })
  await change(server.app, asha, true)
  await server.at('2026-02-23T02:30:00Z')
  await anInvoice(server.app, { owner: asha, dueDate: '2026-02-25' })
  expect(await server.at(back)).toBe(sent)
})

test('an address that is not confirmed, and a server without email of its own, have no summaries', async () => {
  await using server = await inIndia()
  const unconfirmed = await aPerson(server.app)
  await anInvoice(server.app, { owner: unconfirmed, dueDate: '2026-02-21' })
  await change(server.app, unconfirmed, true)
  expect(await server.at('2026-02-23T02:30:00Z')).toBe(0)
  await using app = await openTestApp()
  const asha = await aPerson(app, { confirmed: true })
  expect((await change(app, asha, true)).problem).toMatchObject({ code: 'invalid', message: 'This server sends no mail of its own.' })
  expect((await change(app, asha, false)).reply.weeklySummary).toBe(false)
})

test('without a plan that has daily reminders the summary cannot be turned on, and one that is on waits for such a plan', async () => {
  let shop: Shop | null = null
  await using server = await onServer(async (config) => {
    shop = await openShop({ now: '2026-02-20T06:00:00Z', config })
    return shop
  })
  const { app } = server
  const asha = await aPerson(app, { confirmed: true })
  await change(app, asha, true)
  for (const monday of ['2026-02-23', '2026-03-02', '2026-03-09']) await server.at(`${monday}T02:30:00Z`)
  await anInvoice(app, { owner: asha, dueDate: '2026-03-11' })
  expect(await server.at('2026-03-16T02:30:00Z')).toBe(0)
  const now = await signedInAgain(app, asha)
  expect((await ask(app, now, reminderCalls.changeSettings, { body: { weeklySummary: true } })).problem?.code).toBe('plan_limit')
  if (shop) await buyOnce(shop, now, 'pro')
  await anInvoice(app, { owner: asha, dueDate: '2026-03-18' })
  expect(await server.at('2026-03-23T02:30:00Z')).toBe(1)
})

test.for([
  ['application/x-www-form-urlencoded', 'List-Unsubscribe=One-Click'],
  ['multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n'],
] as const)('one POST as RFC 8058 describes, of the kind %s, ends the summaries', async ([type, payload]) => {
  await using server = await inIndia()
  const { app } = server
  const asha = await aPerson(app, { confirmed: true })
  await anInvoice(app, { owner: asha, dueDate: '2026-02-21' })
  await change(app, asha, true)
  await server.at('2026-02-23T02:30:00Z')
  const { headers, html } = await server.last()
  const header = (name: string) => headers.find(({ key }) => key === name)?.value
  expect(header('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click')
  const url = header('list-unsubscribe')?.slice(1, -1) ?? ''
  expect(url).toMatch(/^https:\/\/duely\.example\/summary\/unsubscribe\?token=[\w-]{43}$/)
  expect(html).toContain(`href="${url}"`)
  const isOn = async () => (await ask(app, await signedInAgain(app, asha), reminderCalls.settings)).reply.weeklySummary
  const path = url.slice('https://duely.example'.length)
  for (const method of ['GET', 'HEAD'] as const) await app.app.inject({ method, url: path })
  expect(await isOn()).toBe(true)
  expect((await app.app.inject({ method: 'POST', url: path, headers: { 'content-type': type }, payload })).statusCode).toBe(204)
  expect(await isOn()).toBe(false)
  await anInvoice(app, { owner: asha, dueDate: '2026-02-27' })
  expect(await server.at('2026-03-02T02:30:00Z')).toBe(1)
})

test('a link that was never made, has expired, or was sent to a former address changes nothing', async () => {
  await using server = await inIndia()
  const { app } = server
  const asha = await aPerson(app, { confirmed: true })
  await change(app, asha, true)
  const made = (days: number) =>
    addOwnerLink(app.db, { ownerId: asha.id, purpose: 'end_summaries', expiresAt: app.clock.now().add({ hours: 24 * days }) })
  const end = (token: string) => ask(app, null, ownerLinkCalls.endSummaries, { query: { token } })
  const expired = await made(1)
  app.clock.advance({ hours: 24 })
  const refused = [await end('forged'), await end(expired)]
  expect(refused.map(({ status, problem }) => [status, problem])).toEqual([
    [404, { code: 'not_found', message: 'This link does not work any more.' }],
    [404, { code: 'not_found', message: 'This link does not work any more.' }],
  ])
  expect((await ask(app, await signedInAgain(app, asha), reminderCalls.settings)).reply.weeklySummary).toBe(true)
  const sent = await made(90)
  await using plain = await openTestApp()
  const person = await aPerson(plain, { password: 'a long password' })
  await addOwnerLink(plain.db, { ownerId: person.id, purpose: 'end_summaries', expiresAt: plain.clock.now().add({ hours: 1 }) })
  const moved = { email: 'new@example.com', currentPassword: 'a long password' }
  expect((await ask(plain, person, accountCalls.changeProfile, { body: moved })).status).toBe(200)
  expect([await plain.db.select().from(ownerLinks), sent.length]).toEqual([[], 43])
})
