import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { businessHeader } from '#contract/call.ts'
import { fileLayoutCalls } from '#contract/file-layouts.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { noticeCalls } from '#contract/notices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { sourceCalls } from '#contract/sources.ts'
import { templateCalls } from '#contract/templates.ts'
import { type AccountRow, findAccount } from '#server/accounts/accounts.ts'
import { accounts } from '#server/accounts/tables.ts'
import { systemTimers } from '#server/platform/clock.ts'
import { makeDueRuns } from '#server/reminders/daily-runs.ts'
import { runs } from '#server/reminders/tables.ts'
import { aMailbox, aMember, anInvoice, anOffice, aPerson, type Person, refusedUpdates, signedInAgain } from '#test/factories.ts'
import { type FakeReceiver, openFakeReceiver } from '#test/fakes/receiver.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { buyOnce, openShop } from '#test/shop.ts'
import { openShares, pullByHand, pullDue, sourceReach, waitsForSources } from './sources.ts'
import { texts } from './texts.ts'

const config = { allowPrivateWebhookHosts: true }
const never = new AbortController().signal
/** 06:30 in India: the daily run is at 9, so watched addresses are pulled from 8 on. */
const early = '2026-03-02T01:00:00Z'
const eight = '2026-03-03T02:30:00Z'

const head = 'No,Client,Email,Amount,Balance,Due Date'
const line = (number: number, balance: number | string, due = '2026-04-01') =>
  `B-${number},Client ${number},pay${number}@client.example,1000,${balance},${due}`
const file = (...lines: string[]) => [head, ...lines].join('\n')

async function watch(app: TestApp, who: Person, url: string, more: { missingMeansPaid?: boolean } = {}) {
  const { reply, problem } = await ask(app, who, sourceCalls.create, { body: { url, name: 'Books', ...more } })
  if (problem) throw new Error(problem.message)
  return reply
}
const pull = (app: TestApp, who: Person, id: string, body: { apply?: boolean; fingerprint?: string } = {}) =>
  ask(app, who, sourceCalls.pull, { params: { id }, body })
const last = async (app: TestApp, who: Person) => (await ask(app, who, sourceCalls.list)).reply[0]
const balances = async (app: TestApp, who: Person) =>
  (await ask(app, who, invoiceCalls.list, { query: {} })).reply.map(({ reference, balance }) => `${reference} ${balance}`).toSorted()
const notices = async (app: TestApp, who: Person) => (await ask(app, who, noticeCalls.list)).reply.map(({ kind, text }) => [kind, text])

test('a watched address is looked through, applied, pulled an hour before the daily run, once a day, and a pull is undone', async () => {
  await using receiver = await openFakeReceiver()
  await using office = await anOffice({ now: early, config })
  const { app, asha, smtp } = office
  receiver.answer({ status: 200, body: file(line(1, 1000), line(2, 1000), 'B-3,Draft,nobody,1,1,2026-04-01') })
  const source = await watch(app, asha, `${receiver.url}/books.csv`)
  const { reply: looked } = await pull(app, asha, source._id)
  expect(looked).toMatchObject({ changes: 2, waits: false, pull: null })
  expect(looked.lines.map(({ reference, state }) => `${reference} ${state}`)).toEqual(['B-1 ready', 'B-2 ready', 'B-3 bad'])
  expect(await balances(app, asha)).toEqual([])
  const { reply: applied } = await pull(app, asha, source._id, { apply: true, fingerprint: looked.fingerprint })
  expect(applied.pull).toMatchObject({ state: 'applied', imported: 2, updated: 0, refused: 1 })
  receiver.answer({ status: 200, body: file(line(1, 400), line(2, 1000), line(4, 70)) })
  // Not by the clock of the account: it is 07:59 there.
  app.clock.set('2026-03-03T02:29:00Z')
  await app.runJobs()
  expect(receiver.calls).toHaveLength(2)
  app.clock.set(eight)
  await app.runJobs()
  await app.runJobs()
  expect(receiver.calls).toHaveLength(3)
  expect(await balances(app, asha)).toEqual(['B-1 400', 'B-2 1000', 'B-4 70'])
  const known = await last(app, asha)
  expect(known?.lastPull).toMatchObject({ state: 'applied', imported: 1, updated: 1, unchanged: 1, undoable: true })
  await ask(app, asha, invoiceCalls.undoImport, { params: { id: known?.lastPull?._id ?? '' } })
  expect((await last(app, asha))?.lastPull).toMatchObject({ state: 'applied', undoable: false })
  expect(await balances(app, asha)).toEqual(['B-1 1000', 'B-2 1000'])
  expect(smtp.mails).toEqual([])
  // What was undone, or deleted by hand, is not created again, also once it is erased.
  const other = (await ask(app, asha, invoiceCalls.list, { query: {} })).reply.find(({ reference }) => reference === 'B-2')
  await ask(app, asha, invoiceCalls.remove, { params: { id: other?._id ?? '' } })
  for (const days of [1, 31, 1]) {
    app.clock.advance({ days })
    await app.runJobs()
    expect(await balances(app, await signedInAgain(app, asha))).toEqual(['B-1 400'])
  }
  const later = await signedInAgain(app, asha)
  const left = (await pull(app, later, source._id)).reply.lines
  expect(left.map(({ state, message }) => `${state} ${message}`)).toEqual([
    'left B-2 was deleted here. It stays deleted.',
    'left B-4 was deleted here. It stays deleted.',
  ])
  const { status } = await ask(app, later, sourceCalls.remove, { params: { id: source._id } })
  app.clock.advance({ days: 1 })
  await app.runJobs()
  expect([status, receiver.calls.length]).toEqual([204, 7])
  const { reply: audit } = await ask(app, later, accountCalls.audit, { query: {} })
  const host = `127.0.0.1:${receiver.port}`
  const watched = [`Address watched for invoices: ${host}.`, `Address no longer watched for invoices: ${host}.`]
  expect(audit.map(({ text }) => text)).toEqual(expect.arrayContaining(watched))
})

test('an update that changes much waits until a person has looked through it, and nothing else is applied', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now: early, config })
  const asha = await aPerson(app)
  const source = await watch(app, asha, receiver.url, { missingMeansPaid: true })
  const many = Array.from({ length: 101 }, (_, index) => line(index, 1000))
  receiver.answer({ status: 200, body: file(...many) })
  app.clock.set(eight)
  await app.runJobs()
  const text = 'This update changes 101 invoices. Look through it before it counts.'
  expect((await last(app, asha))?.lastPull).toMatchObject({ state: 'waiting', message: text })
  expect([await balances(app, asha), await notices(app, asha)]).toEqual([[], [['source_waiting', text]]])
  const refused = await pull(app, asha, source._id, { apply: true })
  expect([refused.status, refused.problem?.message]).toEqual([409, text])
  const { reply: looked } = await pull(app, asha, source._id)
  receiver.answer({ status: 200, body: file(...many.slice(1), line(0, 1)) })
  expect((await pull(app, asha, source._id, { apply: true, fingerprint: looked.fingerprint })).status).toBe(409)
  receiver.answer({ status: 200, body: file(...many) })
  expect((await pull(app, asha, source._id, { apply: true, fingerprint: looked.fingerprint })).reply.pull?.imported).toBe(101)
  expect(await notices(app, asha)).toEqual([])
  // Half of the file is missing: a third of the invoices would be paid.
  receiver.answer({ status: 200, body: file(...many.slice(0, 50)) })
  app.clock.advance({ days: 1 })
  await app.runJobs()
  expect((await last(app, asha))?.lastPull).toMatchObject({ state: 'waiting' })
  expect((await balances(app, asha)).filter((one) => one.endsWith(' 0'))).toEqual([])
  receiver.answer({ status: 200, body: file(...many.slice(0, 90)) })
  app.clock.advance({ days: 1 })
  await app.runJobs()
  expect((await last(app, asha))?.lastPull).toMatchObject({ state: 'applied', updated: 11, unchanged: 90 })
  expect((await balances(app, asha)).filter((one) => one.endsWith(' 0'))).toHaveLength(11)
})

/** B-1 is overdue, in the file with this balance. Daily reminders are on: 3 March is the next day. */
const overdue = (balance: number) => file(line(1, balance, '2026-02-20'))
async function remindFrom(app: TestApp, { id }: Person, nextRunAt = '2026-03-03T03:30:00Z') {
  const daily = { remindersActive: true, nextRunAt: Temporal.Instant.from(nextRunAt), nextRunFrom: nextRunAt.slice(0, 10) }
  await app.db.update(accounts).set(daily).where(eq(accounts.id, id))
}

/** An overdue invoice of a watched address, about which the daily run of tomorrow sends an email. */
async function importOverdue(app: TestApp, who: Person, receiver: FakeReceiver) {
  receiver.answer({ status: 200, body: overdue(1000) })
  const source = await watch(app, who, receiver.url)
  await pull(app, who, source._id, { apply: true })
  await remindFrom(app, who)
}

test('where Duely was not running in the hour before, the daily run waits until the address was read', async () => {
  await using receiver = await openFakeReceiver()
  await using office = await anOffice({ now: early, config })
  const { app, asha, smtp } = office
  await importOverdue(app, asha, receiver)
  const makeRuns = () => makeDueRuns(app.db, app.deps.queue, app.clock.now(), { unread: waitsForSources(app.clock.now()) })
  let seen = -1
  receiver.answer(async () => {
    // The address is being read: no run yet.
    await makeRuns()
    seen = await app.db.$count(runs)
    return { status: 200, body: overdue(0) }
  })
  app.clock.set('2026-03-03T04:00:00Z')
  await makeRuns()
  expect(await app.db.$count(runs)).toBe(0)
  await app.runJobs()
  expect([seen, await app.db.$count(runs), await balances(app, asha), smtp.mails.length]).toEqual([0, 1, ['B-1 0'], 0])
})

test('a file that is still being read at the hour of the daily run holds it up until then', async () => {
  await using receiver = await openFakeReceiver()
  await using office = await anOffice({ now: early, config })
  const { app, asha, smtp } = office
  await importOverdue(app, asha, receiver)
  let seen = -1
  receiver.answer(async () => {
    app.clock.set('2026-03-03T03:30:10Z')
    await makeDueRuns(app.db, app.deps.queue, app.clock.now(), { unread: waitsForSources(app.clock.now()) })
    seen = await app.db.$count(runs)
    return { status: 200, body: overdue(0) }
  })
  app.clock.set('2026-03-03T03:27:00Z')
  await app.runJobs()
  expect([seen, await app.db.$count(runs), await balances(app, asha), smtp.mails.length]).toEqual([0, 1, ['B-1 0'], 0])
})

test('an address that cannot be read is tried again: every ten minutes before the daily run, and every minute while that waits for it, five at most', async () => {
  await using receiver = await openFakeReceiver()
  await using office = await anOffice({ now: early, config })
  const { app, asha, smtp } = office
  await importOverdue(app, asha, receiver)
  receiver.answer({ status: 503 })
  const day = async (from: string, minutes: number, every = 1) => {
    const before = receiver.calls.length
    for (let minute = 0; minute <= minutes; minute += every) {
      app.clock.set(Temporal.Instant.from(from).add({ minutes: minute }).toString())
      await app.runJobs()
    }
    return [receiver.calls.length - before, await app.db.$count(runs), smtp.mails.length]
  }
  // At 8:00, 8:10, … 8:50; the run does not wait for it.
  expect(await day(eight, 55, 5)).toEqual([6, 0, 0])
  expect(await day('2026-03-03T03:30:00Z', 0)).toEqual([0, 1, 1])
  expect((await last(app, asha))?.failures).toBe(1)
  // Asleep until 9:30.
  expect(await day('2026-03-04T04:00:00Z', 4)).toEqual([5, 1, 1])
  expect(await day('2026-03-04T04:05:00Z', 45, 15)).toEqual([0, 2, 2])
  expect((await last(app, asha))?.failures).toBe(2)
  // Its network comes back after two minutes.
  expect(await day('2026-03-05T04:00:00Z', 1)).toEqual([2, 2, 2])
  receiver.answer({ status: 200, body: overdue(0) })
  expect(await day('2026-03-05T04:02:00Z', 8, 4)).toEqual([1, 3, 2])
  expect([await last(app, asha), await notices(app, asha)]).toEqual([expect.objectContaining({ failures: 0 }), []])
  // Just before 18:00 nothing is waited for: the day would be over.
  receiver.answer({ status: 503 })
  await anInvoice(app, { owner: asha, clientEmail: 'other@client.example', dueDate: '2026-02-20' })
  expect(await day('2026-03-06T12:27:00Z', 0)).toEqual([1, 4, 3])
})

test('an address whose changes the database refuses is read again before the daily run', async () => {
  await using receiver = await openFakeReceiver()
  await using office = await anOffice({ now: early, config })
  const { app, asha, smtp } = office
  receiver.answer({ status: 200, body: file(line(1, 1000, '2026-02-20'), line(2, 1000, '2026-02-20')) })
  const source = await watch(app, asha, `${receiver.url}/books.csv`)
  await pull(app, asha, source._id, { apply: true })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  const before = smtp.mails.length
  receiver.answer({ status: 200, body: file(line(1, 0, '2026-02-20'), line(2, 1000, '2026-02-20')) })
  app.clock.set(eight)
  {
    await using _refused = await refusedUpdates(app, 'invoices', 'true')
    await app.runJobs()
  }
  expect(app.errorsLogged.splice(0)).not.toEqual([])
  expect((await last(app, asha))?.lastPull).toMatchObject({ state: 'failed', message: texts.source.notApplied })
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  expect(await last(app, asha)).toMatchObject({ failures: 0, lastPull: { state: 'applied' } })
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails.slice(before).map(({ envelope }) => envelope.to[0])).toEqual(['pay2@client.example'])
})

test('an address is read again on the day on which the database went away while it was read, and one that ends the process once more', async () => {
  await using receiver = await openFakeReceiver()
  await using office = await anOffice({ now: early, config })
  const { app, asha, smtp } = office
  await importOverdue(app, asha, receiver)
  receiver.answer({ status: 200, body: overdue(0) })
  const before = receiver.calls.length
  const read = () => receiver.calls.length - before
  const on = async (instant: string, isAway: boolean) => {
    app.clock.set(instant)
    // What the try led to is lost, also that it failed.
    const away = isAway ? await refusedUpdates(app, 'sources', 'OLD.tried_at IS NOT DISTINCT FROM NEW.tried_at') : null
    await (away ? expect(app.runJobs()).rejects.toThrow() : app.runJobs())
    await away?.[Symbol.asyncDispose]()
    app.errorsLogged.splice(0)
    // A job that failed waits by the clock of the database.
    await app.db.execute(sql`UPDATE jobs SET not_before = now()`)
  }
  await on(eight, true)
  await on('2026-03-03T02:35:00Z', false)
  expect(read()).toBe(1)
  await on('2026-03-03T02:40:00Z', false)
  expect([read(), (await last(app, asha))?.failures, await balances(app, asha)]).toEqual([2, 0, ['B-1 0']])
  await on('2026-03-03T03:30:00Z', false)
  expect([read(), smtp.mails.length]).toEqual([2, 0])
  // The next day no try has an end.
  for (const minute of ['30', '40']) await on(`2026-03-04T02:${minute}:00Z`, true)
  await on('2026-03-04T02:50:00Z', false)
  expect([read(), (await last(app, asha))?.failures]).toEqual([4, 1])
  await on('2026-03-05T02:30:00Z', false)
  expect([read(), (await last(app, asha))?.failures]).toEqual([5, 0])
})

test('without a plan nothing is read, and when one is bought again, held emails wait until the address was', async () => {
  await using smtp = await openFakeSmtp()
  await using receiver = await openFakeReceiver()
  await using shop = await openShop({ now: early, config })
  const { app } = shop
  const asha = await aPerson(app, { confirmed: true })
  await aMailbox(app, asha, smtp)
  receiver.answer({ status: 200, body: file(line(1, 1000, '2026-03-30'), line(2, 1000, '2026-03-30')) })
  const source = await watch(app, asha, receiver.url)
  await pull(app, asha, source._id, { apply: true })
  await remindFrom(app, asha)
  await app.runJobs()
  const calls = receiver.calls.length
  // The trial ended on 16 March.
  for (const day of ['2026-04-01', '2026-04-02', '2026-04-03'])
    for (const at of ['T02:30:00Z', 'T03:30:00Z']) {
      app.clock.set(`${day}${at}`)
      await app.runJobs()
    }
  receiver.answer({ status: 200, body: file(line(1, 0, '2026-03-30'), line(2, 1000, '2026-03-30')) })
  app.clock.set('2026-04-03T05:00:00Z')
  expect([receiver.calls.length, smtp.mails]).toEqual([calls, []])
  await buyOnce(shop, await signedInAgain(app, asha), 'pro')
  await shop.settle()
  expect([receiver.calls.length, smtp.mails.map(({ envelope }) => envelope.to)]).toEqual([calls + 1, [['pay2@client.example']]])
})

test('what is empty, broken, huge or no file changes nothing, is named, and is a notice after three failures', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now: early, config })
  const asha = await aPerson(app)
  receiver.answer({ status: 200, body: file(line(1, 1000), line(2, 1000)) })
  const source = await watch(app, asha, receiver.url, { missingMeansPaid: true })
  await pull(app, asha, source._id, { apply: true })
  const before = await balances(app, asha)
  const broken: [answer: Parameters<typeof receiver.answer>[0], message: string][] = [
    [{ status: 200, body: '' }, 'The file has no invoices. Nothing was changed.'],
    [{ status: 200, body: head }, 'The file has no invoices. Nothing was changed.'],
    [{ status: 200, body: file('B-1,,,,,', 'Total,,,,2000,') }, 'The file has no invoices. Nothing was changed.'],
    [{ status: 200, body: 'a,b\n1,2' }, 'The file needs columns for number, client, email, amount and due date. Nothing was changed.'],
    [
      { status: 200, body: '<!doctype html><title>Sign in</title>' },
      'There is no CSV file at this address. Check that everyone who has the link can read it.',
    ],
    [{ status: 200, body: 'x'.repeat(5 * 1024 * 1024 + 1) }, 'The file is larger than 5 MB.'],
    [{ status: 200, body: 'B,\n'.repeat(20_001) }, 'The file has more than 20,000 lines.'],
    [{ status: 200, body: '\n'.repeat(5 * 1024 * 1024) }, 'The file has no invoices. Nothing was changed.'],
    [{ status: 200, body: ','.repeat(5 * 1024 * 1024) }, texts.source.longRow(1)],
    [{ status: 200, body: file(line(1, 1000), '', `"${line(2, 1000)}`, 'x\n'.repeat(30_000)) }, texts.source.longRow(4)],
    [{ status: 200, body: file(line(1, 1000), `${','.repeat(1_000)}1`) }, texts.source.longRow(3)],
    ['reset', '127.0.0.1 closed the connection.'],
    [{ status: 404 }, '127.0.0.1 answered 404. Check that everyone who has the link can read the file.'],
  ]
  for (const [answer, message] of broken) {
    receiver.answer(answer)
    const refused = await pull(app, asha, source._id, { apply: true })
    expect([refused.status, refused.problem?.message.replace(`:${receiver.port}`, '')]).toEqual([400, message])
  }
  app.clock.set('2026-03-02T02:30:00Z')
  for (const failures of [1, 2, 3]) {
    app.clock.advance({ days: 1 })
    await app.runJobs()
    expect(await last(app, asha)).toMatchObject({ failures, lastPull: { state: 'failed' } })
    expect((await notices(app, asha)).length).toBe(failures < 3 ? 0 : 1)
  }
  expect(await balances(app, asha)).toEqual(before)
  receiver.answer({ status: 200, body: file(line(1, 1000), line(2, 1000)) })
  expect((await pull(app, asha, source._id, { apply: true })).status).toBe(200)
  expect([(await last(app, asha))?.failures, await notices(app, asha)]).toEqual([0, []])
})

const unrecorded = 'The rows concerned were not recorded: import the file once yourself, and your answers are kept for it.'

// Takes 3 s: four days of one account.
test('what a file leaves open is not recorded: the owner is asked, and rows that are certain still follow', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now: early, config })
  const asha = await aPerson(app)
  const dated = (due: string, status = 'Sent', balance = 1000) =>
    ['No,Client,Email,Amount,Balance,Due Date,Status', `B-1,Client 1,pay1@client.example,1000,${balance},${due},${status}`].join('\n')
  const source = await watch(app, asha, receiver.url)
  receiver.answer({ status: 200, body: dated('03/05/2026') })
  app.clock.set(eight)
  await app.runJobs()
  const open = 'In the column Due Date, 03/05/2026 can be 3 May 2026 or 5 March 2026. Write dates as 2026-05-31 in the file.'
  const message = `${open} ${unrecorded}`
  expect(await last(app, asha)).toMatchObject({ failures: 0, lastPull: { state: 'waiting', message } })
  expect([await balances(app, asha), await notices(app, asha)]).toEqual([[], [['source_waiting', message]]])
  const { reply: looked } = await pull(app, asha, source._id)
  expect(looked).toMatchObject({ changes: 0, asks: [open], lines: [{ reference: 'B-1', state: 'waits' }] })
  const refused = await pull(app, asha, source._id, { apply: true, fingerprint: looked.fingerprint })
  expect([refused.status, refused.problem?.message]).toEqual([409, message])
  // One row is certain, another has a word that is not known.
  const other = 'B-2,Client 2,pay2@client.example,70,70,2026-06-01,Disputed'
  receiver.answer({ status: 200, body: `${dated('2026-05-03', 'Sent', 400)}\n${other}` })
  app.clock.advance({ days: 1 })
  await app.runJobs()
  expect(await balances(app, asha)).toEqual(['B-1 400'])
  expect((await last(app, asha))?.lastPull).toMatchObject({
    state: 'applied',
    imported: 1,
    refused: 1,
    message: `In the column Status, Duely does not know what this means: “Disputed”. ${unrecorded}`,
  })
  expect(await notices(app, asha)).toEqual([])
  // What a person answered where they imported such a file themselves holds for this one too.
  const headings = 'no|client|email|amount|balance|due date|status'
  const answers = [
    { question: 'order/due date', answer: 'dmy' },
    { question: 'status/status/disputed', answer: 'unpaid' },
  ]
  await ask(app, asha, fileLayoutCalls.keep, { body: { kind: 'invoices', headings, name: 'Ledger', answers } })
  receiver.answer({ status: 200, body: `${dated('03/05/2026', 'Sent', 300)}\n${other}` })
  app.clock.advance({ days: 1 })
  await app.runJobs()
  expect(await balances(app, asha)).toEqual(['B-1 300', 'B-2 70'])
  expect((await last(app, asha))?.lastPull).toMatchObject({ state: 'applied', message: null })
})

test('a file of 20,000 lines with many columns is read within the memory that a reading has, and blank lines keep their numbers', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now: early, config })
  const asha = await aPerson(app)
  const lines = Array.from({ length: 19_999 }, (_, nth) => `${line(nth, 1000)}${',abc'.repeat(48)}`)
  receiver.answer({ status: 200, body: `\n\n${file(...lines)}\n\n` })
  const source = await watch(app, asha, receiver.url)
  const { reply } = await pull(app, asha, source._id)
  expect([reply.changes, reply.lines.at(0)?.line, reply.lines.at(-1)?.line]).toEqual([19_999, 4, 503])
})

/** Timers that pass when they are let. */
function heldTimers() {
  const held = new Set<{ ms: number; then(): void }>()
  let [awaited, isSet] = [0, () => undefined as void]
  const after = (ms: number, then: () => void) => {
    const one = { ms, then }
    held.add(one)
    if (ms === awaited) isSet()
    return () => void held.delete(one)
  }
  return {
    timers: { ...systemTimers, after },
    /** Resolves once the next timer of so many ms is set. */
    next(ms: number) {
      const { promise, resolve } = Promise.withResolvers<void>()
      ;[awaited, isSet] = [ms, resolve]
      return promise
    },
    pass(ms: number) {
      for (const one of held) if (one.ms === ms && held.delete(one)) one.then()
    },
  }
}

/** A receiver whose answer to `/slow` comes once it is `over`. */
function holdSlow(receiver: FakeReceiver, calls: number, file: string) {
  const [reached, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  receiver.answer(async ({ path }, nth) => {
    if (nth === calls) reached.resolve()
    if (path !== '/slow') return { status: 200, body: file }
    await over.promise
    return { status: 404 }
  })
  return { reached: reached.promise, over: over.resolve }
}

test('slow servers hold a quarter of the slots: others are pulled meanwhile, and what was interrupted or waited is pulled later', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now: early, config })
  const people: Person[] = []
  for (let nth = 0; nth < 18; nth += 1) people.push(await aPerson(app))
  const [asha, meera, ...slow] = people as [Person, Person, ...Person[]]
  for (const one of people) await watch(app, one, `${receiver.url}/${slow.includes(one) ? 'slow' : 'quick'}`)
  const { reached, over } = holdSlow(receiver, slow.length, file(line(1, 1000)))
  app.clock.set(eight)
  const { timers, next, pass } = heldTimers()
  const reach = { ...sourceReach(app.deps.config), shares: openShares(timers) }
  const start = (who: Person) => pullDue({ ...app.deps, onChange: async () => false }, who.id, reach, never)
  const states = async (some: Person[]) => {
    const all: unknown[] = []
    for (const one of some) all.push((await last(app, one))?.lastPull?.state ?? 'due')
    return all
  }
  const slowPulls = slow.map(start)
  await reached
  const waits = next(10_000)
  const waiting = start(meera)
  await waits
  pass(10_000)
  await waiting
  expect(receiver.calls).toHaveLength(16)
  const quick = start(asha)
  pass(5_000)
  await quick
  expect([await states([asha, meera]), reach.shares.files.inUse()]).toEqual([['applied', 'due'], 4])
  over()
  await Promise.all(slowPulls)
  expect((await states(slow)).toSorted()).toEqual([...Array(12).fill('due'), ...Array(4).fill('failed')])
  await app.runJobs()
  expect(await states([asha, meera, ...slow])).toEqual(['applied', 'applied', ...slow.map(() => 'failed')])
})

test('a pull that is interrupted because its process stops is made by the next one', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now: early, config })
  const asha = await aPerson(app)
  await watch(app, asha, `${receiver.url}/slow`)
  const { reached } = holdSlow(receiver, 1, '')
  app.clock.set(eight)
  const stopping = new AbortController()
  const pulling = pullDue({ ...app.deps, onChange: async () => false }, asha.id, sourceReach(app.deps.config), stopping.signal)
  await reached
  stopping.abort()
  await pulling
  expect(await last(app, asha)).toMatchObject({ failures: 0, lastPull: null })
  receiver.answer({ status: 200, body: file(line(1, 1000)) })
  await app.runJobs()
  expect(await balances(app, asha)).toEqual(['B-1 1000'])
})

test('a file that is pulled by hand is read while another account has many to read', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now: early, config })
  const asha = await aPerson(app)
  receiver.answer({ status: 200, body: file(line(1, 1000)) })
  const source = await watch(app, asha, receiver.url)
  const over = new AbortController()
  using busy = sourceReach(app.deps.config).shares.readings.open('busy')
  const flood = Array.from({ length: 20 }, () => busy.acquire({ until: over.signal }))
  expect((await pull(app, asha, source._id)).reply.changes).toBe(1)
  over.abort()
  const [first, ...others] = await Promise.allSettled(flood)
  if (first?.status === 'fulfilled') first.value.release()
  expect(others.filter(({ status }) => status === 'fulfilled')).toEqual([])
})

test('a pull by hand is given up where others hold every slot until its browser would no longer wait', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now: early, config })
  const asha = await aPerson(app)
  const source = await watch(app, asha, receiver.url)
  const { timers, next, pass } = heldTimers()
  const reach = { ...sourceReach(app.deps.config), shares: openShares(timers) }
  using held = new DisposableStack()
  for (let nth = 0; nth < 16; nth += 1)
    held.defer((await held.use(reach.shares.files.open(`busy ${Math.floor(nth / 2)}`)).acquire()).release)
  const account = (await findAccount(app.db, asha.id)) as AccountRow
  const waits = next(40_000)
  const pulling = pullByHand({ ...app.deps, onChange: async () => false }, account, { id: source._id, apply: true }, reach)
  const refused = expect(pulling).rejects.toMatchObject({ code: 'too_many', message: texts.source.busy, retryAfter: 60 })
  await waits
  pass(40_000)
  await refused
  expect([receiver.calls.length, reach.shares.files.inUse()]).toEqual([0, 16])
})

test('addresses that are never called are refused, a link to a sheet becomes that of its file, and a job pulls one address', async () => {
  await using app = await openTestApp({ now: early })
  const [asha, meera] = [await aPerson(app), await aPerson(app)]
  for (const url of ['http://books.example/a.csv', 'https://10.0.0.7/a.csv', 'https://user@books.example/', 'https://localhost/a.csv'])
    expect((await ask(app, asha, sourceCalls.create, { body: { url } })).status).toBe(400)
  const source = await watch(app, asha, 'https://docs.google.com/spreadsheets/d/abc_1-2/edit?usp=sharing#gid=77')
  expect(source.url).toBe('https://docs.google.com/spreadsheets/d/abc_1-2/export?format=csv&gid=77')
  await watch(app, asha, 'https://127.0.0.1.nip.invalid/b.csv')
  for (const call of [sourceCalls.update, sourceCalls.remove, sourceCalls.pull])
    expect((await ask(app, meera, call, { params: { id: source._id }, body: {} } as never)).status).toBe(404)
  app.clock.set(eight)
  const { network, ...reach } = sourceReach(app.deps.config)
  const privately = { ...reach, network: { ...network, resolve: async () => ['10.0.0.7'] } }
  await pullDue({ ...app.deps, onChange: async () => false }, asha.id, privately, never)
  const { reply } = await ask(app, asha, sourceCalls.list)
  expect(reply.map(({ lastPull }) => lastPull?.message)).toEqual([
    'There is no public server called docs.google.com. Check the spelling.',
    undefined,
  ])
  const renamed = await ask(app, asha, sourceCalls.update, { params: { id: source._id }, body: { name: 'Ledger', daysToPay: 14 } })
  expect(renamed.reply).toMatchObject({ name: 'Ledger', daysToPay: 14, url: source.url })
})

test('an invoice of a watched address has the language of its line, also one that the business wrote its texts in', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now: early, config })
  const asha = await aPerson(app)
  const body = { useCustomTemplate: true, customSubject: 'Faktura', customContent: 'Hej {{clientName}}' }
  const query = { language: 'sv' }
  for (const save of [templateCalls.save, templateCalls.saveGroup]) await ask(app, asha, save, { query, body })
  const lines = ['sv', 'de', 'xx'].map((language, nth) => `${line(nth, 1000)},${language}`)
  receiver.answer({ status: 200, body: [`${head},Language`, ...lines].join('\n') })
  const source = await watch(app, asha, receiver.url)
  expect((await pull(app, asha, source._id, { apply: true })).reply.pull).toMatchObject({ imported: 2, refused: 1 })
  const { reply } = await ask(app, asha, invoiceCalls.list, { query: {} })
  expect(reply.map(({ reference, language }) => `${reference} ${language}`).toSorted()).toEqual(['B-0 sv', 'B-1 de'])
})

test('a watched address that is removed or changed while its file is read imports nothing from it', async () => {
  await using receiver = await openFakeReceiver()
  await using office = await anOffice({ now: early, config })
  const { app, asha } = office
  /** The file arrives once `meanwhile` is over. */
  const whileRead = async (body: string, read: () => Promise<unknown>, meanwhile: () => Promise<unknown>) => {
    const [asked, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    receiver.answer(async () => {
      asked.resolve()
      await over.promise
      return { status: 200, body }
    })
    const reading = read()
    await asked.promise
    await meanwhile()
    over.resolve()
    await reading
  }
  const { _id: id } = await watch(app, asha, `${receiver.url}/first.csv`)
  app.clock.set(eight)
  await whileRead(
    file(line(1, 1000)),
    () => app.runJobs(),
    async () => {
      const again = await signedInAgain(app, asha)
      await ask(app, again, sourceCalls.update, { params: { id }, body: { url: `${receiver.url}/second.csv` } })
      receiver.answer({ status: 200, body: file(line(2, 2000)) })
    },
  )
  await app.runJobs()
  expect(await balances(app, asha)).toEqual(['B-2 2000'])
  await whileRead(
    file(line(3, 3000)),
    async () => expect((await pull(app, asha, id, { apply: true })).problem).toMatchObject({ code: 'not_found' }),
    () => ask(app, asha, sourceCalls.remove, { params: { id } }),
  )
  expect(await balances(app, asha)).toEqual(['B-2 2000'])
})

test('missing means paid leaves an invoice of another client that only has the same number', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now: early, config })
  const asha = await aPerson(app)
  await anInvoice(app, { owner: asha, reference: 'B-1', clientName: 'Zenith', clientEmail: 'ap@zenith.example', amount: 700 })
  receiver.answer({ status: 200, body: file(line(1, 1000), line(2, 1000), line(3, 1000)) })
  await watch(app, asha, receiver.url, { missingMeansPaid: true })
  app.clock.set(eight)
  await app.runJobs()
  expect((await last(app, asha))?.lastPull).toMatchObject({ state: 'applied', imported: 2 })
  receiver.answer({ status: 200, body: file(line(2, 1000), line(3, 1000)) })
  app.clock.advance({ days: 1 })
  await app.runJobs()
  expect((await last(app, asha))?.lastPull).toMatchObject({ state: 'applied', unchanged: 2 })
  expect(await balances(app, asha)).toEqual(['B-1 700', 'B-2 1000', 'B-3 1000'])
})

test('an invoice with another reference here follows its line, stays deleted, and is neither created again nor missing', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now: early, config })
  let asha = await aPerson(app)
  const source = await watch(app, asha, receiver.url, { missingMeansPaid: true })
  const morning = async (...lines: string[]) => {
    receiver.answer({ status: 200, body: file(...lines) })
    app.clock.advance({ days: 1 })
    await app.runJobs()
    asha = await signedInAgain(app, asha)
    return [(await last(app, asha))?.lastPull, await balances(app, asha)]
  }
  const rename = async (from: string, reference: string) => {
    const one = (await ask(app, asha, invoiceCalls.list, { query: {} })).reply.find((each) => each.reference === from)
    await ask(app, asha, invoiceCalls.update, { params: { id: one?._id ?? '' }, body: { reference } })
    return one?._id ?? ''
  }
  app.clock.set('2026-03-02T02:30:00Z')
  await morning(line(1, 1000), line(2, 1000), line(3, 1000), line(4, 1000))
  await rename('B-1', 'B-1x')
  await rename('B-1x', 'B-1a')
  await rename('B-2', 'B-2a')
  const { reply: looked } = await pull(app, asha, source._id)
  expect([looked.changes, looked.lines]).toEqual([0, []])
  const rest = [line(3, 1000), line(4, 1000)]
  expect(await morning(line(1, 400), line(2, 1000), ...rest)).toEqual([
    expect.objectContaining({ state: 'applied', imported: 0, updated: 1, unchanged: 3 }),
    ['B-1a 400', 'B-2a 1000', 'B-3 1000', 'B-4 1000'],
  ])
  // Another client's is another invoice. What is missing under both references is paid, and stays so.
  const other = 'B-1,Zenith,ap@zenith.example,70,70,2026-04-01'
  expect((await morning(other, line(2, 1000), ...rest))[1]).toEqual(['B-1 70', 'B-1a 400', 'B-2a 1000', 'B-3 1000', 'B-4 1000'])
  expect((await morning(other, ...rest))[1]).toEqual(['B-1 70', 'B-1a 400', 'B-2a 0', 'B-3 1000', 'B-4 1000'])
  expect((await morning(other, line(2, 1000), ...rest))[1]).toEqual(['B-1 70', 'B-1a 400', 'B-2a 0', 'B-3 1000', 'B-4 1000'])
  // Where the source has the other reference too, the former one is free.
  const same = 'B-3a,Client 3,pay3@client.example,1000,1000,2026-04-01'
  await rename('B-3', 'B-3a')
  expect((await morning(other, same, line(3, 30), line(4, 1000)))[1]).toEqual([
    'B-1 70',
    'B-1a 400',
    'B-2a 0',
    'B-3 30',
    'B-3a 1000',
    'B-4 1000',
  ])
  const gone = await rename('B-4', 'B-4a')
  await ask(app, asha, invoiceCalls.remove, { params: { id: gone } })
  expect((await morning(other, same, line(3, 30), line(4, 1000)))[1]).toEqual(['B-1 70', 'B-1a 400', 'B-2a 0', 'B-3 30', 'B-3a 1000'])
})

test('below an admin, an address is listed by its name and last result, without its link', async () => {
  await using app = await openTestApp({ now: early })
  const owner = await aPerson(app)
  const source = await watch(app, owner, 'https://files.example.com/books.csv?key=7hVq2mXk')
  const seenAs = async (role: 'admin' | 'member' | 'viewer') => {
    const { token } = await aMember(app, owner, role)
    return (await ask(app, { token }, sourceCalls.list, {}, { [businessHeader]: owner.id })).reply
  }
  for (const role of ['member', 'viewer'] as const) expect(await seenAs(role)).toEqual([{ ...source, url: null }])
  expect(await seenAs('admin')).toEqual([source])
})
