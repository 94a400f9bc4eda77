// Also on PostgreSQL: the claim compares the step, its version and its copies.
import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { clientCalls } from '#contract/clients.ts'
import { noticeCalls } from '#contract/notices.ts'
import { newStep, readySequences } from '#contract/ready-sequences.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { templateCalls } from '#contract/templates.ts'
import { accounts } from '#server/accounts/tables.ts'
import { clients, invoices, sequences } from '#server/invoices/tables.ts'
import { anInvoice, anOffice, aSequence, type Person, signedInAgain } from '#test/factories.ts'
import { ask, type TestApp } from '#test/harness.ts'
import { readEmail } from '#test/read-email.ts'
import { seeded } from '#test/seeded.ts'
import { times } from '#test/thorough.ts'
import { dateOfDay, dayNumber, plan, type World } from './plan.ts'
import { sequenceSteps } from './tables.ts'
import { readWorld } from './world.ts'

const [ready, gentle] = readySequences
if (!ready || !gentle) throw new Error('There are two sequences to begin from.')
const plain = { name: 'Plain', everyDays: null, atMost: null, atLeast: 1 }

/** Asha in India with daily reminders, on the morning of this date. */
async function onThe(date: string, about: { sequence?: Parameters<typeof aSequence>[2]; grouped?: boolean } = {}) {
  const all = await anOffice({ now: `${date}T02:00:00Z` })
  const { app, asha } = all
  const sequenceId = about.sequence ? await aSequence(app, asha, about.sequence) : null
  const nextRunAt = Temporal.Instant.from(`${date}T03:30:00Z`)
  await app.db
    .update(accounts)
    .set({ remindersActive: true, nextRunAt, nextRunFrom: date, groupByClient: about.grouped ?? false })
    .where(eq(accounts.id, asha.id))
  return Object.assign(all, { sequenceId: sequenceId ?? '' })
}

/** The daily run of a date, and what the mail server received in it. */
async function runOn({ app, smtp }: { app: TestApp; smtp: { mails: { raw: Buffer; envelope: { to: string[] } }[] } }, date: string) {
  const before = smtp.mails.length
  app.clock.set(`${date}T03:30:00Z`)
  await app.runJobs()
  return Promise.all(smtp.mails.slice(before).map(async ({ raw, envelope }) => ({ to: envelope.to, email: await readEmail(raw) })))
}

const after = (date: string, days: number) => dateOfDay(dayNumber(date) + days)

const invoiceOf = async (app: TestApp, id: string) => {
  const [row] = await app.db.select().from(invoices).where(eq(invoices.id, id))
  if (!row) throw new Error('There is no such invoice.')
  return row
}

const historyOf = async (app: TestApp, person: Person, id: string) =>
  (await ask(app, person, reminderCalls.history, { params: { id } })).reply.days.toReversed().map(({ outcome }) => outcome)

test('a sequence sends each step on its day in its own words, and reports its end once', async () => {
  await using all = await onThe('2026-03-06', { sequence: ready })
  const { app, asha } = all
  const { _id } = await anInvoice(app, { owner: asha, dueDate: '2026-03-10' })
  const subjects: string[] = []
  for (const day of [-4, -3, -2, 0, 1, 2, 3, 6, 7, 8, 13, 14, 15, 30, 31, 32])
    for (const { email } of await runOn(all, after('2026-03-10', day))) subjects.push(`${day} ${email.subject}`)
  expect(subjects).toEqual([
    '-3 Invoice INV-0001 is due on 10/03/2026',
    '1 Invoice INV-0001 from Asha Rao: ₹5,000.00 was due on 10/03/2026',
    '7 Invoice INV-0001 from Asha Rao: ₹5,000.00 was due on 10/03/2026',
    '14 Invoice INV-0001 is still unpaid',
    '30 Final reminder: invoice INV-0001',
  ])
  expect(await invoiceOf(app, _id)).toMatchObject({ remindedThrough: '2026-04-09', stepsSent: 5, sequenceEndedOn: '2026-04-10' })
  const again = await signedInAgain(app, asha)
  const { mails } = (await ask(app, again, reminderCalls.history, { params: { id: _id } })).reply
  expect(mails.map(({ step, sequence }) => [step, sequence])).toEqual([30, 14, 7, 1, -3].map((step) => [step, all.sequenceId]))
  const days = await historyOf(app, again, _id)
  expect(days.slice(0, 3)).toEqual(['sent', 'no_step', 'no_step'])
  expect(days.slice(-3)).toEqual(['sent', 'ended', 'ended'])
  const notices = (await ask(app, again, noticeCalls.list)).reply.filter(({ kind }) => kind === 'sequence_ended')
  expect(notices.map(({ title, text }) => [title, text])).toEqual([
    ['Kaveri Foods has had all reminders for INV-0001', '₹5,000.00 is still open after 5 emails. Call, or download the evidence.'],
  ])
})

test('a sequence that is over before it sent anything is reported to no one', async () => {
  await using all = await onThe('2026-03-11', { sequence: { ...plain, steps: [newStep(-3, 'friendly')] } })
  const { app, asha } = all
  const { _id } = await anInvoice(app, { owner: asha, dueDate: '2026-03-10' })
  await runOn(all, '2026-03-11')
  expect(await historyOf(app, asha, _id)).toEqual(['ended'])
  expect((await ask(app, asha, noticeCalls.list)).reply).toEqual([])
})

test('a step that came due while no run was possible is overtaken by the next one', async () => {
  await using all = await onThe('2026-03-11', { sequence: ready })
  const { app, asha } = all
  const { _id } = await anInvoice(app, { owner: asha, dueDate: '2026-03-10' })
  await runOn(all, '2026-03-11')
  const late = await runOn(all, '2026-03-30')
  expect(late.map(({ email }) => email.subject)).toEqual(['Invoice INV-0001 is still unpaid'])
  const { days } = (await ask(app, asha, reminderCalls.history, { params: { id: _id } })).reply
  expect(days[0]?.words).toMatch(/Step 3 was left out: step 4 came due\.$/)
})

test('the email has a copy for each further recipient once, and the refusal of a copy is noted', async () => {
  const step = { ...newStep(1, 'friendly'), copyToMe: true, copyToSecondContact: true }
  await using all = await onThe('2026-03-11', { sequence: { ...plain, steps: [step] } })
  const { app, asha, smtp } = all
  const { _id } = await anInvoice(app, { owner: asha, dueDate: '2026-03-10', clientEmail: 'kaveri@example.com' })
  const same = await anInvoice(app, { owner: asha, dueDate: '2026-03-10', clientEmail: 'Ravi@example.com' })
  await app.db.update(clients).set({ secondContact: 'boss@example.com' }).where(eq(clients.emailKey, 'kaveri@example.com'))
  await app.db.update(clients).set({ secondContact: 'ravi@example.com' }).where(eq(clients.emailKey, 'ravi@example.com'))
  smtp.answer({ rcpt: (to) => (to === 'boss@example.com' ? '550 5.1.1 No such user' : undefined) })
  const [kaveri, ravi] = await runOn(all, '2026-03-11')
  expect(kaveri?.to).toEqual(['kaveri@example.com', asha.email])
  expect(kaveri?.email.cc?.map(({ address }) => address).toSorted()).toEqual([asha.email, 'boss@example.com'].toSorted())
  expect(ravi?.to).toEqual(['Ravi@example.com', asha.email])
  const wordsOf = async (id: string) => (await ask(app, asha, reminderCalls.history, { params: { id } })).reply.days[0]?.words
  expect(await wordsOf(_id)).toMatch(/The copy to boss@example\.com was refused: address doesn’t exist$/)
  expect(await wordsOf(same._id)).not.toContain('copy')
})

test.each([
  ['before the due date', '2026-03-08', -3],
  ['after it', '2026-03-12', 1],
])('an email %s has the refusal of its copy beside the reply of the mail server', async (_when, date, offset) => {
  await using all = await onThe(date, { sequence: { ...plain, steps: [{ ...newStep(offset, 'friendly'), copyToMe: true }] } })
  const { app, asha, smtp } = all
  const { _id } = await anInvoice(app, { owner: asha, dueDate: '2026-03-11' })
  smtp.answer({ rcpt: (to) => (to === asha.email ? '550 5.1.1 No such user' : undefined) })
  expect(await runOn(all, date)).toHaveLength(1)
  expect((await ask(app, asha, reminderCalls.history, { params: { id: _id } })).reply.mails).toMatchObject([
    { state: 'sent', serverReply: '250 2.0.0 Accepted', copiesRefused: `The copy to ${asha.email} was refused: address doesn’t exist` },
  ])
  const client = (await ask(app, asha, clientCalls.list)).reply[0]?._id ?? ''
  expect((await ask(app, asha, clientCalls.read, { params: { id: client } })).reply.timeline).toMatchObject([
    { kind: 'email', state: 'sent', copiesRefused: `The copy to ${asha.email} was refused: address doesn’t exist` },
  ])
})

test('an email of a step keeps its bytes where the template is changed between two tries', async () => {
  await using all = await onThe('2026-03-11', { sequence: { ...plain, steps: [newStep(1, 'friendly')] } })
  const { app, asha, smtp } = all
  await anInvoice(app, { owner: asha, dueDate: '2026-03-10' })
  const seen: Buffer[] = []
  smtp.answer({
    dot(mail, nth) {
      seen.push(mail.raw)
      return nth === 1 ? '451 4.7.1 Greylisted' : undefined
    },
  })
  await runOn(all, '2026-03-11')
  await ask(app, asha, templateCalls.save, { body: { useCustomTemplate: true, customSubject: 'After', customContent: 'After' } })
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  expect(seen).toHaveLength(2)
  expect(seen[1]?.equals(seen[0] ?? Buffer.alloc(0))).toBe(true)
})

test('nothing is sent where the client’s address is refused, although a copy would be accepted', async () => {
  const step = { ...newStep(1, 'friendly'), copyToMe: true }
  await using all = await onThe('2026-03-11', { sequence: { ...plain, steps: [step] } })
  const { app, asha, smtp } = all
  const { _id } = await anInvoice(app, { owner: asha, dueDate: '2026-03-10' })
  smtp.answer({ rcpt: (to) => (to === asha.email ? undefined : '550 5.1.1 No such user') })
  expect(await runOn(all, '2026-03-11')).toEqual([])
  smtp.answer({})
  expect(await runOn(all, '2026-03-12')).toEqual([])
  expect(await historyOf(app, asha, _id)).toEqual(['failed', 'refused'])
  expect(await invoiceOf(app, _id)).toMatchObject({ remindedThrough: null, stepsSent: 0 })
})

test('a failed step comes again on the next day', async () => {
  await using all = await onThe('2026-03-11', { sequence: ready })
  const { app, asha, smtp } = all
  const { _id } = await anInvoice(app, { owner: asha, dueDate: '2026-03-10' })
  smtp.answer({ rcpt: () => '550 5.7.1 Blocked' })
  await runOn(all, '2026-03-11')
  smtp.answer({})
  expect((await runOn(all, '2026-03-12')).length).toBe(1)
  expect(await invoiceOf(app, _id)).toMatchObject({ remindedThrough: '2026-03-12', stepsSent: 1 })
})

test('an email that waits follows its sequence: new words, or none where the step is gone', async () => {
  await using all = await onThe('2026-03-11', { sequence: { ...plain, steps: [newStep(1, 'friendly'), newStep(5, 'firm')] } })
  const { app, asha, smtp, sequenceId } = all
  const { _id } = await anInvoice(app, { owner: asha, dueDate: '2026-03-10' })
  smtp.answer({ rcpt: () => '451 4.3.0 Later' })
  await runOn(all, '2026-03-11')
  smtp.answer({})
  await app.db.execute(sql`UPDATE step_texts SET subject = 'Another subject' WHERE "offset" = 1`)
  await app.db.update(sequences).set({ version: 2 }).where(eq(sequences.id, sequenceId))
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  const emails = await Promise.all(smtp.mails.map(({ raw }) => readEmail(raw)))
  expect(emails.map(({ subject }) => subject)).toEqual(['Another subject'])
  smtp.answer({ rcpt: () => '451 4.3.0 Later' })
  await runOn(all, '2026-03-15')
  smtp.answer({})
  await app.db.delete(sequenceSteps).where(eq(sequenceSteps.offset, 5))
  await app.db.delete(sequenceSteps).where(eq(sequenceSteps.offset, 1))
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  expect(smtp.mails).toHaveLength(1)
  expect(await historyOf(app, asha, _id)).toEqual(['sent', 'not_running', 'not_running', 'not_running', 'superseded'])
  expect(await invoiceOf(app, _id)).toMatchObject({ remindedThrough: '2026-03-11', stepsSent: 1 })
})

test('an email of a step before the due date is not sent once the invoice is past due', async () => {
  await using all = await onThe('2026-03-10', { sequence: { ...plain, steps: [newStep(0, 'friendly'), newStep(4, 'firm')] } })
  const { app, asha, smtp } = all
  const { _id } = await anInvoice(app, { owner: asha, dueDate: '2026-03-10' })
  smtp.answer({ rcpt: () => '451 4.3.0 Later' })
  await runOn(all, '2026-03-10')
  smtp.answer({})
  await app.db.update(invoices).set({ dueDate: '2026-03-08' }).where(eq(invoices.id, _id))
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  expect(smtp.mails).toHaveLength(0)
  // The step after the new due date has its day.
  expect((await runOn(all, '2026-03-12')).map(({ email }) => email.subject)).toEqual(['Invoice INV-0001 is still unpaid'])
})

test('Send Now writes in the words of the step reached, counts as no step, and moves the next one', async () => {
  await using all = await onThe('2026-03-18', { sequence: ready })
  const { app, asha, smtp } = all
  const { _id } = await anInvoice(app, { owner: asha, dueDate: '2026-03-03' })
  await app.db.update(invoices).set({ remindedThrough: '2026-03-10', stepsSent: 3 }).where(eq(invoices.id, _id))
  await app.db.update(accounts).set({ remindersActive: false, nextRunAt: null }).where(eq(accounts.id, asha.id))
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow, {}))
  expect((await readEmail(smtp.mails[0]?.raw)).subject).toBe('Invoice INV-0001 is still unpaid')
  expect(await invoiceOf(app, _id)).toMatchObject({ remindedThrough: '2026-03-10', stepsSent: 3 })
  const nextRunAt = Temporal.Instant.from('2026-03-18T03:30:00Z')
  await app.db.update(accounts).set({ remindersActive: true, nextRunAt, nextRunFrom: '2026-03-18' }).where(eq(accounts.id, asha.id))
  const left: string[] = []
  for (const date of ['2026-03-18', '2026-03-19', '2026-03-20', '2026-03-21', '2026-03-22'])
    if ((await runOn(all, date)).length > 0) left.push(date)
  expect(left).toEqual(['2026-03-21'])
  expect(await historyOf(app, asha, _id)).toEqual(['gap', 'gap', 'gap', 'sent', 'no_step'])
})

test('Start reminds of a step that is due or missed, and the daily run of that day of nothing', async () => {
  await using all = await onThe('2026-03-20', { sequence: ready })
  const { app, asha, smtp } = all
  await anInvoice(app, { owner: asha, dueDate: '2026-03-10' })
  await anInvoice(app, { owner: asha, dueDate: '2026-03-22' })
  await anInvoice(app, { owner: asha, dueDate: '2026-04-22' })
  await app.db.update(accounts).set({ remindersActive: false, nextRunAt: null }).where(eq(accounts.id, asha.id))
  await app.whileJobsRun(ask(app, asha, reminderCalls.start, {}))
  const emails = await Promise.all(smtp.mails.map(({ raw }) => readEmail(raw)))
  expect(emails.map(({ subject }) => subject).toSorted()).toEqual([
    'Invoice INV-0001 from Asha Rao: ₹5,000.00 was due on 10/03/2026',
    'Invoice INV-0002 is due on 22/03/2026',
  ])
  expect(await runOn(all, '2026-03-20')).toEqual([])
})

test('a retry repeats the step that failed', async () => {
  await using all = await onThe('2026-03-24', { sequence: ready })
  const { app, asha, smtp } = all
  const { _id } = await anInvoice(app, { owner: asha, dueDate: '2026-03-10' })
  await app.db.update(invoices).set({ remindedThrough: '2026-03-17' }).where(eq(invoices.id, _id))
  smtp.answer({ rcpt: () => '550 5.7.1 Blocked' })
  await runOn(all, '2026-03-24')
  smtp.answer({})
  const [run] = (await ask(app, asha, reminderCalls.runs, { query: {} })).reply
  await app.whileJobsRun(ask(app, asha, reminderCalls.retryRun, { params: { id: run?._id ?? '' } }))
  expect((await readEmail(smtp.mails[0]?.raw)).subject).toBe('Invoice INV-0001 is still unpaid')
  expect(await invoiceOf(app, _id)).toMatchObject({ remindedThrough: '2026-03-24', stepsSent: 1 })
})

test('a retry of an earlier run leaves the steps that came due since to be sent', async () => {
  await using all = await onThe('2026-03-24', { sequence: { ...plain, steps: [newStep(14, 'firm'), newStep(17, 'final')] } })
  const { app, asha, smtp } = all
  const { _id } = await anInvoice(app, { owner: asha, dueDate: '2026-03-10' })
  await app.db.update(invoices).set({ remindedThrough: '2026-03-17' }).where(eq(invoices.id, _id))
  smtp.answer({ rcpt: () => '550 5.7.1 Blocked' })
  for (const date of ['2026-03-24', '2026-03-25', '2026-03-26']) await runOn(all, date)
  smtp.answer({})
  app.clock.set('2026-03-27T02:00:00Z')
  const again = await signedInAgain(app, asha)
  const first = (await ask(app, again, reminderCalls.runs, { query: {} })).reply.at(-1)
  await app.whileJobsRun(ask(app, again, reminderCalls.retryRun, { params: { id: first?._id ?? '' } }))
  expect(await invoiceOf(app, _id)).toMatchObject({ remindedThrough: '2026-03-24', stepsSent: 1 })
  await runOn(all, '2026-03-27')
  expect((await runOn(all, '2026-03-28')).map(({ email }) => email.subject)).toEqual([expect.stringMatching(/^Final reminder/)])
})

test('a retry that leaves with the daily run, because it was stopped, deals with its own step', async () => {
  await using all = await onThe('2026-03-26', { sequence: { ...plain, steps: [newStep(16, 'firm'), newStep(17, 'final')] } })
  const { app, asha, smtp } = all
  const { _id } = await anInvoice(app, { owner: asha, dueDate: '2026-03-10' })
  await app.db.update(invoices).set({ remindedThrough: '2026-03-17' }).where(eq(invoices.id, _id))
  smtp.answer({ rcpt: () => '550 5.7.1 Blocked' })
  await runOn(all, '2026-03-26')
  app.clock.set('2026-03-27T03:20:00Z')
  const again = await signedInAgain(app, asha)
  const [first] = (await ask(app, again, reminderCalls.runs, { query: {} })).reply
  smtp.answer({ rcpt: () => '451 4.7.1 Later' })
  const { reply } = await app.whileJobsRun(ask(app, again, reminderCalls.retryRun, { params: { id: first?._id ?? '' } }))
  await runOn(all, '2026-03-27')
  smtp.answer({})
  await ask(app, again, reminderCalls.cancelRun, { params: { id: reply.runId ?? '' } })
  app.clock.advance({ hours: 3 })
  await app.runJobs()
  expect(await invoiceOf(app, _id)).toMatchObject({ remindedThrough: '2026-03-26', stepsSent: 1 })
  expect((await runOn(all, '2026-03-28')).map(({ email }) => email.subject)).toEqual([expect.stringMatching(/^Final reminder/)])
})

test('a retry sends nothing about what was reminded since, and the run offers none', async () => {
  await using all = await onThe('2026-03-24', { sequence: { ...plain, steps: [newStep(14, 'firm'), newStep(17, 'final')] } })
  const { app, asha, smtp } = all
  const { _id } = await anInvoice(app, { owner: asha, dueDate: '2026-03-10' })
  await app.db.update(invoices).set({ remindedThrough: '2026-03-17' }).where(eq(invoices.id, _id))
  const failed = async (person: Person) => (await ask(app, person, reminderCalls.runs, { query: {} })).reply.find((run) => run.failed > 0)
  smtp.answer({ rcpt: () => '550 5.7.1 Blocked' })
  await runOn(all, '2026-03-24')
  expect((await failed(asha))?.failures).toMatchObject([{ canRetry: true }])
  smtp.answer({})
  expect(await runOn(all, '2026-03-25')).toHaveLength(1)
  app.clock.set('2026-03-27T02:00:00Z')
  const again = await signedInAgain(app, asha)
  const run = await failed(again)
  expect(run?.failures).toMatchObject([{ canRetry: false }])
  const { reply } = await app.whileJobsRun(ask(app, again, reminderCalls.retryRun, { params: { id: run?._id ?? '' } }))
  expect([reply.runId, smtp.mails.length]).toEqual([null, 1])
  expect((await runOn(all, '2026-03-27')).map(({ email }) => email.subject)).toEqual([expect.stringMatching(/^Final reminder/)])
})

test('an invoice that is reminded every day counts its automatic emails, so that a sequence begins behind them', async () => {
  await using all = await onThe('2026-03-11')
  const { app, asha } = all
  const { _id } = await anInvoice(app, { owner: asha, dueDate: '2026-03-10' })
  for (const date of ['2026-03-11', '2026-03-12']) expect(await runOn(all, date)).toHaveLength(1)
  expect(await invoiceOf(app, _id)).toMatchObject({ remindedThrough: '2026-03-12', stepsSent: 0 })
  await aSequence(app, asha, ready)
  const left: string[] = []
  for (let day = 3; day <= 8; day += 1) if ((await runOn(all, after('2026-03-10', day))).length > 0) left.push(after('2026-03-10', day))
  expect(left).toEqual(['2026-03-17'])
})

// Takes a second: 8 days of 12 invoices, 25 in `npm run test:full`.
test.each([false, true])('the runs of weeks send what plan says, one email per client: %s', async (grouped) => {
  await using all = await onThe('2026-03-01', { sequence: { ...gentle, atLeast: 2 }, grouped })
  const { app, asha } = all
  const random = seeded(grouped ? 7 : 3)
  const below = (limit: number) => Math.floor(random() * limit)
  for (let nth = 0; nth < 12; nth += 1) {
    const dueDate = after('2026-03-01', below(40) - 25)
    const { _id } = await anInvoice(app, { owner: asha, dueDate, clientEmail: `client${below(4)}@example.com` })
    if (below(4) === 0)
      await app.db
        .update(invoices)
        .set({ follows: below(2) === 0 ? 'every_day' : 'never' })
        .where(eq(invoices.id, _id))
    if (below(4) === 0)
      await app.db
        .update(invoices)
        .set({ pausedAt: app.clock.now(), pausedUntil: after('2026-03-01', below(20)), pausePromised: below(2) === 0 })
        .where(eq(invoices.id, _id))
  }
  const [account] = await app.db.select().from(accounts).where(eq(accounts.id, asha.id))
  if (!account) throw new Error('There is no such account.')
  let world: World = await readWorld(app.db, account, { which: sql`true`, today: '2026-03-01', now: app.clock.now(), grouped })
  const [said, sent]: [string[], string[]] = [[], []]
  for (let day = 0; day < times(8, 25); day += 1) {
    const date = after('2026-03-01', day)
    const at = Temporal.Instant.from(`${date}T03:30:00Z`)
    const { mails, next } = plan(world, { date: dayNumber(date), kind: 'daily', at, next: at.add({ hours: 24 }) })
    said.push(...mails.map(({ invoices: about }) => `${date} ${about[0]?.invoice.clientKey} ${about.length}`))
    world = next
    const received = await runOn(all, date)
    const listed = (text = '') => Math.max(1, text.match(/INV-\d{4}: /g)?.length ?? 1)
    sent.push(...received.map(({ to, email }) => `${date} ${to[0]} ${listed(email.text)}`))
  }
  expect(said.length).toBeGreaterThan(times(5, 10))
  expect(sent.toSorted()).toEqual(said.toSorted())
})

test('an email that a process of the version before recorded today is not repeated by a sequence', async () => {
  await using all = await onThe('2026-03-20', { sequence: ready })
  const { app, asha, smtp } = all
  const { _id } = await anInvoice(app, { owner: asha, dueDate: '2026-03-10' })
  // It writes no date.
  await app.db.update(invoices).set({ lastReminderAt: app.clock.now(), remindersSent: 1 }).where(eq(invoices.id, _id))
  await app.whileJobsRun(ask(app, asha, reminderCalls.start, {}))
  await runOn(all, '2026-03-20')
  expect(smtp.mails).toHaveLength(0)
})
