// Also on PostgreSQL: two triggers of a day meet on one row.
import { expect, test } from 'vitest'
import { integrationCalls } from '#contract/integrations.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { anInvoice, anOffice, aPerson } from '#test/factories.ts'
import { ask, openTestApp } from '#test/harness.ts'
import { aKey, anApplication, connect } from '#test/programs.ts'

const nobody = { count: 0, failed: 0, skipped: 0, retrying: 0, total: 0, invoices: 0, runId: null, failures: [] }

test.each(['a session', 'a token', 'a key'] as const)('%s reminds of every invoice past due once a day', async (by) => {
  await using office = await anOffice({ now: '2026-03-02T04:30:00Z' })
  const { app, asha, smtp } = office
  const someone = by === 'a session' ? asha : by === 'a key' ? await aKey(app, asha) : await connect(app, asha, await anApplication(app))
  const trigger = () => app.whileJobsRun(ask(app, someone, integrationCalls.trigger))
  expect(await trigger()).toMatchObject({ status: 200, reply: nobody })
  await anInvoice(app, { owner: asha })
  await anInvoice(app, { owner: asha, clientEmail: 'accounts@mills.example' })
  await anInvoice(app, { owner: asha, status: 'paid' })
  expect(await trigger()).toMatchObject({ status: 200, reply: { count: 2, skipped: 0, total: 2, invoices: 2, runId: expect.any(String) } })
  expect(smtp.mails).toHaveLength(2)
  // A Zap that triggers on every reminder runs once.
  for (let n = 0; n < 3; n += 1) expect(await trigger()).toMatchObject({ status: 200, reply: { ...nobody, skipped: 2, total: 2 } })
  await anInvoice(app, { owner: asha, clientEmail: 'new@client.example' })
  expect((await trigger()).reply).toMatchObject({ count: 1, skipped: 2, total: 3 })
  expect(smtp.mails).toHaveLength(3)
  const runs = (await ask(app, asha, reminderCalls.runs, { query: {} })).reply
  expect(runs.map(({ kind, sent }) => [kind, sent])).toEqual([
    ['trigger', 1],
    ['trigger', 2],
  ])
  app.clock.advance({ hours: 24 })
  expect((await app.whileJobsRun(ask(app, asha, integrationCalls.trigger))).reply).toMatchObject({ count: 3, skipped: 0 })
})

test('a trigger reminds of the chosen invoices only, and ignores what else its body has', async () => {
  await using office = await anOffice({ now: '2026-03-02T04:30:00Z', invoices: 2 })
  const { app, asha, smtp, invoices } = office
  const body = { invoiceIds: [invoices[1]?._id ?? ''] }
  expect((await app.whileJobsRun(ask(app, asha, integrationCalls.trigger, { body }))).reply).toMatchObject({
    count: 1,
    skipped: 0,
    total: 1,
  })
  expect(smtp.mails.map(({ envelope }) => envelope.to[0])).toEqual([invoices[1]?.clientEmail])
  expect((await app.whileJobsRun(ask(app, asha, integrationCalls.trigger, { body }))).reply).toMatchObject({
    count: 0,
    skipped: 1,
    total: 1,
  })
  const other = { bundle: 1 } as object
  expect((await app.whileJobsRun(ask(app, asha, integrationCalls.trigger, { body: other }))).reply).toMatchObject({ count: 1, skipped: 1 })
})

test('simultaneous triggers send one email', async () => {
  await using office = await anOffice({ now: '2026-03-02T04:30:00Z' })
  const { app, asha, smtp } = office
  await anInvoice(app, { owner: asha })
  const key = await aKey(app, asha)
  const asked = Promise.all(Array.from({ length: 10 }, () => ask(app, key, integrationCalls.trigger)))
  const answered = await app.whileJobsRun(asked)
  expect(answered.map(({ status }) => status)).toEqual(Array(10).fill(200))
  expect(answered.reduce((sum, { reply }) => sum + reply.count, 0)).toBe(1)
  expect(smtp.mails).toHaveLength(1)
})

test('a request that announces JSON and has no body is accepted', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const headers = { authorization: `Bearer ${asha.token}`, 'content-type': 'application/json' }
  const ask = (url: string) => app.app.inject({ method: 'POST', url, headers, payload: '' })
  expect((await ask('/api/trigger-reminders')).json()).toMatchObject({ code: 'mail_not_configured' })
  expect((await ask('/invoice')).json()).toMatchObject({ code: 'invalid' })
})

test('without a mailbox the trigger is refused', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  await anInvoice(app, { owner: asha })
  expect((await ask(app, asha, integrationCalls.trigger)).problem).toEqual({
    code: 'mail_not_configured',
    message: 'Please configure your email settings first before sending reminders.',
  })
})

test('the trigger answers with the reply of a mail server that refuses every reminder', async () => {
  await using office = await anOffice({ now: '2026-03-02T04:30:00Z' })
  const { app, asha, smtp } = office
  smtp.answer({ rcpt: () => '550 5.1.1 No such user here' })
  await anInvoice(app, { owner: asha })
  const refused = await app.whileJobsRun(ask(app, await aKey(app, asha), integrationCalls.trigger))
  expect(refused).toMatchObject({ status: 502, problem: { code: 'mail_refused', message: expect.stringContaining('No such user here') } })
})

test('a client that triggers again on failure does not repeat a permanent refusal, until the address changes', async () => {
  await using office = await anOffice({ now: '2026-03-02T04:30:00Z' })
  const { app, asha, smtp } = office
  const key = await aKey(app, asha)
  const wrong = await anInvoice(app, { owner: asha, clientEmail: 'gone@client.example' })
  const trigger = () => app.whileJobsRun(ask(app, key, integrationCalls.trigger))
  let offered = 0
  smtp.answer({
    rcpt: (to) => {
      if (to !== 'gone@client.example') return undefined
      offered += 1
      return '550 5.1.1 No such user here'
    },
  })
  expect((await trigger()).status).toBe(502)
  for (let n = 0; n < 3; n += 1) expect(await trigger()).toMatchObject({ status: 200, reply: { ...nobody, skipped: 1, total: 1 } })
  expect(offered).toBe(1)
  // Reminders to the address are on hold until it changes.
  app.clock.advance({ hours: 24 })
  expect(await trigger()).toMatchObject({ status: 200, reply: { ...nobody, skipped: 1, total: 1 } })
  expect(offered).toBe(1)
  await ask(app, asha, invoiceCalls.update, { params: { id: wrong._id }, body: { clientEmail: 'right@client.example' } })
  expect((await trigger()).reply).toMatchObject({ count: 1, total: 1 })
})

test('a deferred email is counted as retrying', async () => {
  await using office = await anOffice({ now: '2026-03-02T04:30:00Z' })
  const { app, asha, smtp } = office
  smtp.answer({ mail: () => '451 4.3.0 Later' })
  await anInvoice(app, { owner: asha })
  const answered = await app.whileJobsRun(ask(app, await aKey(app, asha), integrationCalls.trigger))
  expect(answered).toMatchObject({ status: 200, reply: { count: 0, retrying: 1, total: 1 } })
})
