// Also on PostgreSQL: emails are claimed, compared with the step shown, and sent.
import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { clientCalls } from '#contract/clients.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { newStep, readySequences } from '#contract/ready-sequences.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { type PlannedMail, sequenceCalls, sequenceDraft } from '#contract/sequences.ts'
import { accounts } from '#server/accounts/tables.ts'
import { anInvoice, anOffice, type Person, sentOn } from '#test/factories.ts'
import { ask, type TestApp } from '#test/harness.ts'
import { seeded } from '#test/seeded.ts'
import { times } from '#test/thorough.ts'
import { dateOfDay, dayNumber } from './plan.ts'

const [ready, gentle] = readySequences
if (!ready || !gentle) throw new Error('There are two sequences to begin from.')
const today = '2026-03-02'
const after = (days: number) => dateOfDay(dayNumber(today) + days)
const plain = sequenceDraft.parse({ name: 'Plain', steps: [newStep(1, 'friendly'), newStep(10, 'firm')] })

/** Asha in India with daily reminders at nine, before nine. */
async function before9(about: { active?: boolean } = {}) {
  const all = await anOffice({ now: `${today}T02:00:00Z` })
  const { app, asha } = all
  const nextRunAt = Temporal.Instant.from(`${today}T03:30:00Z`)
  if (about.active !== false)
    await app.db.update(accounts).set({ remindersActive: true, nextRunAt, nextRunFrom: today }).where(eq(accounts.id, asha.id))
  return all
}

const create = async (app: TestApp, person: Person, body = plain) => (await ask(app, person, sequenceCalls.create, { body })).reply._id

/** Of the 30 days that are planned, those that are lived through. */
const daysLived = Array.from({ length: times(7, 30) }, (_none, day) => after(day))
const isLived = ({ localDate }: PlannedMail) => daysLived.includes(localDate)
const line = ({ at, clientEmail, subject }: PlannedMail) => `${at} ${clientEmail} ${subject}`

const brief = ({ localDate, clientEmail, offset }: PlannedMail) => `${localDate} ${clientEmail} ${offset}`

// Takes 2 s: 16 invoices, twice; of the 30 days, `npm run test:full` lives through all.
test.each([false, true])(
  'every email of 30 days leaves as it was shown, to the minute and the subject; grouped: %s',
  async (groupByClient) => {
    await using all = await before9()
    const { app, asha } = all
    const random = seeded(groupByClient ? 11 : 5)
    const below = (limit: number) => Math.floor(random() * limit)
    for (let nth = 0; nth < 16; nth += 1) {
      const clientEmail = `client${below(5)}@example.com`
      const { _id: id } = await anInvoice(app, { owner: asha, dueDate: after(below(50) - 30), clientEmail, amount: 100 + below(900) })
      const sequence = (['every_day', 'never', null, null, null] as const)[below(5)] ?? null
      if (sequence) await ask(app, asha, sequenceCalls.assign, { params: { id }, body: { sequence } })
    }
    const sequence = await create(app, asha, sequenceDraft.parse(ready))
    const settings = { sequence, groupByClient }
    const seen = (await ask(app, asha, sequenceCalls.simulate, { body: { settings } })).reply
    expect(seen.after.length).toBeGreaterThan(10)
    expect((await ask(app, asha, reminderCalls.changeSettings, { body: { ...settings, fingerprint: seen.fingerprint } })).status).toBe(200)
    expect((await ask(app, asha, sequenceCalls.plan, { query: {} })).reply.mails).toEqual(seen.after)
    for (const [invoice = ''] of seen.after.slice(-3).map(({ invoiceIds }) => invoiceIds)) {
      const alone = (await ask(app, asha, sequenceCalls.plan, { query: { invoice } })).reply.mails
      expect(alone).toEqual(seen.after.filter(({ invoiceIds }) => invoiceIds.includes(invoice)))
    }
    const sent = await sentOn(all, daysLived)
    expect(sent.toSorted()).toEqual(seen.after.filter(isLived).map(line).toSorted())
  },
)

// 500 in `npm run test:full`.
test('hundreds of invoices imported 200 days late are shown, and get, one friendly email each', async () => {
  const many = times(120, 500)
  await using all = await before9()
  const { app, asha, smtp } = all
  const lines = Array.from({ length: many }, (_none, nth) => ({
    clientName: `Client ${nth}`,
    clientEmail: `client${nth}@example.com`,
    amount: 100,
    dueDate: after(-200),
  }))
  expect((await ask(app, asha, invoiceCalls.import, { body: { lines, pastDue: 'remind' } })).status).toBe(200)
  const sequence = await create(app, asha, sequenceDraft.parse(ready))
  const shown = (await ask(app, asha, sequenceCalls.simulate, { body: { settings: { sequence } } })).reply
  expect(shown.counts).toMatchObject({ before: 30 * many, after: many, added: 0, removed: 29 * many, moved: 0, reworded: 0 })
  expect(new Set(shown.after.map(({ localDate, tone, offset }) => `${localDate} ${tone} ${offset}`))).toEqual(
    new Set([`${today} friendly 7`]),
  )
  expect(shown.most).toMatchObject({ emails: 1 })
  await ask(app, asha, reminderCalls.changeSettings, { body: { sequence, fingerprint: shown.fingerprint } })
  for (const day of [0, 1, 2]) {
    app.clock.set(`${after(day)}T03:30:00Z`)
    await app.runJobs()
  }
  expect(smtp.mails).toHaveLength(many)
  expect(new Set(smtp.mails.map(({ envelope }) => envelope.to[0])).size).toBe(many)
})

test('a change is shown as emails added, removed, moved and reworded', async () => {
  await using all = await before9()
  const { app, asha } = all
  const { _id: id } = await anInvoice(app, { owner: asha, dueDate: after(2), clientEmail: 'kaveri@example.com' })
  const sequence = await create(app, asha)
  await ask(app, asha, sequenceCalls.assign, { params: { id }, body: { sequence } })
  const simulate = async (draft: Partial<typeof plain>) =>
    (await ask(app, asha, sequenceCalls.simulate, { body: { sequences: [{ ...plain, ...draft, _id: sequence }] } })).reply
  const same = await simulate({})
  expect(same.before.map(brief)).toEqual([`${after(3)} kaveri@example.com 1`, `${after(12)} kaveri@example.com 10`])
  expect(same.counts).toEqual({ before: 2, after: 2, added: 0, removed: 0, moved: 0, reworded: 0 })
  const [one, ten] = plain.steps
  if (!one || !ten) throw new Error('The sequence has two steps.')
  const more = await simulate({ steps: [newStep(-1, 'friendly'), one, ten], everyDays: 14 })
  expect(more.added.map(brief)).toEqual([`${after(1)} kaveri@example.com -1`, `${after(26)} kaveri@example.com 24`])
  expect(more.most).toEqual({ emails: 4, clientName: 'Kaveri Foods', clientEmail: 'kaveri@example.com' })
  expect((await simulate({ steps: [one] })).removed.map(brief)).toEqual([`${after(12)} kaveri@example.com 10`])
  const later = await simulate({ steps: [one, { ...ten, offset: 14 }] })
  expect(later.moved.map((mail) => [brief(mail), mail.from])).toEqual([[`${after(16)} kaveri@example.com 14`, after(12)]])
  const words = await simulate({ steps: [{ ...one, subject: 'Please pay {{invoiceId}}' }, ten] })
  expect(words.reworded.map(({ subject }) => subject)).toEqual(['Please pay INV-0001'])
  const apart = await simulate({ atLeast: 14 })
  expect(apart.moved.map((mail) => [brief(mail), mail.from])).toEqual([[`${after(17)} kaveri@example.com 10`, after(12)]])
  expect(apart.moved[0]).toMatchObject({
    movedFrom: after(12),
    why: 'Waiting until 19/03/2026: at least 14 days between two emails',
  })
  const none = await ask(app, asha, sequenceCalls.simulate, { body: { assignments: [{ invoiceId: id, sequence: 'never' }] } })
  expect(none.reply.counts).toMatchObject({ after: 0, removed: 2 })
  const [client] = (await ask(app, asha, clientCalls.list)).reply
  const never = { clientId: client?._id ?? '', sequence: 'never' }
  const ofClient = async (...assignments: object[]) =>
    (await ask(app, asha, sequenceCalls.simulate, { body: { assignments: [never, ...assignments] as [typeof never] } })).reply.counts
  // The choice of the invoice comes before that of its client.
  expect(await ofClient()).toMatchObject({ after: 2, removed: 0 })
  expect(await ofClient({ invoiceId: id, sequence: null })).toMatchObject({ after: 0, removed: 2 })
  // It was only looked at, and what is read can be looked at again.
  const { _id, name, version, steps, everyDays, atMost, atLeast } = (await ask(app, asha, sequenceCalls.read, { params: { id: sequence } }))
    .reply
  const stored = { _id, name, version, steps, everyDays, atMost, atLeast }
  expect(stored).toMatchObject({ ...plain, version: 1 })
  expect((await ask(app, asha, sequenceCalls.simulate, { body: { sequences: [stored] } })).reply.counts).toEqual(same.counts)
})

test('another country or time zone of a client is shown, refused where the plan has changed since, and saved as shown', async () => {
  await using all = await before9()
  const { app, asha } = all
  const [friday, saturday, monday] = [after(4), after(5), after(7)]
  const { _id: id } = await anInvoice(app, { owner: asha, dueDate: friday, clientEmail: 'noor@example.com' })
  const [client] = (await ask(app, asha, clientCalls.list)).reply
  const params = { id: client?._id ?? '' }
  const body = { sequence: await create(app, asha), quietWeekends: true, quietHolidays: false }
  await ask(app, asha, reminderCalls.changeSettings, { body })
  const simulate = async (where: object) =>
    (await ask(app, asha, sequenceCalls.simulate, { body: { assignments: [{ clientId: params.id, ...where }] } })).reply
  // In India only Sunday is a weekend.
  const dubai = await simulate({ country: 'AE' })
  expect(dubai.before.map(brief)[0]).toBe(`${saturday} noor@example.com 1`)
  expect(dubai.moved.map((mail) => [brief(mail), mail.from])).toEqual([[`${monday} noor@example.com 1`, saturday]])
  const honolulu = await simulate({ timezone: 'Pacific/Honolulu' })
  expect(honolulu.after[0]?.at).toBe(`${monday}T19:00:00Z`)
  expect((await simulate({ country: null, timezone: null, smart: true })).fingerprint).not.toBe(dubai.fingerprint)
  expect(
    (await ask(app, asha, sequenceCalls.simulate, { body: { assignments: [{ clientId: params.id, timezone: 'Mars' }] } })).status,
  ).toBe(400)

  await anInvoice(app, { owner: asha, dueDate: friday, clientEmail: 'noor@example.com' })
  const change = { country: 'AE', region: null, timezone: null, smart: true, fingerprint: dubai.fingerprint }
  expect((await ask(app, asha, clientCalls.update, { params, body: change })).status).toBe(409)
  expect((await ask(app, asha, clientCalls.list)).reply[0]).toMatchObject({ country: null })
  const seen = (await simulate({ country: 'AE' })).fingerprint
  expect((await ask(app, asha, clientCalls.update, { params, body: { ...change, fingerprint: seen } })).reply).toMatchObject({
    country: 'AE',
  })
  const { mails } = (await ask(app, asha, sequenceCalls.plan, { query: { invoice: id } })).reply
  expect(mails.map(brief)[0]).toBe(`${monday} noor@example.com 1`)
})

test('a later hour and held emails are shown at their time, and the plan has fewer days where fewer are asked for', async () => {
  await using all = await before9()
  const { app, asha } = all
  await anInvoice(app, { owner: asha, dueDate: after(-1) })
  const { reply } = await ask(app, asha, sequenceCalls.plan, { query: { days: 2 } })
  expect(reply).toMatchObject({ count: 2, clients: 1 })
  expect(reply.mails.map(({ at }) => at)).toEqual([`${today}T03:30:00Z`, `${after(1)}T03:30:00Z`])
  const later = await ask(app, asha, sequenceCalls.simulate, { body: { settings: { reminderHour: 11 }, days: 1 } })
  expect(later.reply.after.map(({ at }) => at)).toEqual([`${today}T05:30:00Z`])
  await ask(app, asha, reminderCalls.changeSettings, { body: { holdMinutes: 10 } })
  const held = await ask(app, asha, sequenceCalls.plan, { query: { days: 1 } })
  expect(held.reply.mails.map(({ at }) => at)).toEqual([`${today}T03:40:00Z`])
})

test('nothing is planned while daily reminders are off, and an unknown zone or sequence is refused', async () => {
  await using all = await before9({ active: false })
  const { app, asha } = all
  await anInvoice(app, { owner: asha, dueDate: after(-1) })
  expect((await ask(app, asha, sequenceCalls.plan, { query: {} })).reply).toMatchObject({ mails: [], count: 0, clients: 0 })
  const bodies = [
    { settings: { timezone: 'Nowhere/Else' } },
    { settings: { sequence: 'mine' } },
    { assignments: [{ clientId: 'any', sequence: 'mine' }] },
    { sequences: [{ ...plain, _id: 'every_day' }] },
    { days: 91 },
  ]
  for (const body of bodies) expect((await ask(app, asha, sequenceCalls.simulate, { body })).status, JSON.stringify(body)).toBe(400)
})

test('while daily reminders are off, the emails after Start are shown where they are asked for, and leave as they were shown', async () => {
  await using all = await before9({ active: false })
  const { app, asha, smtp } = all
  for (const days of [-8, 1, 4]) await anInvoice(app, { owner: asha, dueDate: after(days), clientEmail: `client${days}@example.com` })
  const sequence = await create(app, asha, sequenceDraft.parse(ready))
  const settings = { sequence }
  const seen = (await ask(app, asha, sequenceCalls.simulate, { body: { settings, suppose: 'started' } })).reply
  expect(seen.counts).toMatchObject({ before: 30 + 28 + 25 })
  expect(seen.after.slice(0, 3).map(brief)).toEqual([
    `${today} client-8@example.com 7`,
    `${today} client1@example.com -3`,
    `${after(1)} client4@example.com -3`,
  ])
  const none = { before: [], after: [], counts: { before: 0, after: 0, added: 0, removed: 0, moved: 0, reworded: 0 } }
  expect((await ask(app, asha, sequenceCalls.simulate, { body: { settings } })).reply).toMatchObject(none)
  // When it will be started is not part of what was looked at.
  app.clock.advance({ minutes: 5 })
  const { fingerprint } = seen
  expect((await ask(app, asha, reminderCalls.changeSettings, { body: { ...settings, fingerprint } })).status).toBe(200)
  expect((await ask(app, asha, sequenceCalls.plan, { query: {} })).reply.mails).toEqual([])
  const { mails } = (await ask(app, asha, sequenceCalls.plan, { query: { suppose: 'started' } })).reply
  expect(mails.map(brief)).toEqual(seen.after.map(brief))
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  const atOnce = smtp.mails.map(({ envelope }) => `${app.clock.now().toString()} ${envelope.to[0]}`)
  const sent = await sentOn(all, daysLived)
  const shown = mails.filter(isLived).map(line)
  expect(atOnce).toEqual(mails.slice(0, 2).map(({ at, clientEmail }) => `${at} ${clientEmail}`))
  expect(sent).toEqual(shown.slice(2))
})

test.each([false, true])(
  'a Send Now email that waits deals with no step, and the plan shows every one that then leaves; grouped: %s',
  async (groupByClient) => {
    await using all = await before9()
    const { app, asha, smtp } = all
    const sequence = await create(app, asha, sequenceDraft.parse({ ...plain, atLeast: 3 }))
    await ask(app, asha, reminderCalls.changeSettings, { body: { sequence, groupByClient } })
    await anInvoice(app, { owner: asha, dueDate: after(-1), clientEmail: 'kaveri@example.com' })
    // To the same client: not past due yet, so not in the email by hand.
    await anInvoice(app, { owner: asha, dueDate: after(0), clientEmail: 'kaveri@example.com' })
    smtp.answer({ mail: () => '451 4.3.0 Later' })
    await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
    const { mails } = (await ask(app, asha, sequenceCalls.plan, { query: {} })).reply
    const days = groupByClient ? [3, 9, 12] : [1, 3, 9, 10]
    expect(mails.map(({ localDate }) => localDate)).toEqual(days.map(after))
    smtp.answer({})
    app.clock.advance({ minutes: 10 })
    await app.runJobs()
    expect(smtp.mails).toHaveLength(1)
    const lived = [0, 1, 2, 3].map(after)
    expect(await sentOn(all, lived)).toEqual(mails.filter(({ localDate }) => lived.includes(localDate)).map(line))
  },
)

test('on hold, the emails of the next runs are shown only where they are asked for', async () => {
  await using all = await before9()
  const { app, asha } = all
  await anInvoice(app, { owner: asha, dueDate: after(-1) })
  await app.db.update(accounts).set({ heldAt: app.clock.now() }).where(eq(accounts.id, asha.id))
  const plan = async (more: { suppose?: 'started' } = {}) =>
    (await ask(app, asha, sequenceCalls.plan, { query: { days: 2, ...more } })).reply.mails
  expect(await plan()).toEqual([])
  expect((await plan({ suppose: 'started' })).map(({ at }) => at)).toEqual([`${today}T03:30:00Z`, `${after(1)}T03:30:00Z`])
})
