// Also on PostgreSQL: presses at the same time meet on one row.
import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { integrationCalls } from '#contract/integrations.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { newStep } from '#contract/ready-sequences.ts'
import { type RunSelection, reminderCalls, type SendNowRequest } from '#contract/reminders.ts'
import { sequenceCalls, sequenceDraft } from '#contract/sequences.ts'
import { accounts } from '#server/accounts/tables.ts'
import { anInvoice, anOffice, aPerson, aSequence, type Person } from '#test/factories.ts'
import { later } from '#test/fakes/smtp-server.ts'
import { ask, type TestApp } from '#test/harness.ts'
import { readEmail } from '#test/read-email.ts'
import { holdRestored } from './holds.ts'
import { deliveries } from './tables.ts'

const morning = '2026-03-02T06:30:00Z'
const sendNow = (app: TestApp, person: Person, body?: SendNowRequest) =>
  app.whileJobsRun(ask(app, person, reminderCalls.sendNow, body ? { body } : {}))
const start = (app: TestApp, person: Person, body?: RunSelection) =>
  app.whileJobsRun(ask(app, person, reminderCalls.start, body ? { body } : {}))
const draft = (app: TestApp, person: Person, body: SendNowRequest & { invoiceIds: string[]; kind?: 'start' }) =>
  ask(app, person, reminderCalls.draft, { body })
const change = (app: TestApp, person: Person, id: string, body: object) => ask(app, person, invoiceCalls.update, { params: { id }, body })

/** Three overdue invoices, each to a client of its own. */
async function office() {
  const all = await anOffice({ now: morning, invoices: 3 })
  const ids = all.invoices.map(({ _id }) => _id)
  return Object.assign(all, { ids, recipients: () => all.smtp.mails.map(({ envelope }) => envelope.to[0]).sort() })
}

test('a double press gets the first run, and no client a second email', async () => {
  await using all = await office()
  const { app, asha, smtp } = all
  const first = await sendNow(app, asha)
  app.clock.advance({ seconds: 59 })
  expect((await ask(app, asha, reminderCalls.preview, { query: {} })).reply.lines.map(({ sentJustNow }) => sentJustNow)).toEqual(
    Array(3).fill(first.reply.runId),
  )
  const second = await sendNow(app, asha)
  expect(second.reply.runId).toBe(first.reply.runId)
  expect(smtp.mails).toHaveLength(3)
  app.clock.advance({ seconds: 2 })
  expect((await ask(app, asha, reminderCalls.preview, { query: {} })).reply.lines.map(({ sentJustNow }) => sentJustNow)).toEqual([
    null,
    null,
    null,
  ])
  const third = await sendNow(app, asha)
  expect(third.reply).toMatchObject({ count: 3 })
  expect(third.reply.runId).not.toBe(first.reply.runId)
})

const meanwhile: [string, (about: { app: TestApp; asha: Person; ids: string[] }) => Promise<unknown>, string[]][] = [
  [
    'an address was corrected',
    ({ app, asha, ids }) => change(app, asha, ids[0] ?? '', { clientEmail: 'right@example.com' }),
    ['client2@example.com', 'client3@example.com', 'right@example.com'],
  ],
  [
    'an amount was corrected',
    ({ app, asha, ids }) => change(app, asha, ids[0] ?? '', { amount: 4500 }),
    ['client1@example.com', 'client2@example.com', 'client3@example.com'],
  ],
  [
    'an invoice was added',
    ({ app, asha }) => anInvoice(app, { owner: asha, clientEmail: 'new@example.com' }),
    ['client1@example.com', 'client2@example.com', 'client3@example.com', 'new@example.com'],
  ],
]

test.each(meanwhile)('within 60 seconds it is a new run where %s meanwhile', async (_what, happen, recipients) => {
  await using all = await office()
  const { app, asha, smtp } = all
  const first = await sendNow(app, asha)
  smtp.mails.length = 0
  await happen(all)
  app.clock.advance({ seconds: 10 })
  const second = await sendNow(app, asha)
  expect(second.reply.runId).not.toBe(first.reply.runId)
  expect(all.recipients()).toEqual(recipients)
})

test('within 60 seconds an invoice that was paused or paid meanwhile makes no new run: all that would be sent has been', async () => {
  await using all = await office()
  const { app, asha, ids, smtp } = all
  const first = await sendNow(app, asha)
  await ask(app, asha, invoiceCalls.pause, { params: { id: ids[0] ?? '' }, body: { paused: true } })
  await change(app, asha, ids[1] ?? '', { status: 'paid' })
  expect((await sendNow(app, asha)).reply.runId).toBe(first.reply.runId)
  expect(smtp.mails).toHaveLength(3)
})

test('within 60 seconds of a run that failed it is a new run', async () => {
  await using all = await office()
  const { app, asha, smtp } = all
  smtp.answer({ rcpt: () => '550 5.7.1 Blocked' })
  await sendNow(app, asha)
  smtp.answer({ rcpt: (to) => (to.startsWith('client1') ? '550 5.7.1 Blocked' : undefined) })
  const second = await sendNow(app, asha)
  expect(second.reply).toMatchObject({ count: 2, failed: 1 })
  smtp.answer({})
  const third = await sendNow(app, asha)
  expect(third.reply.runId).not.toBe(second.reply.runId)
  expect(third.reply).toMatchObject({ count: 3 })
})

test('a cancelled run is not repeated', async () => {
  await using all = await office()
  const { app, asha, smtp } = all
  smtp.answer({ rcpt: () => '450 4.2.0 Later' })
  const first = await sendNow(app, asha)
  await ask(app, asha, reminderCalls.cancelRun, { params: { id: first.reply.runId ?? '' } })
  smtp.answer({})
  expect((await sendNow(app, asha)).reply).toMatchObject({ count: 3 })
})

test('chosen invoices are reminded, and no other; an empty body is all of them', async () => {
  await using all = await office()
  const { app, asha, ids, recipients } = all
  const one = await sendNow(app, asha, { invoiceIds: [ids[1] ?? '', ids[1] ?? ''] })
  expect(one.reply).toMatchObject({ count: 1, total: 1, invoices: 1 })
  expect(recipients()).toEqual(['client2@example.com'])
  const rest = await sendNow(app, asha, { invoiceIds: [ids[0] ?? '', ids[2] ?? ''] })
  expect(rest.reply).toMatchObject({ count: 2 })
  expect(recipients()).toEqual(['client1@example.com', 'client2@example.com', 'client3@example.com'])
  app.clock.advance({ minutes: 2 })
  expect((await sendNow(app, asha, {})).reply).toMatchObject({ count: 3 })
})

test('chosen invoices of one client are one email each, or one together', async () => {
  await using all = await office()
  const { app, asha, smtp } = all
  const kaveri = []
  for (const amount of [100, 200]) kaveri.push((await anInvoice(app, { owner: asha, amount, dueDate: '2026-02-20' }))._id)
  expect((await draft(app, asha, { invoiceIds: kaveri })).reply).toMatchObject({ mails: 2, email: null })
  const together = await draft(app, asha, { invoiceIds: kaveri, groupByClient: true })
  expect(together.reply).toMatchObject({ mails: 1, email: { kind: 'group', to: 'billing@kaveri.example' } })
  const sent = await sendNow(app, asha, { invoiceIds: kaveri, groupByClient: true })
  expect(sent.reply).toMatchObject({ count: 1, invoices: 2 })
  const [mail] = smtp.mails
  const parsed = await readEmail(mail?.raw ?? '')
  expect(parsed.subject).toBe(together.reply.email?.subject)
  expect(parsed.text?.trim()).toBe(together.reply.email?.text)
})

test('a chosen invoice that cannot be reminded is named with the reason, and the others are sent', async () => {
  await using all = await office()
  const { app, asha, ids, recipients } = all
  const [first = '', second = '', third = ''] = ids
  await change(app, asha, first, { status: 'paid' })
  await ask(app, asha, invoiceCalls.pause, { params: { id: second }, body: { paused: true } })
  const notDue = await anInvoice(app, { owner: asha, reference: 'SOON', dueDate: '2026-03-02' })
  const gone = await anInvoice(app, { owner: asha })
  await ask(app, asha, invoiceCalls.remove, { params: { id: gone._id } })
  const chosen = [first, second, notDue._id, gone._id]
  const words = [
    'INV-0001 is paid.',
    'Reminders for INV-0002 are paused.',
    'SOON is not past due.',
    'This invoice does not exist, or it was deleted.',
  ]
  const { reply } = await draft(app, asha, { invoiceIds: [...chosen, third] })
  expect(reply.leftOut.map((one) => [one.invoiceId, one.words])).toEqual(chosen.map((id, nth) => [id, words[nth]]))
  expect(reply).toMatchObject({ mails: 1, email: { to: 'client3@example.com' } })
  const refused = await sendNow(app, asha, { invoiceIds: chosen })
  expect(refused.problem).toMatchObject({ code: 'conflict', message: 'INV-0001 is paid. (and 3 more)' })
  expect((await sendNow(app, asha, { invoiceIds: [...chosen, third] })).reply).toMatchObject({ count: 1 })
  expect(recipients()).toEqual(['client3@example.com'])
  for (let nth = 0; nth < 2; nth += 1) {
    app.clock.advance({ minutes: 2 })
    await sendNow(app, asha, { invoiceIds: [third] })
  }
  app.clock.advance({ minutes: 2 })
  const limited = await sendNow(app, asha, { invoiceIds: [third] })
  expect(limited.problem?.message).toBe('INV-0003 has had 3 manual reminders today, the most for one day.')
})

test('invoices of another account are not found, and not reminded', async () => {
  await using all = await office()
  const { app, ids, smtp } = all
  const other = await aPerson(app)
  expect((await draft(app, other, { invoiceIds: ids })).reply).toMatchObject({ mails: 0, email: null })
  expect(JSON.stringify((await draft(app, other, { invoiceIds: ids })).reply)).not.toContain('INV-')
  expect((await sendNow(app, other, { invoiceIds: ids })).problem?.code).toBe('mail_not_configured')
  expect(smtp.mails).toEqual([])
})

test('the draft is the email that is sent, and sends nothing', async () => {
  await using all = await office()
  const { app, asha, ids, smtp } = all
  const invoiceIds = ids.slice(0, 1)
  const { reply } = await draft(app, asha, { invoiceIds })
  expect(smtp.mails).toEqual([])
  expect(reply).toMatchObject({
    mails: 1,
    repeats: null,
    leftOut: [],
    email: { kind: 'one', from: `Asha Rao <${smtp.login.user}>`, to: 'client1@example.com' },
  })
  await sendNow(app, asha, { invoiceIds })
  const parsed = await readEmail(smtp.mails[0]?.raw ?? '')
  expect([parsed.subject, parsed.text?.trim(), parsed.html?.trim()]).toEqual([
    reply.email?.subject,
    reply.email?.text,
    reply.email?.html.trim(),
  ])
  expect((await draft(app, asha, { invoiceIds })).reply.repeats).not.toBeNull()
})

test('the draft has the words of the step, as the email of Send Now and of Start', async () => {
  await using all = await office()
  const { app, asha, ids, smtp } = all
  const invoiceIds = ids.slice(0, 1)
  const steps = [newStep(1, 'friendly'), { ...newStep(8, 'firm'), content: 'Still open: {{invoiceId}}, {{amount}}.' }]
  const sequence = await aSequence(app, asha, sequenceDraft.parse({ name: 'Ours', steps }))
  await ask(app, asha, sequenceCalls.assign, { params: { id: ids[0] ?? '' }, body: { sequence } })
  const drafted = async (body: object = {}) => (await draft(app, asha, { invoiceIds, ...body })).reply.email
  const sent = async () => {
    const { subject, text = '' } = await readEmail(smtp.mails.at(-1)?.raw ?? '')
    return { subject, text: text.trim() }
  }
  const byHand = await drafted()
  expect(byHand?.text).toBe('Still open: INV-0001, ₹5,000.00.')
  await sendNow(app, asha, { invoiceIds })
  expect(byHand).toMatchObject(await sent())
  app.clock.advance({ minutes: 2 })
  // A changed subject keeps the text of the step.
  const changed = await drafted({ subject: 'A word' })
  await sendNow(app, asha, { invoiceIds, subject: 'A word' })
  expect(changed).toMatchObject(await sent())
  expect(changed).toMatchObject({ subject: 'A word', text: 'Still open: INV-0001, ₹5,000.00.' })
  app.clock.advance({ hours: 24 })
  const byStart = await drafted({ kind: 'start' })
  await start(app, asha, { invoiceIds })
  expect(byStart).toMatchObject(await sent())
})

test('the draft of Start shows an email that is not due yet as of its day', async () => {
  await using all = await office()
  const { app, asha, smtp } = all
  const { _id } = await anInvoice(app, { owner: asha, clientEmail: 'soon@example.com', dueDate: '2026-03-05' })
  const { reply } = await draft(app, asha, { invoiceIds: [_id], kind: 'start' })
  expect(reply).toMatchObject({ mails: 0, email: { to: 'soon@example.com' } })
  await start(app, asha)
  app.clock.set('2026-03-06T03:30:00Z')
  await app.runJobs()
  const parsed = await Promise.all(smtp.mails.map(({ raw }) => readEmail(raw)))
  const sent = parsed.find(({ to }) => to?.[0]?.address === 'soon@example.com')
  expect([reply.email?.subject, reply.email?.text]).toEqual([sent?.subject, sent?.text?.trim()])
})

test('a subject and a text can be written for one email: with variables, exactly as the draft shows it', async () => {
  await using all = await office()
  const { app, asha, ids, smtp } = all
  const invoiceIds = ids.slice(0, 1)
  const written = { subject: 'About {{invoiceId}}', content: 'Dear {{clientName}},\n\n<b>{{amount}}</b> <script>alert(1)</script>please.' }
  const { reply } = await draft(app, asha, { invoiceIds, ...written })
  expect(reply.email).toMatchObject({
    wording: written,
    subject: 'About INV-0001',
    text: 'Dear Kaveri Foods,\n\n₹5,000.00 please.',
  })
  await sendNow(app, asha, { invoiceIds, ...written })
  const parsed = await readEmail(smtp.mails[0]?.raw ?? '')
  expect([parsed.subject, parsed.text?.trim(), parsed.html?.trim()]).toEqual([
    reply.email?.subject,
    reply.email?.text,
    reply.email?.html.trim(),
  ])
  // Only this email: the next one has the account's wording again.
  app.clock.advance({ minutes: 2 })
  await sendNow(app, asha, { invoiceIds })
  expect((await readEmail(smtp.mails[1]?.raw ?? '')).subject).not.toBe('About INV-0001')
})

test('a written text reaches an email that is already waiting to be retried, and survives the retry', async () => {
  await using all = await office()
  const { app, asha, ids, smtp } = all
  const invoiceIds = ids.slice(0, 1)
  smtp.answer({ rcpt: () => '450 4.2.0 Later' })
  await sendNow(app, asha, { invoiceIds })
  app.clock.advance({ seconds: 70 })
  await sendNow(app, asha, { invoiceIds, subject: 'Written for you' })
  smtp.answer({})
  app.clock.advance({ minutes: 20 })
  await app.runJobs()
  expect(smtp.mails).toHaveLength(1)
  expect((await readEmail(smtp.mails[0]?.raw ?? '')).subject).toBe('Written for you')
})

test('a Send Now that is stopped leaves what it had pulled forward the words and the deadline of its own run', async () => {
  await using all = await office()
  const { app, asha, ids, smtp } = all
  smtp.answer({ rcpt: () => '450 4.2.0 Later' })
  await start(app, asha)
  app.clock.advance({ minutes: 40 })
  const { reply } = await sendNow(app, asha, { invoiceIds: ids.slice(0, 1), subject: 'Written for you' })
  expect(await deadlines(app)).toHaveLength(2)
  await ask(app, asha, reminderCalls.cancelRun, { params: { id: reply.runId ?? '' } })
  expect(await deadlines(app)).toHaveLength(1)
  smtp.answer({})
  app.clock.advance({ hours: 1 })
  await app.runJobs()
  const subjects = await Promise.all(smtp.mails.map(async ({ raw }) => (await readEmail(raw)).subject))
  expect(subjects).toHaveLength(3)
  expect(subjects).not.toContain('Written for you')
})

const deadlines = (app: TestApp) => app.db.selectDistinct({ at: deliveries.deadlineAt }).from(deliveries)

test.each(['after its emails were deferred', 'while its first email is tried'])(
  'a Send Now that is stopped %s sends nothing that was held since a restore',
  async (when) => {
    await using all = await office()
    const { app, asha, smtp } = all
    smtp.answer({ rcpt: () => '450 4.2.0 Later' })
    const { reply } = await start(app, asha)
    const read = async () => (await ask(app, asha, reminderCalls.run, { params: { id: reply.runId ?? '' } })).reply
    expect(await app.db.transaction((tx) => holdRestored(tx, app.clock.now()))).toBe(3)
    app.clock.advance({ minutes: 2 })
    const reached = Promise.withResolvers<void>()
    const stopped = Promise.withResolvers<void>()
    smtp.answer({
      rcpt: () => {
        reached.resolve()
        return later(when.startsWith('while') ? stopped.promise : 0, '450 4.2.0 Later')
      },
    })
    const pressed = sendNow(app, asha)
    await (when.startsWith('while') ? reached.promise : pressed)
    const [run] = (await ask(app, asha, reminderCalls.runs, { query: {} })).reply
    expect((await ask(app, asha, reminderCalls.cancelRun, { params: { id: run?._id ?? '' } })).reply.cancelledAt).not.toBeNull()
    stopped.resolve()
    await pressed
    smtp.answer({})
    expect(await read()).toMatchObject({ held: 3, holdReason: 'restored' })
    app.clock.advance({ hours: 1 })
    await app.runJobs()
    expect(smtp.mails).toEqual([])
    await app.whileJobsRun(ask(app, asha, reminderCalls.retryRun, { params: { id: reply.runId ?? '' } }))
    expect(all.recipients()).toEqual(['client1@example.com', 'client2@example.com', 'client3@example.com'])
    expect(await read()).toMatchObject({ sent: 3, open: 0 })
  },
)

/** Daily reminders of one invoice past due; ten minutes before the run of the day its mail server defers, and then does not any more. */
async function beforeNine() {
  const all = await anOffice({ now: '2026-03-02T03:10:00Z', invoices: 1 })
  const { app, asha, smtp, invoices } = all
  const nextRunAt = Temporal.Instant.from('2026-03-02T03:30:00Z')
  await app.db.update(accounts).set({ remindersActive: true, nextRunAt, nextRunFrom: '2026-03-02' }).where(eq(accounts.id, asha.id))
  const read = async (id: string) => (await ask(app, asha, reminderCalls.run, { params: { id } })).reply
  const at = async (instant: string) => {
    app.clock.set(instant)
    await app.runJobs()
  }
  return Object.assign(all, {
    id: invoices[0]?._id ?? '',
    read,
    at,
    deferred: (run: () => Promise<{ reply: { runId: string | null } }>) => {
      app.clock.set('2026-03-02T03:20:00Z')
      smtp.answer({ rcpt: () => '451 4.7.1 Later' })
      return run().finally(() => smtp.answer({}))
    },
    newest: async () => (await ask(app, asha, reminderCalls.runs, { query: {} })).reply[0],
    stop: (id: string | null) => ask(app, asha, reminderCalls.cancelRun, { params: { id: id ?? '' } }),
    subjects: () => Promise.all(smtp.mails.map(async ({ raw }) => (await readEmail(raw)).subject)),
  })
}

test.each(['a Send Now', 'a trigger', 'a retry'])(
  'an email of %s on which the daily run counts leaves with that once it is stopped',
  async (what) => {
    await using all = await beforeNine()
    const { app, asha, id, smtp } = all
    if (what === 'a retry') smtp.answer({ rcpt: () => '554 5.7.1 Blocked' })
    const failed = what === 'a retry' ? await sendNow(app, asha).then(all.newest) : null
    const { reply } = await all.deferred(() =>
      what === 'a Send Now'
        ? sendNow(app, asha, { invoiceIds: [id], subject: 'Written for you' })
        : failed
          ? app.whileJobsRun(ask(app, asha, reminderCalls.retryRun, { params: { id: failed._id } }))
          : app.whileJobsRun(ask(app, asha, integrationCalls.trigger)),
    )
    smtp.answer({ rcpt: () => '451 4.7.1 Later' })
    await all.at('2026-03-02T03:30:00Z')
    smtp.answer({})
    const day = await all.newest()
    expect(day).toMatchObject({ kind: 'daily', skipped: 1, open: 0 })
    await all.at('2026-03-02T03:31:00Z')
    await all.stop(reply.runId)
    expect(await all.read(day?._id ?? '')).toMatchObject({ skipped: 0, open: 1, total: 1 })
    await all.at('2026-03-02T12:00:00Z')
    expect(await all.subjects()).toEqual([expect.stringMatching(/^Invoice INV-0001 from /)])
    expect(await all.read(day?._id ?? '')).toMatchObject({ sent: 1, open: 0, total: 1 })
    expect((await ask(app, asha, reminderCalls.history, { params: { id } })).reply.days[0]?.outcome).toBe('sent')
  },
)

test('a Send Now after the daily run is not sent by that once it is stopped', async () => {
  await using all = await beforeNine()
  const { app, asha, smtp } = all
  await all.deferred(() => sendNow(app, asha))
  await all.at('2026-03-02T03:30:00Z')
  expect(smtp.mails).toHaveLength(1)
  app.clock.set('2026-03-02T03:40:00Z')
  smtp.answer({ rcpt: () => '451 4.7.1 Later' })
  const second = await sendNow(app, asha)
  smtp.answer({})
  await all.stop(second.reply.runId)
  await all.at('2026-03-02T06:00:00Z')
  expect(smtp.mails).toHaveLength(1)
})

test('Stop ends a Send Now on which the daily run counts too', async () => {
  await using all = await beforeNine()
  const { app, asha, smtp } = all
  await all.deferred(() => sendNow(app, asha))
  smtp.answer({ rcpt: () => '451 4.7.1 Later' })
  await all.at('2026-03-02T03:30:00Z')
  smtp.answer({})
  await ask(app, asha, reminderCalls.stop)
  await all.at('2026-03-02T06:00:00Z')
  expect(smtp.mails).toEqual([])
})

test('within 60 seconds the same written text is a double press, another one is not', async () => {
  await using all = await office()
  const { app, asha, ids } = all
  const invoiceIds = ids.slice(0, 1)
  const first = await sendNow(app, asha, { invoiceIds, subject: 'One' })
  expect((await sendNow(app, asha, { invoiceIds, subject: 'One' })).reply.runId).toBe(first.reply.runId)
  expect((await sendNow(app, asha, { invoiceIds, subject: 'Two' })).reply.runId).not.toBe(first.reply.runId)
  expect(all.smtp.mails).toHaveLength(2)
})

const invalid: [string, Partial<SendNowRequest>, string, string][] = [
  ['a blank subject', { subject: ' ' }, 'subject', 'Please enter a subject.'],
  ['a blank text', { content: '\n' }, 'content', 'Please enter the text of the email.'],
  ['an unknown variable', { content: 'Dear {{client}}' }, 'content', '{{client}} is not a variable.'],
  ['a variable used too often', { content: '{{clientName}} '.repeat(21) }, 'content', 'at most 20 times'],
  ['a subject of two lines', { subject: 'a\nb' }, 'subject', 'on one line'],
  ['a subject that is too long', { subject: 'a'.repeat(201) }, 'subject', 'at most 200 characters'],
  ['a text that is too long', { content: 'a'.repeat(20_001) }, 'content', 'at most 20,000 characters'],
]

test.each(invalid)('%s is refused, in the draft too', async (_what, written, path, message) => {
  await using all = await office()
  const { app, asha, ids, smtp } = all
  const body = { ...written, invoiceIds: ids.slice(0, 1) }
  for (const { problem } of [await draft(app, asha, body), await ask(app, asha, reminderCalls.sendNow, { body })]) {
    expect(problem).toMatchObject({ code: 'invalid', errors: [{ path }] })
    expect(problem?.message).toContain(message)
  }
  expect(smtp.mails).toEqual([])
})

test('a text written for more than one email is refused, and nothing is sent', async () => {
  await using all = await office()
  const { app, asha, ids, smtp } = all
  const message = 'A subject or a text can be written for one email only. Choose one client.'
  expect((await sendNow(app, asha, { invoiceIds: ids, subject: 'Hello' })).problem).toMatchObject({ code: 'invalid', message })
  expect((await draft(app, asha, { invoiceIds: ids, subject: 'Hello' })).problem).toMatchObject({ code: 'invalid', message })
  expect((await sendNow(app, asha, { subject: 'Hello' })).problem).toMatchObject({ code: 'invalid', message })
  expect(smtp.mails).toEqual([])
  expect((await ask(app, asha, reminderCalls.runs, { query: {} })).reply).toEqual([])
})

test('Start reminds of the chosen invoices only, and the day of the others says that they were left out', async () => {
  await using all = await office()
  const { app, asha, ids, recipients } = all
  const [first = '', second = ''] = ids
  const { reply } = await start(app, asha, { invoiceIds: [first] })
  expect(reply).toMatchObject({ count: 1, total: 1 })
  expect(recipients()).toEqual(['client1@example.com'])
  expect((await ask(app, asha, reminderCalls.status)).reply).toMatchObject({ isActive: true, state: 'active' })
  const day = async (id: string) =>
    (await ask(app, asha, reminderCalls.history, { params: { id } })).reply.days.map(({ outcome, words }) => [outcome, words])
  expect(await day(second)).toEqual([['left_out', 'Left out when reminders were started.']])
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  expect(recipients()).toHaveLength(4)
  expect((await day(second)).map(([outcome]) => outcome)).toEqual(['sent', 'left_out'])
})

test('in a Start of chosen invoices every other keeps its own reason, and what became due since waits', async () => {
  await using all = await office()
  const { app, asha, ids, recipients } = all
  const [first = '', paused = '', imported = ''] = ids
  await ask(app, asha, invoiceCalls.pause, { params: { id: paused }, body: { paused: true } })
  const { reply } = await start(app, asha, { invoiceIds: [first] })
  expect(reply).toMatchObject({ count: 1, skipped: 1, total: 2 })
  expect(recipients()).toEqual(['client1@example.com'])
  const day = async (id: string) =>
    (await ask(app, asha, reminderCalls.history, { params: { id } })).reply.days.map(({ outcome }) => outcome)
  expect([await day(first), await day(paused), await day(imported)]).toEqual([['sent'], ['paused'], ['left_out']])
})

test('in a Start of chosen invoices those whose sequence has no step that day were not left out', async () => {
  await using all = await anOffice({ now: morning })
  const { app, asha, smtp } = all
  const steps = [newStep(2, 'friendly'), newStep(9, 'firm')]
  const { reply: sequence } = await ask(app, asha, sequenceCalls.create, { body: sequenceDraft.parse({ name: 'Ours', steps }) })
  await ask(app, asha, reminderCalls.changeSettings, { body: { sequence: sequence._id, quietWeekends: false, quietHolidays: false } })
  const due = async (dueDate: string) => (await anInvoice(app, { owner: asha, dueDate, clientEmail: `${dueDate}@example.com` }))._id
  const [reached, notYet, other] = [await due('2026-02-28'), await due('2026-03-01'), await due('2026-02-21')]
  await start(app, asha, { invoiceIds: [reached] })
  expect(smtp.mails.map(({ envelope }) => envelope.to[0])).toEqual(['2026-02-28@example.com'])
  const day = async (id: string) =>
    (await ask(app, asha, reminderCalls.history, { params: { id } })).reply.days.map(({ outcome }) => outcome)
  expect([await day(reached), await day(notYet), await day(other)]).toEqual([['sent'], ['no_step'], ['left_out']])
})

test('Start of no invoice turns daily reminders on and sends nothing', async () => {
  await using all = await office()
  const { app, asha, recipients } = all
  expect((await start(app, asha, { invoiceIds: [] })).reply).toMatchObject({ count: 0, total: 0 })
  expect((await ask(app, asha, reminderCalls.status)).reply).toMatchObject({ isActive: true, state: 'active' })
  expect(recipients()).toEqual([])
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  expect(recipients()).toHaveLength(3)
  expect((await sendNow(app, asha, { invoiceIds: [] })).problem).toMatchObject({ code: 'invalid' })
})

test('a run of more chosen invoices than a chunk is planned whole', async () => {
  // About 4 s: 1,100 invoices, because a chunk is 1,000.
  await using all = await anOffice({ now: morning })
  const { app, asha, smtp } = all
  const lines = Array.from({ length: 1_100 }, (_, nth) => ({
    clientName: `Client ${nth}`,
    clientEmail: `client${nth}@example.com`,
    amount: nth + 1,
    dueDate: '2026-02-20',
  }))
  const invoiceIds: string[] = []
  for (const some of [lines.slice(0, 1_000), lines.slice(1_000)])
    for (const line of (await ask(app, asha, invoiceCalls.import, { body: { lines: some } })).reply.lines)
      if ('_id' in line) invoiceIds.push(line._id)
  // Only the plan is of interest: a refused login tries no email.
  smtp.answer({ auth: () => '535 5.7.8 Not accepted' })
  const { reply } = await ask(app, asha, reminderCalls.draft, { body: { invoiceIds: invoiceIds.slice(1) } })
  expect(reply.mails).toBe(1_099)
  await start(app, asha, { invoiceIds: invoiceIds.slice(1) })
  expect((await ask(app, asha, reminderCalls.runs, { query: {} })).reply).toMatchObject([{ total: 1_099 }])
})
