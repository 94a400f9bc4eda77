// Also on PostgreSQL: an email to another time zone waits for its hour, and the claim compares its date.
import { and, eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { accountCalls } from '#contract/accounts.ts'
import type { CallInput } from '#contract/call.ts'
import { clientCalls } from '#contract/clients.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { quietDayCalls } from '#contract/quiet-days.ts'
import { newStep, readySequences } from '#contract/ready-sequences.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { sequenceCalls } from '#contract/sequences.ts'
import { accounts } from '#server/accounts/tables.ts'
import { clients } from '#server/invoices/tables.ts'
import { instantText } from '#server/platform/columns.ts'
import { rows } from '#server/platform/database.ts'
import { anInvoice, anOffice, aSequence, type Person, signedInAgain } from '#test/factories.ts'
import { ask, type TestApp } from '#test/harness.ts'
import { times } from '#test/thorough.ts'
import { makeDueRuns } from './daily-runs.ts'
import { countryOf, holidaysOf, weekendOf } from './holidays.ts'

const [ready] = readySequences
if (!ready) throw new Error('There are sequences to begin from.')

/** Asha in India with daily reminders at an hour, before the run of this date. */
async function from(date: string, hour = 9, timezone = 'Asia/Kolkata') {
  const all = await anOffice({ now: `${date}T00:30:00Z` })
  const nextRunAt = Temporal.PlainDateTime.from(`${date}T00:00`).with({ hour }).toZonedDateTime(timezone).toInstant()
  await all.app.db
    .update(accounts)
    .set({ remindersActive: true, reminderHour: hour, timezone, nextRunAt, nextRunFrom: date })
    .where(eq(accounts.id, all.asha.id))
  return all
}

type Settings = NonNullable<CallInput<typeof reminderCalls.changeSettings>['body']>
const set = async (app: TestApp, person: Person, body: Settings) => (await ask(app, person, reminderCalls.changeSettings, { body })).reply
const accountOf = async (app: TestApp, { id }: Person) => (await app.db.select().from(accounts).where(eq(accounts.id, id)))[0]

/** An overdue invoice of a client who lives in a time zone. */
async function clientIn(
  app: TestApp,
  owner: Person,
  timezone: string | null,
  dueDate: string,
  clientEmail = `${timezone ?? 'home'}@example.com`,
) {
  const invoice = await anInvoice(app, { owner, dueDate, clientEmail: clientEmail.replace('/', '.') })
  const [client] = await app.db
    .select()
    .from(clients)
    .where(and(eq(clients.ownerId, owner.id), eq(clients.emailKey, invoice.clientEmail.toLowerCase())))
  if (!client) throw new Error('An invoice has a client.')
  if (timezone !== null) await ask(app, owner, clientCalls.update, { params: { id: client.id }, body: { timezone } })
  return { email: invoice.clientEmail, id: client.id, invoiceId: invoice._id }
}

/** What leaves until an instant: the clock goes from each run or email that is due to the next one. */
async function until({ app, smtp }: Awaited<ReturnType<typeof from>>, end: string) {
  const sent: { to: string; at: Temporal.Instant }[] = []
  for (;;) {
    const [next] = await rows(
      app.db,
      z.object({ at: instantText }),
      sql`SELECT least((SELECT min(next_run_at) FROM accounts), (SELECT min(next_try_at) FROM deliveries WHERE state IN ('queued', 'retrying'))) AS at`,
    )
    if (!next || Temporal.Instant.compare(next.at, end) >= 0) return sent
    const before = smtp.mails.length
    app.clock.set(next.at)
    await app.runJobs()
    sent.push(...smtp.mails.slice(before).map(({ envelope }) => ({ to: envelope.to[0] ?? '', at: Temporal.Instant.from(next.at) })))
  }
}

/** `2026-11-09 9` */
const local = (at: Temporal.Instant, zone: string) => {
  const there = at.toZonedDateTimeISO(zone)
  return `${there.toPlainDate().toString()} ${there.hour}`
}

test('no reminder leaves on Diwali 2026 in India where public holidays are quiet, and the day says so', async () => {
  await using all = await from('2026-11-07')
  const { app, asha } = all
  await set(app, asha, { quietHolidays: true })
  const { invoiceId } = await clientIn(app, asha, null, '2026-11-01')
  const sent = await until(all, '2026-11-09T06:00:00Z')
  expect(sent.map(({ at }) => local(at, 'Asia/Kolkata'))).toEqual(['2026-11-07 9', '2026-11-09 9'])
  const { days } = (await ask(app, await signedInAgain(app, asha), reminderCalls.history, { params: { id: invoiceId } })).reply
  expect(days.map(({ outcome }) => outcome)).toEqual(['sent', 'quiet', 'sent'])
})

test('a step on a quiet day moves to the next open one, and the invoice, the plan and the run name the holiday', async () => {
  await using all = await from('2026-11-06')
  const { app, asha } = all
  const sequence = await aSequence(app, asha, { name: 'Ours', steps: [newStep(1, 'friendly')], everyDays: null, atMost: null, atLeast: 1 })
  await set(app, asha, { quietWeekends: true, quietHolidays: true })
  const { invoiceId } = await clientIn(app, asha, null, '2026-11-07')
  const why = { movedFrom: '2026-11-08', why: 'Diwali (Deepavali) in India' }
  const { mails } = (await ask(app, asha, sequenceCalls.plan, { query: {} })).reply
  expect(mails).toMatchObject([{ at: '2026-11-09T03:30:00Z', sequence, ...why }])
  expect((await ask(app, asha, reminderCalls.history, { params: { id: invoiceId } })).reply).toMatchObject({
    nextAt: '2026-11-09T03:30:00Z',
    ...why,
  })
  expect((await until(all, '2026-11-10T06:00:00Z')).map(({ at }) => local(at, 'Asia/Kolkata'))).toEqual(['2026-11-09 9'])
})

test('own days are quiet, or open despite a holiday, and the whole list is replaced', async () => {
  await using all = await from('2026-11-07')
  const { app, asha } = all
  await clientIn(app, asha, null, '2026-11-01')
  await set(app, asha, { quietHolidays: true })
  const days = [
    { date: '2026-11-09', name: 'Stocktaking', open: false },
    { date: '2026-11-08', name: '', open: true },
  ]
  const saved = await ask(app, asha, quietDayCalls.replaceOwnDays, { body: { days } })
  expect(saved.reply.days).toEqual(days.toReversed())
  const sent = await until(all, '2026-11-10T06:00:00Z')
  expect(sent.map(({ at }) => local(at, 'Asia/Kolkata'))).toEqual(['2026-11-07 9', '2026-11-08 9', '2026-11-10 9'])
  const again = await signedInAgain(app, asha)
  expect((await ask(app, again, quietDayCalls.read, { query: {} })).reply.ownDays).toEqual(days.toReversed())
  expect((await ask(app, again, quietDayCalls.replaceOwnDays, { body: { days: [] } })).reply.days).toEqual([])
  const twice = await ask(app, again, quietDayCalls.replaceOwnDays, { body: { days: [...days, ...days] } })
  expect(twice.problem).toMatchObject({ code: 'invalid', message: 'Please enter each day once.' })
})

test('each change of the own days is in the audit log', async () => {
  await using all = await from('2026-11-07')
  const { app, asha } = all
  const day = { date: '2026-11-09', name: 'Stocktaking', open: false }
  for (const days of [[day], [day], [{ ...day, open: true }], []]) await ask(app, asha, quietDayCalls.replaceOwnDays, { body: { days } })
  const { reply } = await ask(app, asha, accountCalls.audit, { query: {} })
  expect(reply.flatMap(({ kind, text }) => (kind === 'quiet_days_changed' ? text : []))).toEqual(Array(3).fill('Own quiet days changed.'))
  expect(reply.filter(({ kind }) => kind === 'reminder_settings_changed')).toEqual([])
})

test('own days that are changed from what they were keep what others changed meanwhile', async () => {
  await using all = await from('2026-11-07')
  const { app, asha } = all
  const day = (date: string, name: string) => ({ date: `2026-12-${date}`, name, open: false })
  const [stocktaking, works, party] = [day('01', 'Stocktaking'), day('02', 'Works'), day('03', 'Party')]
  const save = (body: CallInput<typeof quietDayCalls.replaceOwnDays>['body']) => ask(app, asha, quietDayCalls.replaceOwnDays, { body })
  const was = [stocktaking]
  await save({ days: was })
  // Two people save what they began from the same day.
  await Promise.all([save({ days: [stocktaking, works], was }), save({ days: [party], was })])
  const { reply } = await ask(app, asha, quietDayCalls.read, { query: {} })
  expect(reply.ownDays).toEqual([works, party])
  const many = Array.from({ length: 199 }, (_none, nth) => ({
    ...party,
    date: Temporal.PlainDate.from('2027-01-01').add({ days: nth }).toString(),
  }))
  expect((await save({ days: many, was: [] })).problem).toMatchObject({ code: 'invalid', message: 'Please enter at most 200 days.' })
  expect((await save({ days: [], was: [works] })).reply.days).toEqual([party])
  expect((await save({ days: [works] })).reply.days).toEqual([works])
})

test('the first sequence of an account ticks both switches, unless they are named or were chosen before', async () => {
  await using all = await from('2026-03-02')
  const { app, asha } = all
  expect(await set(app, asha, {})).toMatchObject({
    sequence: 'every_day',
    quietWeekends: false,
    quietHolidays: false,
    quietChosen: false,
    ownHolidaysToo: true,
    country: null,
    region: null,
  })
  expect(await accountOf(app, asha)).toMatchObject({ plansSteps: false })
  const made = (await ask(app, asha, sequenceCalls.create, { body: ready })).reply._id
  const seen = (await ask(app, asha, sequenceCalls.simulate, { body: { settings: { sequence: made } } })).reply.fingerprint
  expect(await set(app, asha, { sequence: made, fingerprint: seen })).toMatchObject({
    quietWeekends: true,
    quietHolidays: true,
    quietChosen: true,
  })
  await set(app, asha, { quietWeekends: false })
  await set(app, asha, { sequence: 'every_day' })
  expect(await accountOf(app, asha)).toMatchObject({ plansSteps: true })
  expect(await set(app, asha, { sequence: made })).toMatchObject({ quietWeekends: false, quietHolidays: true })
})

test('GET /reminder/holidays answers the place of the account, of its time zone, or another one', async () => {
  await using all = await from('2026-03-02')
  const { app, asha } = all
  const read = async (query: CallInput<typeof quietDayCalls.read>['query'] = {}) =>
    (await ask(app, asha, quietDayCalls.read, { query })).reply
  expect(await read()).toMatchObject({ country: 'IN', name: 'India', region: null, weekend: [7], until: '2032-12-31' })
  expect((await read()).days[0]).toEqual({ date: '2026-03-04', name: 'Holi', mayMove: false })
  expect((await read()).countries).toHaveLength(250)
  expect(await read({ country: 'ae' })).toMatchObject({ country: 'AE', name: 'United Arab Emirates', weekend: [6, 7] })
  await set(app, asha, { country: 'DE', region: 'BY' })
  expect(await read()).toMatchObject({ country: 'DE', region: 'BY' })
  expect(await set(app, asha, { country: 'GB' })).toMatchObject({ country: 'GB', region: null })
  for (const body of [{ country: 'XX' }, { country: 'GB', region: 'BY' }]) {
    expect((await ask(app, asha, reminderCalls.changeSettings, { body })).problem).toMatchObject({ code: 'invalid' })
    expect((await ask(app, asha, sequenceCalls.simulate, { body: { settings: body } })).problem).toMatchObject({ code: 'invalid' })
    expect((await ask(app, asha, quietDayCalls.read, { query: body })).problem).toMatchObject({ code: 'invalid' })
  }
})

test('PATCH of a client keeps its country, region and time zone, and refuses what is unknown', async () => {
  await using all = await from('2026-03-02')
  const { app, asha } = all
  const { id } = await clientIn(app, asha, null, '2026-02-20')
  const patch = (body: CallInput<typeof clientCalls.update>['body']) => ask(app, asha, clientCalls.update, { params: { id }, body })
  const saved = await patch({ country: 'us', region: 'CA', timezone: 'America/Los_Angeles' })
  expect(saved.reply).toMatchObject({ country: 'US', region: 'CA', timezone: 'America/Los_Angeles' })
  expect(await accountOf(app, asha)).toMatchObject({ plansSteps: true })
  expect((await patch({ country: 'GB' })).reply).toMatchObject({ country: 'GB', region: null, timezone: 'America/Los_Angeles' })
  for (const body of [{ country: 'XX' }, { region: 'CA' }, { timezone: 'Nowhere/Nothing' }])
    expect((await patch(body)).problem).toMatchObject({ code: 'invalid' })
  expect((await patch({ country: null, region: null, timezone: null })).reply).toMatchObject({ country: null, timezone: null })
  expect(await accountOf(app, asha)).toMatchObject({ plansSteps: false })
})

// Row 8. Takes 2 s: 13 days of three clients, of six in test:full, while the clocks change in London.
test('clients elsewhere hear between the hour of the account and 18:00 by their own clock, on their own working days, once a day', async () => {
  await using all = await from('2026-03-26')
  const { app, asha } = all
  await set(app, asha, { quietWeekends: true, quietHolidays: true, ownHolidaysToo: false })
  const zones = [null, 'Asia/Dubai', 'Europe/London', 'Pacific/Honolulu', 'Pacific/Kiritimati', 'America/New_York'].slice(0, times(3, 6))
  const homes = await Promise.all(zones.map((zone) => clientIn(app, asha, zone, '2026-03-01')))
  const last = '2026-04-08'
  const sent = await until(all, `${last}T03:30:00Z`)
  for (const [nth, { email }] of homes.entries()) {
    const zone = zones[nth] ?? 'Asia/Kolkata'
    const country = countryOf(zone) ?? ''
    const its = sent.filter(({ to }) => to === email)
    const runs = its.map(({ at }) => at.toZonedDateTimeISO('Asia/Kolkata').subtract({ hours: 9 }).toPlainDate().toString())
    expect(new Set(runs).size, `${zone}: at most one of each run`).toBe(its.length)
    const dates = its.map(({ at }) => at.toZonedDateTimeISO(zone))
    const closed = new Set(holidaysOf({ country, region: null }).map(({ date }) => date))
    for (const there of dates) {
      expect(there.hour >= 9 && there.hour < 18, `${there.toString()} is within hours`).toBe(true)
      expect(weekendOf(country).has(there.dayOfWeek) || closed.has(there.toPlainDate().toString()), `${there.toString()} is open`).toBe(
        false,
      )
    }
    // From the first day to the last one every open day had one.
    const [begin, end] = [dates[0]?.toPlainDate(), dates.at(-1)?.toPlainDate()]
    const open: string[] = []
    for (let date = begin; date && end && Temporal.PlainDate.compare(date, end) <= 0; date = date.add({ days: 1 }))
      if (!weekendOf(country).has(date.dayOfWeek) && !closed.has(date.toString())) open.push(date.toString())
    expect(dates.map((there) => there.toPlainDate().toString())).toEqual(open)
    expect(open.length).toBeGreaterThan(5)
  }
})

test.each([
  ['is moved to another time zone', 'America/New_York', 'Australia/Sydney', ['2026-03-03 14']],
  ['gets the time zone of the account', null, 'Asia/Kolkata', ['2026-03-02 9', '2026-03-03 9']],
])('an email that waits while its client %s leaves within the hours there', async (_how, before, now, expected) => {
  await using all = await from('2026-03-02')
  const { app, asha, smtp } = all
  const { id } = await clientIn(app, asha, before, '2026-02-20')
  if (before === null) smtp.answer({ rcpt: () => '451 Try again later' })
  app.clock.set('2026-03-02T03:30:00Z')
  await app.runJobs()
  smtp.answer({})
  app.clock.set('2026-03-02T03:31:00Z')
  await ask(app, asha, clientCalls.update, { params: { id }, body: { timezone: now } })
  const sent = await until(all, '2026-03-04T03:30:00Z')
  expect(sent.map(({ at }) => local(at, now))).toEqual(expected)
})

test('an email that leaves after midnight of the account keeps its day: no step is lost, and the next day has its own', async () => {
  // At 10:00 in India it is 18:30 in Honolulu: its emails leave at 10:00 there, 01:30 of the next day in India.
  await using all = await from('2026-03-09', 10)
  const { app, asha } = all
  await aSequence(app, asha, {
    name: 'Ours',
    steps: [newStep(0, 'friendly'), newStep(1, 'friendly'), newStep(2, 'firm')],
    everyDays: null,
    atMost: null,
    atLeast: 1,
  })
  const { invoiceId } = await clientIn(app, asha, 'Pacific/Honolulu', '2026-03-10')
  const next = (await ask(app, asha, reminderCalls.history, { params: { id: invoiceId } })).reply
  expect(next).toMatchObject({ nextAt: '2026-03-10T20:00:00Z', atClient: '10:00', step: { offset: 0 } })
  const shown = (await ask(app, asha, sequenceCalls.plan, { query: {} })).reply.mails
  expect(shown.map(({ localDate }) => localDate)).toEqual(['2026-03-11', '2026-03-12', '2026-03-13'])
  const sent = await until(all, '2026-03-14T00:00:00Z')
  expect(sent.map(({ at }) => local(at, 'Pacific/Honolulu'))).toEqual(['2026-03-10 10', '2026-03-11 10', '2026-03-12 10'])
  expect(sent.map(({ at }) => at.toString())).toEqual(shown.map(({ at }) => at))
})

test('a client ahead of the account hears on the date of each step by its own clock, in words that are true there', async () => {
  // At 9:00 in Honolulu it is 9:00 of the next day in Kiritimati.
  await using all = await from('2026-03-08', 9, 'Pacific/Honolulu')
  const { app, asha, smtp } = all
  const late = { ...newStep(1, 'friendly'), subject: 'Late by {{daysOverdue}}' }
  await aSequence(app, asha, { name: 'Ours', steps: [newStep(0, 'friendly'), late], everyDays: null, atMost: null, atLeast: 1 })
  const { invoiceId } = await clientIn(app, asha, 'Pacific/Kiritimati', '2026-03-10')
  const everyDay = await clientIn(app, asha, 'Pacific/Kiritimati', '2026-03-10', 'daily@example.com')
  await ask(app, asha, sequenceCalls.assign, { params: { id: everyDay.invoiceId }, body: { sequence: 'every_day' } })
  const [shown, ofOne] = await Promise.all(
    [{ days: 5 }, { days: 5, invoice: invoiceId }].map(async (query) => (await ask(app, asha, sequenceCalls.plan, { query })).reply.mails),
  )
  if (!shown) throw new Error('There is a plan.')
  expect(ofOne).toEqual(shown.filter(({ invoiceIds }) => invoiceIds.includes(invoiceId)))
  const sent = await until(all, '2026-03-11T20:00:00Z')
  expect(sent.map(({ to, at }) => `${to} ${local(at, 'Pacific/Kiritimati')}`).toSorted()).toEqual([
    'Pacific.Kiritimati@example.com 2026-03-10 9',
    'Pacific.Kiritimati@example.com 2026-03-11 9',
    'daily@example.com 2026-03-11 9',
    'daily@example.com 2026-03-12 9',
  ])
  expect(shown.map(({ at }) => at)).toEqual(sent.map(({ at }) => at.toString()))
  for (const subjects of [smtp.mails, shown]) expect(subjects.map(({ subject }) => subject)).toContain('Late by 1')
  const [stored] = await rows(
    app.db,
    z.object({ through: z.string() }),
    sql`SELECT reminded_through::text AS through FROM invoices WHERE id = ${invoiceId}::uuid`,
  )
  expect(stored).toEqual({ through: '2026-03-11' })
})

test.each([30, 60] as const)('emails held for %i minutes leave in the hours of the client, as shown', async (holdMinutes) => {
  // At 9:00 in Los Angeles it is 17:00 in London: after an hour it is too late there, until the next morning.
  await using all = await from('2026-06-01', 9, 'America/Los_Angeles')
  const { app, asha } = all
  await set(app, asha, { holdMinutes })
  const { invoiceId } = await clientIn(app, asha, 'Europe/London', '2026-05-20')
  const { nextAt } = (await ask(app, asha, reminderCalls.history, { params: { id: invoiceId } })).reply
  const shown = (await ask(app, asha, sequenceCalls.plan, { query: { days: 4 } })).reply.mails.map(({ at }) => at)
  const sent = (await until(all, '2026-06-04T12:00:00Z')).map(({ at }) => at)
  const expected = holdMinutes === 30 ? ['01 17', '02 17', '03 17'] : ['02 9', '03 9', '04 9']
  expect(sent.map((at) => local(at, 'Europe/London'))).toEqual(expected.map((at) => `2026-06-${at}`))
  expect([nextAt, ...shown]).toEqual([String(sent[0]), ...sent.map(String)])
})

test.each(['invoice', 'client'] as const)('a promise of a client behind the account ends with its last day there (%s)', async (scope) => {
  await using all = await from('2026-03-08', 9, 'Australia/Sydney')
  const { app, asha } = all
  const { invoiceId } = await clientIn(app, asha, 'America/Los_Angeles', '2026-02-20')
  const promise = { paused: true, until: '2026-03-10', promised: true, note: '', scope }
  await ask(app, asha, invoiceCalls.pause, { params: { id: invoiceId }, body: promise })
  const shown = (await ask(app, asha, sequenceCalls.plan, { query: { days: 5 } })).reply.mails.map(({ at }) => at)
  const sent = (await until(all, '2026-03-11T20:00:00Z')).map(({ at }) => at)
  expect(sent.map((at) => local(at, 'America/Los_Angeles'))).toEqual(['2026-03-11 9'])
  expect(shown[0]).toBe(String(sent[0]))
})

test('an email that could not leave until the next run is planned again, for the rest of that day at the client', async () => {
  await using all = await from('2026-03-10')
  const { app, asha, smtp } = all
  await aSequence(app, asha, { name: 'Ours', steps: [newStep(1, 'friendly')], everyDays: null, atMost: null, atLeast: 1 })
  const { email } = await clientIn(app, asha, 'Pacific/Honolulu', '2026-03-09')
  smtp.answer({ rcpt: () => '451 Try again later' })
  for (const at of ['2026-03-10T03:30:00Z', '2026-03-10T19:00:00Z']) {
    app.clock.set(at)
    await app.runJobs()
  }
  expect(smtp.mails).toEqual([])
  smtp.answer({})
  const next = Temporal.Instant.from('2026-03-11T03:30:00Z')
  app.clock.set(next.toString())
  // Nothing has closed the email that is too late by now.
  await makeDueRuns(app.db, app.deps.queue, next)
  await app.runJobs()
  expect(smtp.mails.map(({ envelope }) => envelope.to[0])).toEqual([email])
  const states = z.object({ state: z.string(), until: instantText, date: z.string() })
  const made = sql`SELECT state, deadline_at AS until, client_date::text AS date FROM deliveries ORDER BY created_at`
  expect(await rows(app.db, states, made)).toEqual([
    { state: 'failed', until: next.toString(), date: '2026-03-10' },
    { state: 'sent', until: '2026-03-11T04:00:00Z', date: '2026-03-10' },
  ])
})
