// Also on PostgreSQL: choices and credit are kept under the lock of the account.
import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { clientCalls } from '#contract/clients.ts'
import { newStep, readySequences } from '#contract/ready-sequences.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { sequenceCalls } from '#contract/sequences.ts'
import { accounts } from '#server/accounts/tables.ts'
import { anInvoice, anOffice, aPerson, aSequence, type Person, sentOn, signedInAgain } from '#test/factories.ts'
import { ask, type TestApp } from '#test/harness.ts'
import { seeded } from '#test/seeded.ts'
import { openShop } from '#test/shop.ts'
import { times } from '#test/thorough.ts'
import { readLearned } from './learned.ts'
import { dateOfDay, dayNumber } from './plan.ts'
import { isCompared } from './smart.ts'
import { smartChoices } from './tables.ts'

const [ready] = readySequences
if (!ready) throw new Error('There is no sequence to begin from.')
const today = '2026-03-02'
const after = (days: number, date = today) => dateOfDay(dayNumber(date) + days)
const afterAWeek = { name: 'A week', everyDays: null, atMost: null, atLeast: 1, steps: [newStep(7, 'friendly')] }

/** Invoices of a client that were paid so many days after they were due. */
async function paid(app: TestApp, owner: Person, clientEmail: string, days: number[]): Promise<void> {
  for (const [nth, late] of days.entries()) {
    const dueDate = after(-100 - nth)
    const { _id } = await anInvoice(app, { owner, clientEmail, dueDate, issuedOn: after(-14, dueDate) })
    const on = after(late, dueDate)
    await app.db.execute(sql`
      WITH p AS (UPDATE invoices SET status = 'paid', paid_minor = amount_minor, paid_at = ${on}::timestamptz, paid_on = ${on}::date WHERE id = ${_id}::uuid RETURNING *)
      INSERT INTO invoice_payments (id, owner_id, invoice_id, kind, origin, amount_minor, paid_on, recorded_at)
      SELECT id, owner_id, id, 'payment', 'marked', amount_minor, paid_on, paid_at FROM p`)
  }
}

/** An invoice that is compared with others, or is not. */
async function open(app: TestApp, owner: Person, about: { clientEmail: string; dueDate: string; compared?: boolean }) {
  const { compared = false, ...given } = about
  for (;;) {
    const one = await anInvoice(app, { owner, ...given })
    if (isCompared(one._id) === compared) return one
    await app.db.execute(sql`DELETE FROM invoices WHERE id = ${one._id}::uuid`)
  }
}

const punctual = 'billing@kaveri.example'
const others = [12, 14, 15, 16, 18, 20, 21, 22, 25, 30, 33, 35]

/** Asha in India, before nine: a client who pays by day 6, others who pay late, and smart reminders. */
async function withHistory(sequence: Parameters<typeof aSequence>[2]) {
  const office = await anOffice({ now: `${today}T02:00:00Z` })
  const { app, asha } = office
  await paid(app, asha, punctual, [5, 6, 4, 6, 5, 6, 5, 6])
  await paid(app, asha, 'late@example.com', others)
  await aSequence(app, asha, sequence)
  const nextRunAt = Temporal.Instant.from(`${today}T03:30:00Z`)
  await app.db.update(accounts).set({ remindersActive: true, nextRunAt, nextRunFrom: today }).where(eq(accounts.id, asha.id))
  await ask(app, asha, reminderCalls.changeSettings, { body: { smart: true } })
  return office
}

async function runOn({ app, smtp }: Awaited<ReturnType<typeof withHistory>>, date: string): Promise<string[]> {
  const had = smtp.mails.length
  app.clock.set(`${date}T03:30:00Z`)
  await app.runJobs()
  return smtp.mails.slice(had).map(({ envelope }) => `${date} ${envelope.to[0]}`)
}

test('the reminder to a client who pays without one waits, says why, and leaves on the day that was chosen', async () => {
  await using office = await withHistory(afterAWeek)
  const { app, asha } = office
  const dueDate = after(-2)
  const { _id: id } = await open(app, asha, { clientEmail: punctual, dueDate })
  const compared = await open(app, asha, { clientEmail: punctual, dueDate, compared: true })
  const few = await open(app, asha, { clientEmail: 'new@example.com', dueDate })
  const why = 'Kaveri Foods usually pays by itself by day 6 (8 of 8 invoices). This reminder waits until 12/03/2026; it may not be needed.'
  const historyOf = async (invoice: string) => (await ask(app, asha, reminderCalls.history, { params: { id: invoice } })).reply
  const shown = { nextAt: `${after(12, dueDate)}T03:30:00Z`, movedFrom: after(7, dueDate), why, smart: true }
  // Before it is chosen as afterwards, and afterwards as it was chosen although more is known.
  expect(await historyOf(id)).toMatchObject(shown)
  const sent: string[] = []
  for (let day = 0; day < 14; day += 1) {
    sent.push(...(await runOn(office, after(day))))
    if (day < 10) expect(await historyOf(id), after(day)).toMatchObject(shown)
  }
  expect(sent).toEqual([`${after(7, dueDate)} ${punctual}`, `${after(7, dueDate)} new@example.com`, `${after(12, dueDate)} ${punctual}`])
  const chosen = await app.db.select().from(smartChoices).orderBy(smartChoices.day)
  expect(chosen.map(({ invoiceId, stepDate, day, reason }) => [invoiceId, stepDate, day, reason])).toEqual(
    expect.arrayContaining([
      [compared._id, after(7, dueDate), after(7, dueDate), { kind: 'compared' }],
      [few._id, after(7, dueDate), after(7, dueDate), { kind: 'learning', paid: 0, needed: 4 }],
      [id, after(7, dueDate), after(12, dueDate), { kind: 'waits', by: 6, count: 8, of: 8 }],
    ]),
  )
  expect(chosen).toHaveLength(3)
  const [account] = await app.db.select({ credit: accounts.smartCredit }).from(accounts).where(eq(accounts.id, asha.id))
  expect(account?.credit).toBeGreaterThan(0)
})

test('smart reminders are off at first, and can be off for a client and for an invoice', async () => {
  await using office = await withHistory(afterAWeek)
  const { app, asha } = office
  const dueDate = after(-2)
  await open(app, asha, { clientEmail: punctual, dueDate })
  const { _id: id } = await open(app, asha, { clientEmail: punctual, dueDate })
  const clients = async () => (await ask(app, asha, clientCalls.list)).reply
  const client = (await clients()).find(({ email }) => email === punctual)?._id ?? ''
  const movedOf = async () =>
    (await ask(app, asha, sequenceCalls.plan, { query: {} })).reply.mails.filter(({ movedFrom }) => movedFrom !== null).length
  expect(await movedOf()).toBe(2)
  const without = async (assignment: object) => {
    const body = { assignments: [{ ...assignment, smart: false }] }
    return (await ask(app, asha, sequenceCalls.simulate, { body })).reply.counts.moved
  }
  expect([await without({ invoiceId: id }), await without({ clientId: client })]).toEqual([1, 2])
  await ask(app, asha, sequenceCalls.assign, { params: { id }, body: { smart: false } })
  expect(await movedOf()).toBe(1)
  expect((await ask(app, asha, clientCalls.update, { params: { id: client }, body: { smart: false } })).reply.smart).toBe(false)
  expect(await movedOf()).toBe(0)
  await ask(app, asha, clientCalls.update, { params: { id: client }, body: { smart: true } })
  await ask(app, asha, sequenceCalls.assign, { params: { id }, body: { smart: true } })
  const off = (await ask(app, asha, sequenceCalls.simulate, { body: { settings: { smart: false } } })).reply
  expect(off.moved.map(({ from, localDate }) => [from, localDate])).toEqual([
    [after(12, dueDate), after(7, dueDate)],
    [after(12, dueDate), after(7, dueDate)],
  ])
  expect((await ask(app, asha, reminderCalls.changeSettings, { body: { smart: false, smartDays: 3 } })).reply).toMatchObject({
    smart: false,
    smartDays: 3,
  })
  expect(await movedOf()).toBe(0)
  expect(await runOn(office, today)).toEqual([])
  expect(await app.db.select().from(smartChoices)).toEqual([])
  expect((await ask(app, await aPerson(app), reminderCalls.settings)).reply).toMatchObject({ smart: false, smartDays: 5 })
})

test('a step whose day is chosen leaves on its date once smart reminders are off for its invoice or client', async () => {
  await using office = await withHistory(afterAWeek)
  const { app, asha } = office
  const dueDate = after(-2)
  const { _id: id } = await open(app, asha, { clientEmail: punctual, dueDate })
  for (let day = 0; day < 5; day += 1) await runOn(office, after(day))
  expect(await app.db.select().from(smartChoices)).toMatchObject([{ invoiceId: id, day: after(12, dueDate) }])
  const client = (await ask(app, asha, clientCalls.list)).reply.find(({ email }) => email === punctual)?._id ?? ''
  const nextOn = async () => (await ask(app, asha, reminderCalls.history, { params: { id } })).reply.nextAt?.slice(0, 10)
  const turn = {
    invoice: (smart: boolean) => ask(app, asha, sequenceCalls.assign, { params: { id }, body: { smart } }),
    client: (smart: boolean) => ask(app, asha, clientCalls.update, { params: { id: client }, body: { smart } }),
  }
  for (const of of [turn.invoice, turn.client]) {
    await of(false)
    expect(await nextOn()).toBe(after(7, dueDate))
    await of(true)
    expect(await nextOn()).toBe(after(12, dueDate))
  }
  await turn.client(false)
  expect(await runOn(office, after(5))).toEqual([`${after(7, dueDate)} ${punctual}`])
})

// Takes 2 s: 14 days of 16 invoices; all 30 in `npm run test:full`.
test('every email of 30 days leaves as it was shown, on the day and with the subject, with smart reminders', async () => {
  await using office = await withHistory(ready)
  const { app, asha } = office
  const random = seeded(8)
  const below = (limit: number) => Math.floor(random() * limit)
  for (let nth = 0; nth < 16; nth += 1) {
    const clientEmail = [punctual, 'late@example.com', 'new@example.com'][below(3)] ?? ''
    await open(app, asha, { dueDate: after(below(40) - 20), clientEmail, compared: nth % 5 === 0 })
  }
  const seen = (await ask(app, asha, sequenceCalls.plan, { query: {} })).reply
  expect(seen.mails.filter(({ movedFrom }) => movedFrom !== null).length).toBeGreaterThan(2)
  const days = Array.from({ length: times(7, 30) }, (_none, day) => after(day))
  const due = seen.mails.filter(({ localDate }) => days.includes(localDate))
  expect((await sentOn(office, days)).toSorted()).toEqual(
    due.map(({ at, clientEmail, subject }) => `${at} ${clientEmail} ${subject}`).toSorted(),
  )
})

test('a plan without smart reminders refuses to turn them on, and one that ends keeps what was chosen', async () => {
  await using shop = await openShop({ now: `${today}T02:00:00Z` })
  const { app } = shop
  const person = await aPerson(app)
  expect((await ask(app, person, reminderCalls.changeSettings, { body: { smart: true, smartDays: 4 } })).status).toBe(200)
  app.clock.advance({ hours: 15 * 24 })
  const asha = await signedInAgain(app, person)
  expect((await ask(app, asha, reminderCalls.settings)).reply).toMatchObject({ smart: true, smartDays: 4 })
  const refused = await ask(app, asha, reminderCalls.changeSettings, { body: { smart: true } })
  expect(refused).toMatchObject({ status: 402, problem: { code: 'plan_limit' } })
  expect((await ask(app, asha, reminderCalls.changeSettings, { body: { smart: false } })).reply.smart).toBe(false)
})

test('the comparison counts paid invoices of both groups, and tells no difference that cannot be seen', async () => {
  await using office = await withHistory(afterAWeek)
  const { app, asha } = office
  const read = async () => (await ask(app, asha, reminderCalls.smart)).reply
  expect(await read()).toMatchObject({ paid: 20, needed: 20, interval: null, words: 'Too few to tell', says: null })
  // Those with an odd number keep the plan.
  const put = async (kind: string, late: (nth: number) => number) => {
    for (let nth = 0; nth < 30; nth += 1) {
      const dueDate = after(-90)
      const { _id } = await anInvoice(app, { owner: asha, dueDate, clientEmail: `c${nth}@example.com` })
      const on = after(late(nth), dueDate)
      await app.db.execute(sql`
        WITH p AS (UPDATE invoices SET status = 'paid', paid_minor = amount_minor, paid_at = ${on}::timestamptz, paid_on = ${on}::date WHERE id = ${_id}::uuid RETURNING *),
          c AS (INSERT INTO smart_choices SELECT owner_id, id, due_date + 7, due_date + 7, 0.3, ${JSON.stringify({ kind })}::jsonb FROM p)
        INSERT INTO invoice_payments (id, owner_id, invoice_id, kind, origin, amount_minor, paid_on, recorded_at)
        SELECT id, owner_id, id, 'payment', 'marked', amount_minor, paid_on, paid_at FROM p`)
    }
  }
  await put('compared', (nth) => 10 + (nth % 5))
  await put('learning', () => 60)
  await put('earlier', (nth) => 4 + (nth % 5))
  // Means of 6 and 12, variances of 60 ÷ 29: the half of the interval is 1.645 · √(2 · 60 ÷ 29 ÷ 30) = 0.6.
  expect(await read()).toMatchObject({
    smart: { invoices: 30, daysLate: 6 },
    planned: { invoices: 30, daysLate: 12 },
    interval: [-6.6, -5.4],
    words: '6 days late with smart reminders, 12 without (30 and 30 invoices).',
    says: null,
  })
  await put('nothing', (nth) => 16 + (nth % 5))
  expect(await read()).toMatchObject({ smart: { invoices: 60, daysLate: 12 }, says: 'No difference can be seen' })
  const stranger = await aPerson(app)
  expect((await ask(app, stranger, reminderCalls.smart)).reply).toMatchObject({
    paid: 0,
    smart: { invoices: 0, daysLate: null, emails: null },
    words: 'Learning: 0 of 20 paid invoices.',
    says: null,
  })
})

test('what is learned from is read by pages, each invoice once', async () => {
  await using office = await withHistory(afterAWeek)
  const { app, asha } = office
  const { _id: unpaid } = await open(app, asha, { clientEmail: punctual, dueDate: today })
  // As an import leaves them: all created at the same moment.
  await app.db.execute(sql`UPDATE invoices SET created_at = ${after(-30)}::timestamptz WHERE client_email = ${punctual}`)
  const read = (pageOf: number) => readLearned(app.db, { id: asha.id, timezone: 'Asia/Kolkata', today }, { afterEmails: false, pageOf })
  const sorted = (of: object[]) => of.map((one) => JSON.stringify(one)).toSorted()
  const whole = await read(1_000)
  expect(whole.watched).toHaveLength(8 + others.length + 1)
  expect(whole.open).toEqual([{ id: unpaid, client: punctual, balance: 500_000, currency: 'INR', from: expect.any(Number), to: -1 }])
  for (const size of [1, 4, whole.watched.length]) {
    const { watched, open: still } = await read(size)
    expect(sorted(watched)).toEqual(sorted(whole.watched))
    expect(still).toEqual(whole.open)
  }
})

test('the days after each email about an invoice are learned from only where they are asked for', async () => {
  await using office = await withHistory(afterAWeek)
  const { app, asha } = office
  await open(app, asha, { clientEmail: 'late@example.com', dueDate: after(-6) })
  await runOn(office, after(1))
  const read = async (afterEmails: boolean) => {
    const { watched } = await readLearned(app.db, { id: asha.id, timezone: 'Asia/Kolkata', today: after(9) }, { afterEmails })
    return watched.filter(({ paid: isPaid }) => !isPaid)
  }
  expect(await read(false)).toMatchObject([{ client: 'late@example.com', to: 14, without: [7, 8, 9, 10] }])
  expect((await read(true)).map(({ without }) => without)).toEqual([undefined])
})
