// Also on PostgreSQL: saving compares a fingerprint under the lock of the account.
import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import type { Call, CallInput } from '#contract/call.ts'
import { clientCalls } from '#contract/clients.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { newStep, readySequences } from '#contract/ready-sequences.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { sequenceCalls, sequenceDraft } from '#contract/sequences.ts'
import { mostListed } from '#contract/templates.ts'
import { accounts } from '#server/accounts/tables.ts'
import { sequences } from '#server/invoices/tables.ts'
import { newId } from '#server/platform/columns.ts'
import { anInvoice, anOffice, aPerson, type Person, signedInAgain } from '#test/factories.ts'
import { later } from '#test/fakes/smtp-server.ts'
import { type Answered, ask, openTestApp, type TestApp } from '#test/harness.ts'
import { readEmail } from '#test/read-email.ts'
import { openShop } from '#test/shop.ts'

const morning = '2026-03-02T02:00:00Z'
const [ready] = readySequences
if (!ready) throw new Error('There is no sequence to begin from.')
const ours = sequenceDraft.parse({ name: 'Ours', steps: [newStep(1, 'friendly'), newStep(9, 'firm')] })

type Change = CallInput<typeof sequenceCalls.simulate>['body']

const create = async (app: TestApp, person: Person, name = 'Ours') =>
  (await ask(app, person, sequenceCalls.create, { body: { ...ours, name } })).reply._id
const clientOf = async (app: TestApp, person: Person) => (await ask(app, person, clientCalls.list)).reply[0]?._id ?? ''
const accountOf = async (app: TestApp, { id }: Person) => {
  const [row] = await app.db.select().from(accounts).where(eq(accounts.id, id))
  return { follows: row?.follows, sequenceId: row?.sequenceId, plansSteps: row?.plansSteps }
}
/** The sequence that applies to an invoice. */
const applies = async (app: TestApp, person: Person, id: string) =>
  (await ask(app, person, reminderCalls.history, { params: { id } })).reply.sequence

test('a sequence is listed behind those that every account has, and each change raises its version', async () => {
  await using office = await anOffice({ now: morning })
  const { app, asha } = office
  const created = await ask(app, asha, sequenceCalls.create, { body: { ...ready, steps: ready.steps.toReversed() } })
  expect(created).toMatchObject({ status: 201, reply: { ...ready, version: 1, builtIn: false, invoices: 0, clients: 0, isDefault: false } })
  const { _id: id } = created.reply
  const changed = { ...ours, name: 'Friendly', atMost: 3, everyDays: 7 }
  expect((await ask(app, asha, sequenceCalls.replace, { params: { id }, body: changed })).reply).toMatchObject({ ...changed, version: 2 })
  const { reply } = await ask(app, asha, sequenceCalls.list)
  expect(reply.map(({ name, builtIn, isDefault, steps }) => [name, builtIn, isDefault, steps.length])).toEqual([
    ['Every day', true, true, 1],
    ['Never by itself', true, false, 0],
    ['Friendly', false, false, 2],
  ])
  expect(await accountOf(app, asha)).toEqual({ follows: 'every_day', sequenceId: null, plansSteps: false })
})

test('the steps of an account have texts in at most 20 languages', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { reply } = await ask(app, asha, sequenceCalls.create, { body: ours })
  const replaceIn = (language: string) =>
    ask(app, asha, sequenceCalls.replace, { params: { id: reply._id }, query: { language }, body: ours })
  await app.db.execute(sql`INSERT INTO step_texts (owner_id, sequence_id, "offset", language, subject, content, group_subject, group_content)
    SELECT owner_id, sequence_id, "offset", 'de-a' || 1000 + n, subject, content, group_subject, group_content FROM step_texts, generate_series(1, 18) n`)
  expect((await replaceIn('fr')).status).toBe(200)
  const beyond = [await replaceIn('it'), await ask(app, asha, sequenceCalls.create, { query: { language: 'it' }, body: ours })]
  expect(beyond.map(({ problem }) => problem?.code)).toEqual(['conflict', 'conflict'])
  expect((await replaceIn('de-a1007')).status).toBe(200)
})

test('a sequence that someone saved meanwhile is not replaced by one that was read before, and programs may leave out If-Match', async () => {
  await using office = await anOffice({ now: morning })
  const { app, asha } = office
  const id = await create(app, asha)
  const read = async () => {
    const answered = await ask(app, asha, sequenceCalls.read, { params: { id } })
    return String(answered.headers.etag)
  }
  const replace = (body: object, tag?: string) =>
    ask(app, asha, sequenceCalls.replace, { params: { id }, body: { ...ours, ...body } }, tag === undefined ? {} : { 'if-match': tag })
  const before = await read()
  // A colleague takes the last step out and renames it.
  const shorter = { name: 'Shorter', steps: ours.steps.slice(0, 1) }
  const saved = await replace(shorter, before)
  expect(saved).toMatchObject({ status: 200, headers: { etag: await read() } })
  const refused = await replace({ name: 'Gently' }, before)
  expect(refused).toMatchObject({
    status: 409,
    problem: {
      code: 'changed_meanwhile',
      message: 'Asha Rao changed this sequence at 07:30.',
      meanwhile: { version: `${id}.2`, by: 'Asha Rao', self: true },
    },
  })
  expect((await ask(app, asha, sequenceCalls.read, { params: { id } })).reply).toMatchObject(shorter)
  expect((await replace({ name: 'Gently' }, await read())).reply).toMatchObject({ name: 'Gently', version: 3 })
  expect((await replace({})).reply).toMatchObject({ name: 'Ours', version: 4 })
})

const allOpen = { quietWeekends: false, quietHolidays: false }

test('the sequence of an invoice applies before that of its client, and that before the one of the account', async () => {
  await using office = await anOffice({ now: morning, invoices: 1 })
  const { app, asha, invoices } = office
  const id = invoices[0]?._id ?? ''
  const client = await clientOf(app, asha)
  const [account, ofClient, own] = [await create(app, asha, 'A'), await create(app, asha, 'B'), await create(app, asha, 'C')]
  expect(await applies(app, asha, id)).toBe('every_day')
  expect((await ask(app, asha, reminderCalls.changeSettings, { body: { sequence: account, ...allOpen } })).reply.sequence).toBe(account)
  expect(await applies(app, asha, id)).toBe(account)
  expect((await ask(app, asha, clientCalls.update, { params: { id: client }, body: { sequence: ofClient } })).reply.sequence).toBe(ofClient)
  expect(await applies(app, asha, id)).toBe(ofClient)
  expect((await ask(app, asha, sequenceCalls.assign, { params: { id }, body: { sequence: own } })).reply.sequence).toBe(own)
  expect(await applies(app, asha, id)).toBe(own)
  const uses = (await ask(app, asha, sequenceCalls.list)).reply
    .slice(2)
    .map(({ invoices, clients, isDefault }) => [invoices, clients, isDefault])
  expect(uses).toEqual([
    [0, 0, true],
    [0, 1, false],
    [1, 0, false],
  ])
  await ask(app, asha, sequenceCalls.assign, { params: { id }, body: { sequence: null } })
  await ask(app, asha, clientCalls.update, { params: { id: client }, body: { sequence: null } })
  expect(await applies(app, asha, id)).toBe(account)
  await ask(app, asha, reminderCalls.changeSettings, { body: { sequence: 'every_day' } })
  expect(await applies(app, asha, id)).toBe('every_day')
  expect(await accountOf(app, asha)).toEqual({ follows: 'every_day', sequenceId: null, plansSteps: false })
})

test('a sequence in use is deleted only with one that takes its place', async () => {
  await using office = await anOffice({ now: morning, invoices: 2 })
  const { app, asha, invoices } = office
  const [one, other] = [await create(app, asha, 'A'), await create(app, asha, 'B')]
  const id = invoices[0]?._id ?? ''
  await ask(app, asha, sequenceCalls.assign, { params: { id }, body: { sequence: one } })
  await ask(app, asha, clientCalls.update, { params: { id: await clientOf(app, asha) }, body: { sequence: one } })
  await ask(app, asha, reminderCalls.changeSettings, { body: { sequence: one } })
  const refused = await ask(app, asha, sequenceCalls.remove, { params: { id: one }, query: {} })
  expect(refused).toMatchObject({
    status: 409,
    problem: { message: '1 invoice and 1 client use it. Choose the sequence that takes its place.' },
  })
  for (const use of [one, newId()])
    expect((await ask(app, asha, sequenceCalls.remove, { params: { id: one }, query: { use } })).status).toBeGreaterThanOrEqual(400)
  expect((await ask(app, asha, sequenceCalls.list)).reply).toHaveLength(4)
  expect((await ask(app, asha, sequenceCalls.remove, { params: { id: one }, query: { use: other } })).status).toBe(204)
  const left = (await ask(app, asha, sequenceCalls.list)).reply.slice(2)
  expect(left.map(({ _id, invoices, clients, isDefault }) => [_id, invoices, clients, isDefault])).toEqual([[other, 1, 1, true]])
  expect((await ask(app, asha, sequenceCalls.remove, { params: { id: other }, query: { use: 'every_day' } })).status).toBe(204)
  expect(await applies(app, asha, id)).toBe('every_day')
})

test('an email that waits is closed once its invoice has another sequence, and the next run plans again', async () => {
  await using office = await anOffice({ now: morning })
  const { app, asha, smtp } = office
  const { _id: id } = await anInvoice(app, { owner: asha, dueDate: '2026-03-01' })
  const sequence = await create(app, asha)
  await ask(app, asha, reminderCalls.changeSettings, { body: { sequence } })
  smtp.answer({ rcpt: () => '451 4.3.0 Later' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  smtp.answer({})
  await ask(app, asha, sequenceCalls.assign, { params: { id }, body: { sequence: 'never' } })
  app.clock.advance({ minutes: 30 })
  await app.runJobs()
  expect(smtp.mails).toHaveLength(0)
  const states = async () => (await ask(app, asha, reminderCalls.history, { params: { id } })).reply.mails.map(({ state }) => state)
  expect(await states()).toEqual(['superseded'])
  await ask(app, asha, sequenceCalls.assign, { params: { id }, body: { sequence: null } })
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  expect(await states()).toEqual(['sent', 'superseded'])
})

test('an email that waits is closed once its address is corrected to that of a client who is never reminded', async () => {
  await using office = await anOffice({ now: morning })
  const { app, asha, smtp } = office
  await anInvoice(app, { owner: asha, clientEmail: 'ap@bigco.example', dueDate: '2026-04-20' })
  await ask(app, asha, clientCalls.update, { params: { id: await clientOf(app, asha) }, body: { sequence: 'never' } })
  const typed = { owner: asha, clientEmail: 'ap@bigcoo.example', dueDate: '2026-02-20' }
  const [first, own, other] = [await anInvoice(app, typed), await anInvoice(app, typed), await anInvoice(app, typed)]
  await ask(app, asha, sequenceCalls.assign, { params: { id: own._id }, body: { sequence: 'every_day' } })
  await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient: true } })
  smtp.answer({ rcpt: () => '451 4.3.0 Later' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  smtp.answer({})
  for (const { _id: id } of [first, own])
    await ask(app, asha, invoiceCalls.update, { params: { id }, body: { clientEmail: 'ap@bigco.example' } })
  app.clock.advance({ minutes: 30 })
  await app.runJobs()
  const sent = await Promise.all(smtp.mails.map(async ({ raw, envelope }) => [envelope.to[0], (await readEmail(raw)).subject]))
  expect(sent.toSorted()).toEqual([
    ['ap@bigco.example', expect.stringContaining(own.reference)],
    ['ap@bigcoo.example', expect.stringContaining(other.reference)],
  ])
})

test.each([
  ['waits', 'alone'],
  ['is being sent', 'alone'],
  ['is being sent', 'with others'],
] as const)(
  'an email that %s %s is not tried again once its address is corrected to that of a client who is never reminded',
  async (when, grouped) => {
    await using office = await anOffice({ now: morning })
    const { app, asha, smtp } = office
    await anInvoice(app, { owner: asha, clientEmail: 'ap@bigco.example', dueDate: '2026-04-20' })
    await ask(app, asha, clientCalls.update, { params: { id: await clientOf(app, asha) }, body: { sequence: 'never' } })
    const typed = { owner: asha, clientEmail: 'ap@bigcoo.example', dueDate: '2026-02-20' }
    const { _id: id } = await anInvoice(app, typed)
    const others = grouped === 'alone' ? [] : [await anInvoice(app, typed)]
    await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient: true } })
    const [offered, corrected] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    smtp.answer({
      rcpt() {
        offered.resolve()
        return when === 'waits' ? '451 4.3.0 Later' : later(corrected.promise, '451 4.3.0 Later')
      },
    })
    const started = app.whileJobsRun(ask(app, asha, reminderCalls.start))
    await offered.promise
    if (when === 'waits') await started
    await ask(app, asha, invoiceCalls.update, { params: { id }, body: { clientEmail: 'ap@bigco.example' } })
    corrected.resolve()
    await started
    smtp.answer({})
    app.clock.advance({ minutes: 30 })
    await app.runJobs()
    const sent = await Promise.all(smtp.mails.map(async ({ raw, envelope }) => [envelope.to[0], (await readEmail(raw)).subject]))
    expect(sent).toEqual(others.map(({ reference }) => ['ap@bigcoo.example', expect.stringContaining(reference)]))
    const { mails } = (await ask(app, asha, reminderCalls.history, { params: { id } })).reply
    expect(mails.map(({ state }) => state)).toEqual(['superseded'])
  },
)

test('of an email in flight about more invoices than it lists, one that is corrected to a client who is never reminded is not tried again', async () => {
  await using office = await anOffice({ now: morning })
  const { app, asha, smtp } = office
  await anInvoice(app, { owner: asha, clientEmail: 'ap@bigco.example', dueDate: '2026-04-20' })
  await ask(app, asha, clientCalls.update, { params: { id: await clientOf(app, asha) }, body: { sequence: 'never' } })
  const typed = { owner: asha, clientEmail: 'ap@bigcoo.example' }
  for (let nth = 0; nth < mostListed; nth += 1) await anInvoice(app, { ...typed, dueDate: '2026-02-19' })
  const { _id: id } = await anInvoice(app, { ...typed, dueDate: '2026-02-20' })
  await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient: true } })
  const [offered, corrected] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  smtp.answer({
    rcpt() {
      offered.resolve()
      return later(corrected.promise, '451 4.3.0 Later')
    },
  })
  const started = app.whileJobsRun(ask(app, asha, reminderCalls.start))
  await offered.promise
  await ask(app, asha, invoiceCalls.update, { params: { id }, body: { clientEmail: 'ap@bigco.example' } })
  corrected.resolve()
  await started
  smtp.answer({})
  app.clock.advance({ minutes: 30 })
  await app.runJobs()
  expect(smtp.mails.map(({ envelope }) => envelope.to[0])).toEqual(['ap@bigcoo.example'])
})

test('an email sent by hand that waits leaves in the words of the template once its sequence is deleted', async () => {
  await using office = await anOffice({ now: morning })
  const { app, asha, smtp } = office
  await anInvoice(app, { owner: asha, dueDate: '2026-02-20' })
  const id = await create(app, asha)
  await ask(app, asha, reminderCalls.changeSettings, { body: { sequence: id } })
  smtp.answer({ rcpt: () => '451 4.3.0 Later' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  smtp.answer({})
  expect((await ask(app, asha, sequenceCalls.remove, { params: { id }, query: { use: 'every_day' } })).status).toBe(204)
  app.clock.advance({ minutes: 30 })
  await app.runJobs()
  expect((await readEmail(smtp.mails[0]?.raw ?? '')).subject).toBe('Invoice INV-0001 from Asha Rao: ₹5,000.00 was due on 20/02/2026')
})

test('a change that was looked at is refused once the plan is another one, with what it would do now', async () => {
  await using office = await anOffice({ now: morning, invoices: 2 })
  const { app, asha, invoices } = office
  const sequence = await create(app, asha)
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  const id = invoices[0]?._id ?? ''
  const client = await clientOf(app, asha)
  const changes: [change: Change, save: (fingerprint: string) => Promise<Pick<Answered<Call>, 'status' | 'problem'>>][] = [
    [
      { settings: { sequence } },
      (fingerprint: string) => ask(app, asha, reminderCalls.changeSettings, { body: { sequence, fingerprint } }),
    ],
    [
      { assignments: [{ clientId: client, sequence: 'never' }] },
      (fingerprint: string) => ask(app, asha, clientCalls.update, { params: { id: client }, body: { sequence: 'never', fingerprint } }),
    ],
    [
      { assignments: [{ invoiceId: id, sequence: 'every_day' }] },
      (fingerprint: string) => ask(app, asha, sequenceCalls.assign, { params: { id }, body: { sequence: 'every_day', fingerprint } }),
    ],
    [
      { sequences: [{ ...ours, _id: sequence, steps: [newStep(20, 'final')] }] },
      (fingerprint: string) =>
        ask(app, asha, sequenceCalls.replace, { params: { id: sequence }, body: { ...ours, steps: [newStep(20, 'final')], fingerprint } }),
    ],
    [
      { settings: { timezone: 'Europe/London', reminderHour: 15 } },
      (fingerprint: string) =>
        ask(app, asha, accountCalls.changeProfile, { body: { timezone: 'Europe/London', reminderHour: 15, fingerprint } }),
    ],
  ]
  for (const [body, save] of changes) {
    const look = async () => (await ask(app, asha, sequenceCalls.simulate, { body })).reply
    const seen = await look()
    await anInvoice(app, { owner: asha, dueDate: '2026-03-01' })
    const state = async () => [(await ask(app, asha, sequenceCalls.list)).reply, (await ask(app, asha, accountCalls.profile)).reply]
    const before = await state()
    const refused = await save(seen.fingerprint)
    expect(refused).toMatchObject({
      status: 409,
      problem: { code: 'plan_changed', message: 'The plan has changed since you looked. Please look again.' },
    })
    const now = await look()
    expect(refused.problem?.simulation).toEqual(now)
    expect(await state()).toEqual(before)
    expect((await save(now.fingerprint)).status).toBe(200)
  }
})

test('a client’s second contact is saved, and nothing of a change with a wrong field', async () => {
  await using office = await anOffice({ now: morning, invoices: 1 })
  const { app, asha } = office
  const params = { id: await clientOf(app, asha) }
  const saved = await ask(app, asha, clientCalls.update, { params, body: { secondContact: 'boss@example.com' } })
  expect(saved.reply).toMatchObject({ secondContact: 'boss@example.com', sequence: null })
  const body = { sequence: 'never', secondContact: null, pause: { until: '2026-01-01', note: '', promised: false } }
  expect((await ask(app, asha, clientCalls.update, { params, body })).status).toBe(400)
  expect((await ask(app, asha, clientCalls.list)).reply[0]).toMatchObject({
    secondContact: 'boss@example.com',
    sequence: null,
    pause: null,
  })
})

test('a sequence of another account can be neither read, changed, chosen nor deleted', async () => {
  await using office = await anOffice({ now: morning, invoices: 1 })
  const { app, asha, invoices } = office
  const meera = await aPerson(app)
  const sequence = await create(app, meera)
  const params = { id: sequence }
  const refused = [
    await ask(app, asha, sequenceCalls.read, { params }),
    await ask(app, asha, sequenceCalls.replace, { params, body: ours }),
    await ask(app, asha, sequenceCalls.remove, { params, query: {} }),
    await ask(app, asha, sequenceCalls.test, { params, body: { offset: 1 } }),
    await ask(app, asha, reminderCalls.changeSettings, { body: { sequence } }),
    await ask(app, asha, sequenceCalls.assign, { params: { id: invoices[0]?._id ?? '' }, body: { sequence } }),
    await ask(app, asha, clientCalls.update, { params: { id: await clientOf(app, asha) }, body: { sequence } }),
  ]
  expect(refused.map(({ status }) => status)).toEqual(Array(7).fill(404))
  expect((await ask(app, asha, sequenceCalls.simulate, { body: { settings: { sequence } } })).status).toBe(400)
  for (const id of ['every_day', 'never']) {
    expect((await ask(app, asha, sequenceCalls.replace, { params: { id }, body: ours })).status).toBe(404)
    expect((await ask(app, asha, sequenceCalls.remove, { params: { id }, query: {} })).status).toBe(404)
  }
})

test('an account whose plan ended keeps its sequences and may return to one email a day', async () => {
  await using shop = await openShop({ now: morning })
  const { app } = shop
  const person = await aPerson(app)
  const sequence = await create(app, person)
  await ask(app, person, reminderCalls.changeSettings, { body: { sequence } })
  app.clock.advance({ hours: 15 * 24 })
  const asha = await signedInAgain(app, person)
  expect((await ask(app, asha, sequenceCalls.list)).reply.map(({ _id, isDefault }) => [_id, isDefault])).toContainEqual([sequence, true])
  expect((await ask(app, asha, reminderCalls.changeSettings, { body: { sequence: 'never' } })).status).toBe(402)
  expect((await ask(app, asha, reminderCalls.changeSettings, { body: { sequence: 'every_day' } })).reply.sequence).toBe('every_day')
  expect((await ask(app, asha, sequenceCalls.remove, { params: { id: sequence }, query: {} })).status).toBe(204)
})

test('a test email has the words of the step and made-up values, and goes to the owner only', async () => {
  await using office = await anOffice({ now: morning })
  const { app, asha, smtp } = office
  const { reply } = await ask(app, asha, sequenceCalls.create, { body: ready })
  const params = { id: reply._id }
  for (const group of [false, true])
    expect((await ask(app, asha, sequenceCalls.test, { params, body: { offset: 14, group } })).reply).toEqual({ to: asha.email })
  expect((await ask(app, asha, sequenceCalls.test, { params, body: { offset: 15 } })).status).toBe(404)
  expect((await ask(app, asha, sequenceCalls.test, { params: { id: 'every_day' }, body: { offset: 1 } })).status).toBe(200)
  const emails = await Promise.all(smtp.mails.map(({ raw }) => readEmail(raw)))
  expect(emails.map(({ subject }) => subject)).toEqual([
    'Invoice INV-0001 is still unpaid',
    '₹10,000.00 is still unpaid',
    'Invoice INV-0001 from Asha Rao: ₹5,000.00 was due on 01/03/2026',
  ])
  expect(emails[0]?.text).toContain('Due on 16/02/2026, 14 days overdue')
  expect(smtp.mails.map(({ envelope }) => envelope.to)).toEqual(Array(3).fill([asha.email]))
})

test('a test email has text that is not saved, of a new day too; its faults are refused and the sequence stays as it is', async () => {
  await using office = await anOffice({ now: morning })
  const { app, asha, smtp } = office
  const { reply } = await ask(app, asha, sequenceCalls.create, { body: ready })
  const params = { id: reply._id }
  const text = {
    subject: 'Still open: {{invoiceId}}',
    content: 'Please pay {{amount}}.',
    groupSubject: 'All',
    groupContent: '{{invoiceList}}',
  }
  expect((await ask(app, asha, sequenceCalls.test, { params, body: { offset: 15, text } })).status).toBe(200)
  const email = await readEmail(smtp.mails[0]?.raw)
  expect(email.subject).toBe('Still open: INV-0001')
  expect(email.text).toContain('Please pay ₹5,000.00.')
  const early = { ...text, content: '{{daysOverdue}} days' }
  expect(await ask(app, asha, sequenceCalls.test, { params, body: { offset: -3, text: early } })).toMatchObject({
    status: 400,
    problem: {
      errors: [{ path: 'text.content', message: 'This step leaves before the invoice is overdue: please take out {{daysOverdue}}.' }],
    },
  })
  expect((await ask(app, asha, sequenceCalls.test, { params: { id: newId() }, body: { offset: 15, text } })).status).toBe(404)
  expect(smtp.mails).toHaveLength(1)
  expect((await ask(app, asha, sequenceCalls.read, { params })).reply).toEqual(reply)
})

test('what was saved, chosen and deleted is in the audit log', async () => {
  await using office = await anOffice({ now: morning, invoices: 1 })
  const { app, asha, invoices } = office
  const id = await create(app, asha)
  await ask(app, asha, sequenceCalls.assign, { params: { id: invoices[0]?._id ?? '' }, body: { sequence: id } })
  await ask(app, asha, reminderCalls.changeSettings, { body: { sequence: id } })
  await ask(app, asha, sequenceCalls.remove, { params: { id }, query: { use: 'every_day' } })
  const { reply } = await ask(app, asha, accountCalls.audit, { query: {} })
  // The last two changed the settings as well.
  expect(reply.filter(({ kind }) => kind === 'reminder_settings_changed')).toHaveLength(2)
  expect(reply.flatMap(({ kind, text }) => (kind.startsWith('sequence') ? text : []))).toEqual([
    'Sequence Ours deleted.',
    'Sequence chosen: all clients.',
    'Sequence chosen: INV-0001.',
    'Sequence Ours saved.',
  ])
})

test('an account has at most 20 sequences', async () => {
  await using office = await anOffice({ now: morning })
  const { app, asha } = office
  for (let nth = 0; nth < 20; nth += 1) await create(app, asha, `Ours ${nth}`)
  expect(await ask(app, asha, sequenceCalls.create, { body: ours })).toMatchObject({
    status: 409,
    problem: { message: 'An account can have 20 sequences. Delete one that you do not use.' },
  })
})

test('an invoice shows its next step, what that waits for, and that no step is left', async () => {
  await using office = await anOffice({ now: morning })
  const { app, asha } = office
  const { _id: id } = await anInvoice(app, { owner: asha, dueDate: '2026-03-01' })
  const sequence = (await ask(app, asha, sequenceCalls.create, { body: { ...ours, steps: ready.steps, atLeast: 3 } })).reply._id
  await ask(app, asha, reminderCalls.changeSettings, { body: { sequence, ...allOpen } })
  const next = async () => {
    const { nextAt, reason, step, why } = (await ask(app, asha, reminderCalls.history, { params: { id } })).reply
    return { nextAt, reason, step, why }
  }
  const nine = (date: string) => `${date}T03:30:00Z`
  const runOn = async (date: string) => {
    app.clock.set(nine(date))
    await app.runJobs()
  }
  const second = { number: 2, of: 5, offset: 1, tone: 'friendly' }
  expect(await next()).toEqual({ nextAt: null, reason: 'schedule_inactive', step: second, why: null })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  const third = { number: 3, of: 5, offset: 7, tone: 'friendly' }
  expect(await next()).toEqual({ nextAt: nine('2026-03-08'), reason: null, step: third, why: null })
  await runOn('2026-03-06')
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  app.clock.set('2026-03-08T02:00:00Z')
  const why = 'Waiting until 09/03/2026: at least 3 days between two emails'
  expect(await next()).toEqual({ nextAt: nine('2026-03-09'), reason: null, step: third, why })
  for (const date of ['2026-03-09', '2026-03-15', '2026-03-31']) await runOn(date)
  const over = 'All steps are over: nothing more leaves by itself.'
  expect(await next()).toEqual({ nextAt: null, reason: 'ended', step: null, why: over })
  await ask(app, asha, sequenceCalls.assign, { params: { id }, body: { sequence: 'never' } })
  expect(await next()).toEqual({ nextAt: null, reason: 'never', step: null, why: null })
})

test('deleting an account deletes its sequences, in use or not', async () => {
  await using office = await anOffice({ now: morning, invoices: 1 })
  const { app, asha, invoices } = office
  const sequence = await create(app, asha)
  await create(app, asha, 'Other')
  await ask(app, asha, reminderCalls.changeSettings, { body: { sequence } })
  await ask(app, asha, sequenceCalls.assign, { params: { id: invoices[0]?._id ?? '' }, body: { sequence } })
  await ask(app, asha, clientCalls.update, { params: { id: await clientOf(app, asha) }, body: { sequence } })
  await app.db.delete(accounts).where(eq(accounts.id, asha.id))
  expect(await app.db.$count(sequences)).toBe(0)
})
