// Also on PostgreSQL: the statements of every call meet ids of every type.
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { businessCalls } from '#contract/business.ts'
import { businessHeader, type Call } from '#contract/call.ts'
import { fileLayoutCalls } from '#contract/file-layouts.ts'
import { everyCall } from '#contract/index.ts'
import { integrationCalls } from '#contract/integrations.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { mailCalls } from '#contract/mail.ts'
import { newStep } from '#contract/ready-sequences.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { sequenceCalls } from '#contract/sequences.ts'
import { rows } from '#server/platform/database.ts'
import { type FakeReceiver, openFakeReceiver } from '#test/fakes/receiver.ts'
import { type FakeSmtp, openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { aMailbox, anInvoice, aPerson, type Person, signedInAgain } from './factories.ts'
import { idsIn, mark, privateCalls, refusesField, requestWith, shapeOf, recordsOf as storedRecords, trespasses } from './filled.ts'
import { ask, openTestApp, type TestApp } from './harness.ts'
import { anApplication, connect } from './programs.ts'
import { thorough } from './thorough.ts'
import { aWebhook } from './webhooks.ts'

/** An account with a record of every kind that ordinary use creates. */
async function somebodyBusy(app: TestApp, smtp: FakeSmtp, receiver: FakeReceiver): Promise<Person> {
  const asha = await aPerson(app, { displayName: `Asha ${mark}`, email: `asha@${mark.toLowerCase()}.example` })
  await aMailbox(app, asha, smtp)
  await aWebhook(app, asha, receiver, { path: `/${mark}`, events: ['reminder.sent'] })
  const invoice = await anInvoice(app, { owner: asha, clientName: `${mark} Foods`, clientEmail: `billing@${mark.toLowerCase()}.example` })
  await anInvoice(app, { owner: asha, clientName: `${mark} Mills`, reference: `${mark}-7` })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  const deleted = await anInvoice(app, { owner: asha, clientName: `${mark} Traders` })
  await ask(app, asha, invoiceCalls.remove, { params: { id: deleted._id } })
  await app.runJobs()
  expect(receiver.calls).toHaveLength(2)
  expect(invoice._id).toHaveLength(36)
  await connect(app, asha, await anApplication(app, { name: `${mark} Robot` }))
  const steps = [newStep(1, 'friendly')]
  expect((await ask(app, asha, sequenceCalls.create, { body: { name: `${mark} sequence`, steps } })).status).toBe(201)
  const layout = {
    kind: 'bank' as const,
    headings: `${mark}|date|amount`,
    name: `${mark} bank`,
    answers: [{ question: 'order/date', answer: 'dmy' }],
  }
  await ask(app, asha, fileLayoutCalls.keep, { body: layout })
  await ask(app, asha, integrationCalls.addKey, { body: { name: `${mark} key`, scopes: ['read', 'write'] } })
  return asha
}

/** Every stored row of an account. */
function recordsOf(app: TestApp, { id }: Person): Promise<string[]> {
  return storedRecords(async (statement) => rows(app.db, z.record(z.string(), z.unknown()), sql.raw(statement)), id)
}

/** Of these ids one that names a row of each table; `npm run test:full` tries all of them. */
function triedIds(stored: string[], all: string[]): string[] {
  const named = stored.flatMap((line) => {
    const [, table = '', id] = /^(\w+) .*?"(?:id|place)":"([^"]+)"/.exec(line) ?? []
    return id && all.includes(id) ? [[table, id] as const] : []
  })
  return thorough ? all : [...new Map(named).values()]
}

async function askWith(app: TestApp, token: string, call: Call, id: string, extra: object = {}, headers: Record<string, string> = {}) {
  const { path, body } = requestWith(call, id)
  return app.app.inject({
    method: call.method,
    url: path.slice(path.indexOf(' ') + 1),
    headers: { authorization: `Bearer ${token}`, ...headers },
    ...(body ? { payload: { ...body, ...extra } } : {}),
  })
}

test('ids of another account, in path, query and body of every call, reveal and change nothing of that account', async () => {
  await using smtp = await openFakeSmtp()
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now: '2026-03-02T04:30:00Z', config: { allowPrivateWebhookHosts: true } })
  const asha = await somebodyBusy(app, smtp, receiver)
  const before = await recordsOf(app, asha)
  const ids = triedIds(before, idsIn(before.join(' ')))
  expect(ids.length).toBeGreaterThan(8)
  const wrong: string[] = []
  for (const call of privateCalls) {
    const meera = await aPerson(app)
    // A call that takes no id is one request. The other looks up a host, which takes its time and has nothing to do with ids.
    const different = new Map(ids.map((id) => [JSON.stringify(requestWith(call, id)), id])).values()
    const tried = call === mailCalls.configureSmtp ? ids.slice(0, 1) : [...different]
    const asked = Promise.all(tried.map((id) => askWith(app, meera.token, call, id)))
    const answers = await (call.path.startsWith('/reminder') ? app.whileJobsRun(asked) : asked)
    for (const [nth, answered] of answers.entries()) {
      const said = `${call.method} ${call.path} with ${tried[nth]}: ${answered.statusCode}`
      if (answered.body.includes(mark) || answered.body.toLowerCase().includes(mark.toLowerCase())) wrong.push(`${said} tells ${mark}`)
      if (call.path.includes(':') && answered.statusCode < 400) wrong.push(`${said} finds it`)
      if (answered.statusCode >= 500 && answered.statusCode !== 502 && answered.statusCode !== 503) wrong.push(`${said} fails`)
    }
  }
  expect(wrong).toEqual([])
  expect(await recordsOf(app, asha)).toEqual(before)
}, 900_000)

// 5 s.
test.runIf(thorough)(
  'in one business of a person, ids of another one of theirs reveal and change nothing of it',
  async () => {
    await using smtp = await openFakeSmtp()
    await using receiver = await openFakeReceiver()
    await using app = await openTestApp({ now: '2026-03-02T04:30:00Z', config: { allowPrivateWebhookHosts: true } })
    const asha = await somebodyBusy(app, smtp, receiver)
    await ask(app, asha, businessCalls.change, { body: { name: `${mark} Traders` } })
    const { reply: other } = await ask(app, asha, businessCalls.create, { body: { name: 'Other' } })
    const inOther = { [businessHeader]: other._id }
    // What is the person's is the same in both; the session knows which business was chosen last.
    const ofPerson = /^(sessions|person_entries|account_links) /
    const stored = async () => (await recordsOf(app, asha)).filter((line) => !ofPerson.test(line))
    const before = await stored()
    const all = idsIn(before.filter((line) => !/^(people|memberships) /.test(line)).join(' ')).filter((id) => id !== String(asha.personId))
    const ids = triedIds(before, all)
    expect(ids.length).toBeGreaterThan(8)
    const wrong: string[] = []
    for (const call of privateCalls.filter(({ by }) => by !== 'self')) {
      const { token } = await signedInAgain(app, asha)
      const different = new Map(ids.map((id) => [JSON.stringify(requestWith(call, id)), id])).values()
      const tried = call === mailCalls.configureSmtp ? ids.slice(0, 1) : [...different]
      const asked = Promise.all(tried.map((id) => askWith(app, token, call, id, {}, inOther)))
      const answers = await (call.path.startsWith('/reminder') ? app.whileJobsRun(asked) : asked)
      for (const [nth, answered] of answers.entries()) {
        const said = `${call.method} ${call.path} with ${tried[nth]}: ${answered.statusCode}`
        // The name of the person, and of their mailbox, is theirs in both.
        if (new RegExp(`${mark}( (Foods|Mills|Traders|sequence|key|Robot)|-7)`).test(answered.body)) wrong.push(`${said} tells ${mark}`)
        if (call.path.includes(':') && answered.statusCode < 400) wrong.push(`${said} finds it`)
        if (answered.statusCode >= 500 && answered.statusCode !== 502 && answered.statusCode !== 503) wrong.push(`${said} fails`)
      }
    }
    expect(wrong).toEqual([])
    expect(await stored()).toEqual(before)
  },
  900_000,
)

test('a body with an unknown field, such as owner or plan, is refused', async () => {
  await using app = await openTestApp()
  const accepted: string[] = []
  // The trigger had no body once, and programs send it what they like: it takes nothing from there but the ids of invoices.
  for (const call of everyCall.filter((one) => one.body && one !== integrationCalls.trigger)) {
    const { token, id } = await aPerson(app)
    for (const extra of trespasses(id)) {
      const [name = ''] = Object.keys(extra)
      if (call.body && name in (shapeOf(call.body).properties ?? {})) continue
      const answered = await askWith(app, token, call, id, extra)
      if (!refusesField(answered.statusCode, answered.body, name))
        accepted.push(`${call.method} ${call.path} with ${name}: ${answered.statusCode}`)
    }
  }
  expect(accepted).toEqual([])
})

test('no other site may read a response', async () => {
  await using app = await openTestApp()
  const { token } = await aPerson(app)
  const allowed: string[] = []
  for (const call of everyCall) {
    const url = call.path.replace(/:\w+/g, 'x')
    const headers = { origin: 'https://evil.example', authorization: `Bearer ${token}` }
    const asked = await app.app.inject({ method: call.method === 'GET' ? 'GET' : 'OPTIONS', url, headers })
    if (Object.keys(asked.headers).some((name) => name.startsWith('access-control-'))) allowed.push(`${call.method} ${call.path}`)
  }
  expect(allowed).toEqual([])
})
