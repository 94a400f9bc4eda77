// Also on PostgreSQL: holds of one address meet on one row.
import { eq, sql } from 'drizzle-orm'
import { expect, inject, test } from 'vitest'
import { z } from 'zod'
import { integrationCalls } from '#contract/integrations.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { mailCalls } from '#contract/mail.ts'
import { noticeCalls } from '#contract/notices.ts'
import { newStep } from '#contract/ready-sequences.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { lockAccount } from '#server/accounts/accounts.ts'
import { accounts } from '#server/accounts/tables.ts'
import { invoices } from '#server/invoices/tables.ts'
import { rows } from '#server/platform/database.ts'
import { anInvoice, anOffice, aPerson, aSequence, type Person } from '#test/factories.ts'
import { later } from '#test/fakes/smtp-server.ts'
import { ask, type TestApp } from '#test/harness.ts'
import { readEmail } from '#test/read-email.ts'
import { makeRun } from './runs.ts'
import { deliveries } from './tables.ts'

const rohan = { clientName: 'Rohan Mehta', clientEmail: 'rohan@mehta.example', dueDate: '2026-02-20' }
const unknown = (to: string) => (to === rohan.clientEmail ? '550 5.1.1 No such user here' : undefined)

/** Rohan with four invoices, and Kaveri Foods with one; his mail server does not know him. Daily reminders have begun. */
async function started() {
  const office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  const ofRohan = []
  for (let amount = 100; amount <= 400; amount += 100) ofRohan.push(await anInvoice(app, { owner: asha, ...rohan, amount }))
  await anInvoice(app, { owner: asha, dueDate: '2026-02-20' })
  smtp.answer({ rcpt: unknown })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  await app.runJobs()
  return Object.assign(office, { ofRohan, addresses: () => smtp.mails.map(({ envelope }) => envelope.to[0]) })
}

const notices = async (app: TestApp, person: Person) => (await ask(app, person, noticeCalls.list)).reply
const read = async (app: TestApp, person: Person, id: string) => (await ask(app, person, invoiceCalls.read, { params: { id } })).reply
const change = (app: TestApp, person: Person, id: string, body: object) => ask(app, person, invoiceCalls.update, { params: { id }, body })

async function nextDay(app: TestApp): Promise<void> {
  app.clock.advance({ hours: 24 })
  await app.runJobs()
}

test('a refused address is written to once, and held from then on: no other email, one notice, a reason on every invoice and day', async () => {
  await using office = await started()
  const { app, asha, ofRohan, smtp } = office
  const asked = () => smtp.commands.filter((line) => line.includes(rohan.clientEmail)).length
  const before = asked()
  for (let day = 0; day < 3; day += 1) await nextDay(app)
  expect(asked()).toBe(before)
  const words = 'rohan@mehta.example doesn’t exist. Correct the address to resume.'
  const reply = '550 5.1.1 No such user here'
  for (const { _id } of ofRohan)
    expect(await read(app, asha, _id)).toMatchObject({ addressHold: { since: '2026-03-02T06:30:00Z', words, reply } })
  expect(await notices(app, asha)).toEqual([
    {
      _id: expect.any(String),
      kind: 'address_refused',
      summary: 'Rohan Mehta’s address doesn’t exist',
      title: 'rohan@mehta.example doesn’t exist',
      text: `Its reminders are on hold. Correct the address to resume, or try it again. The mail server replied: ${reply}`,
      link: expect.stringMatching(new RegExp(`^/dashboard/edit-invoice/(${ofRohan.map(({ _id }) => _id).join('|')})$`)),
      clients: ofRohan.map(({ _id, reference }) => ({ clientName: 'Rohan Mehta', invoiceId: _id, reference })),
      createdAt: '2026-03-02T06:30:00Z',
      updatedAt: '2026-03-02T06:30:00Z',
    },
  ])
  const { reply: history } = await ask(app, asha, reminderCalls.history, { params: { id: ofRohan[1]?._id ?? '' } })
  expect(history).toMatchObject({ nextAt: null, reason: 'address_held' })
  expect(history.days.slice(0, 3).map(({ outcome, words }) => [outcome, words])).toEqual(Array(3).fill(['address_held', `Held: ${words}`]))
  const { lines } = (await ask(app, asha, reminderCalls.preview, { query: {} })).reply
  const held = lines.filter(({ reason }) => reason === 'address_held')
  expect(held).toHaveLength(4)
  for (const line of held) expect(line).toMatchObject({ clientEmail: rohan.clientEmail, nextAt: null, dueNow: false, sendNowLeft: 0 })
})

test('of several emails to a refused address those in flight are refused, and the others wait for the address', async () => {
  await using office = await started()
  const { app, asha, ofRohan, addresses } = office
  const states = async () => {
    const found = []
    for (const { _id } of ofRohan) found.push((await ask(app, asha, reminderCalls.history, { params: { id: _id } })).reply.mails[0])
    return found.map((mail) => `${mail?.state} ${mail?.reason}`)
  }
  const waiting = (await states()).filter((state) => state === 'held address').length
  expect(waiting).toBeGreaterThanOrEqual(2)
  for (const { _id } of ofRohan.slice(1)) await change(app, asha, _id, { clientEmail: 'rohan.mehta@mehta.example' })
  expect(await notices(app, asha)).toHaveLength(1)
  for (const { _id } of ofRohan.slice(0, 1)) await change(app, asha, _id, { clientEmail: 'rohan.mehta@mehta.example' })
  expect(await notices(app, asha)).toEqual([])
  await app.runJobs()
  expect(addresses().filter((to) => to === 'rohan.mehta@mehta.example')).toHaveLength(waiting)
  await nextDay(app)
  expect(addresses().filter((to) => to === 'rohan.mehta@mehta.example')).toHaveLength(waiting + 4)
  for (const { _id } of ofRohan) expect(await read(app, asha, _id)).toMatchObject({ addressHold: null, notDelivered: null })
})

// Takes two connections, which the embedded database does not have.
test.skipIf(!inject('postgresUrl'))(
  'a run that is planned while a refusal is recorded does not deadlock with it, and its email waits for the address',
  async () => {
    await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
    const { app, asha, smtp } = office
    await anInvoice(app, { owner: asha, ...rohan })
    const [offered, planned] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    smtp.answer({
      rcpt() {
        offered.resolve()
        return later(planned.promise, '550 5.1.1 No such user here')
      },
    })
    const started = app.whileJobsRun(ask(app, asha, reminderCalls.start))
    await offered.promise
    await anInvoice(app, { owner: asha, ...rohan })
    await app.db.transaction(async (tx) => {
      // The one that fails where the two wait for each other.
      await tx.execute(sql`SET LOCAL deadlock_timeout = '10ms'`)
      const account = await lockAccount(tx, asha.id)
      planned.resolve()
      const waiting = sql`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      await expect.poll(() => rows(app.db, z.object({ pid: z.number() }), waiting)).toHaveLength(1)
      // Pulls the email in flight forward, and plans the other one.
      if (account) await makeRun(tx, app.deps.queue, account, { kind: 'send_now', now: app.clock.now() })
    })
    await started
    await app.runJobs()
    expect(smtp.commands.filter((line) => line.startsWith('RCPT'))).toHaveLength(1)
    const states = await app.db.select({ state: deliveries.state, reason: deliveries.reason }).from(deliveries).orderBy(deliveries.id)
    expect(states).toEqual([
      { state: 'failed', reason: 'refused' },
      { state: 'held', reason: 'address' },
    ])
  },
)

test('an invoice whose client gets a held address waits, and one created with it is not reminded', async () => {
  await using office = await started()
  const { app, asha, addresses } = office
  const late = await anInvoice(app, { owner: asha, clientEmail: 'ROHAN@mehta.example', dueDate: '2026-02-20' })
  expect(await read(app, asha, late._id)).toMatchObject({ addressHold: { words: expect.stringContaining('doesn’t exist') } })
  const before = addresses().length
  const { problem } = await ask(app, asha, reminderCalls.sendNow, { body: { invoiceIds: [late._id] } })
  expect(problem).toMatchObject({ code: 'conflict', message: 'ROHAN@mehta.example doesn’t exist. Correct the address, or try it again.' })
  await nextDay(app)
  expect(addresses().slice(before)).toEqual(['billing@kaveri.example'])
})

test('Try again sends immediately, and holds the address again without another notice where it is refused again', async () => {
  await using office = await started()
  const { app, asha, ofRohan, smtp, addresses } = office
  const id = ofRohan[0]?._id ?? ''
  const body = { clientEmail: 'Rohan@Mehta.example' }
  app.clock.advance({ minutes: 5 })
  const refused = await app.whileJobsRun(ask(app, asha, reminderCalls.tryAddress, { body }))
  expect(refused.reply).toMatchObject({ count: 0, total: 4 })
  expect(await notices(app, asha)).toMatchObject([{ kind: 'address_refused' }])
  expect(await read(app, asha, id)).toMatchObject({ addressHold: { since: '2026-03-02T06:35:00Z' } })

  smtp.answer({})
  const { reply } = await app.whileJobsRun(ask(app, asha, reminderCalls.tryAddress, { body }))
  expect(reply.count).toBe(4)
  expect(addresses().filter((to) => to === rohan.clientEmail)).toHaveLength(4)
  expect(await notices(app, asha)).toEqual([])
  expect(await read(app, asha, id)).toMatchObject({ addressHold: null, notDelivered: null, refusal: null })
  expect((await ask(app, asha, reminderCalls.tryAddress, { body })).problem).toMatchObject({ code: 'not_found' })
})

test('a long name of a client does not hide what happened', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  const clientName = 'The Consolidated Weaving and Dyeing Works of Coimbatore'
  await anInvoice(app, { owner: asha, clientName, clientEmail: rohan.clientEmail })
  smtp.answer({ rcpt: unknown })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  expect(await notices(app, asha)).toMatchObject([{ summary: 'The Consolidated Weav…’s address doesn’t exist' }])
})

test('a refusal that is not about the address, or says so by its code alone, holds nothing', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 2 })
  const { app, asha, smtp } = office
  smtp.answer({ rcpt: (to) => (to.startsWith('client1') ? '550 5.7.1 Blocked' : '550 5.1.0 Address rejected') })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  const { reply } = await ask(app, asha, invoiceCalls.list, { query: {} })
  expect(reply.map(({ addressHold }) => addressHold)).toEqual([null, null])
  expect(await notices(app, asha)).toEqual([])
})

test('what does not arrive shows since when and why, until one is accepted', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 1 })
  const { app, asha, invoices, smtp } = office
  const id = invoices[0]?._id ?? ''
  smtp.answer({ rcpt: () => '452 4.2.2 Mailbox full' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  for (let day = 0; day < 3; day += 1) await nextDay(app)
  const full = { since: '2026-03-02T06:30:00Z', code: 'mailbox_full', words: 'mailbox full', reply: '452 4.2.2 Mailbox full' }
  expect(await read(app, asha, id)).toMatchObject({ notDelivered: full, remindersSent: 0, refusal: null })
  expect((await ask(app, asha, invoiceCalls.list, { query: {} })).reply).toMatchObject([{ notDelivered: full }])
  expect((await ask(app, asha, reminderCalls.preview, { query: {} })).reply.lines).toMatchObject([{ notDelivered: full }])
  expect((await ask(app, asha, reminderCalls.history, { params: { id } })).reply).toMatchObject({ notDelivered: full })

  smtp.answer({ rcpt: () => '550 5.7.1 Blocked' })
  app.clock.advance({ hours: 24 })
  await app.runJobs()
  expect(await read(app, asha, id)).toMatchObject({ notDelivered: { since: full.since, code: 'policy', reply: '550 5.7.1 Blocked' } })

  smtp.answer({})
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  expect(await read(app, asha, id)).toMatchObject({ notDelivered: null })
  expect((await ask(app, asha, reminderCalls.preview, { query: {} })).reply.lines).toMatchObject([{ notDelivered: null }])
})

test('a corrected address begins without a record of what did not arrive', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 1 })
  const { app, asha, invoices, smtp } = office
  const id = invoices[0]?._id ?? ''
  smtp.answer({ rcpt: () => '452 4.2.2 Mailbox full' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  await change(app, asha, id, { clientEmail: 'other@example.com' })
  expect(await read(app, asha, id)).toMatchObject({ notDelivered: null })
})

test('nothing of a hold is visible to another account', async () => {
  await using office = await started()
  const { app } = office
  const other = await anInvoice(app, { ...rohan })
  expect(await read(app, other.owner, other._id)).toMatchObject({ addressHold: null })
  expect(await notices(app, other.owner)).toEqual([])
})

/** Kaveri Foods was reminded of two invoices; the person reports the email about the first as returned. */
async function reported(messageIdOf: (mail: { _id: string; messageId: string; reminderId: string }) => string) {
  const office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  const invoice = await anInvoice(app, { owner: asha, dueDate: '2026-02-20' })
  await anInvoice(app, { owner: asha, dueDate: '2026-02-21' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  const [mail] = (await ask(app, asha, reminderCalls.history, { params: { id: invoice._id } })).reply.mails
  const { messageId } = (await ask(app, asha, reminderCalls.mail, { params: { id: mail?._id ?? '' } })).reply
  const reminderId = /^<rem\.(.+)@/.exec(messageId)?.[1] ?? ''
  const body = { messageId: messageIdOf({ _id: mail?._id ?? '', messageId, reminderId }) }
  return Object.assign(office, { invoice, mailId: mail?._id ?? '', body, sent: smtp.mails.length })
}

test.each([
  ['Message-ID', ({ messageId }: { messageId: string }) => messageId],
  ['Message-ID without brackets', ({ messageId }: { messageId: string }) => messageId.slice(1, -1)],
  ['X-Reminder-Id', ({ reminderId }: { reminderId: string }) => reminderId],
  ['id', ({ _id }: { _id: string }) => _id],
])('an email reported by its %s as returned holds its address as a refusal does, once', async (_by, idOf) => {
  await using office = await reported(idOf)
  const { app, asha, invoice, mailId, body, sent, smtp } = office
  const answered = await ask(app, asha, integrationCalls.bounce, { body })
  expect(answered.reply).toEqual({ _id: mailId, clientEmail: invoice.clientEmail, held: true })
  const words = `An email to ${invoice.clientEmail} came back. Correct the address to resume.`
  const after = await read(app, asha, invoice._id)
  expect(after).toMatchObject({ addressHold: { words }, notDelivered: { code: 'bounced', words: 'it came back' } })
  expect(await notices(app, asha)).toMatchObject([
    {
      kind: 'address_refused',
      text: `${invoice.reference} to ${invoice.clientEmail} came back. Reminders to this address are on hold.`,
      clients: [{ invoiceId: invoice._id }, {}],
    },
  ])
  const { mails, reason } = (await ask(app, asha, reminderCalls.history, { params: { id: invoice._id } })).reply
  expect([mails[0]?.state, mails[0]?.bouncedAt, reason]).toEqual(['sent', '2026-03-02T06:30:00Z', 'address_held'])
  await nextDay(app)
  expect(smtp.mails).toHaveLength(sent)
  // Tried again: the email that came back before does not hold the address once more.
  await app.whileJobsRun(ask(app, asha, reminderCalls.tryAddress, { body: { clientEmail: invoice.clientEmail } }))
  expect((await ask(app, asha, integrationCalls.bounce, { body })).reply.held).toBe(false)
  expect(await notices(app, asha)).toEqual([])
})

/** Daily reminders by a sequence with these steps, of Rohan with an invoice due on 1 March, from the morning of 2 March. */
async function bySteps(...steps: [offset: number, tone: 'friendly' | 'final'][]) {
  const office = await anOffice({ now: '2026-03-02T02:00:00Z' })
  const { app, asha, smtp } = office
  const days = steps.map(([offset, tone]) => newStep(offset, tone))
  await aSequence(app, asha, { name: 'By steps', steps: days, everyDays: null, atMost: null, atLeast: 1 })
  const nextRunAt = Temporal.Instant.from('2026-03-02T03:30:00Z')
  await app.db.update(accounts).set({ remindersActive: true, nextRunAt, nextRunFrom: '2026-03-02' }).where(eq(accounts.id, asha.id))
  const { _id: id } = await anInvoice(app, { owner: asha, ...rohan, dueDate: '2026-03-01' })
  app.clock.set(nextRunAt.toString())
  await app.runJobs()
  return Object.assign(office, {
    id,
    /** Reports the email about it that was sent last, or another one. */
    async cameBack(nth = 0) {
      const { mails } = (await ask(app, asha, reminderCalls.history, { params: { id } })).reply
      return ask(app, asha, integrationCalls.bounce, { body: { messageId: mails[nth]?._id ?? '' } })
    },
    async row() {
      const [row] = await app.db.select().from(invoices).where(eq(invoices.id, id))
      return row
    },
    sent: () => Promise.all(smtp.mails.map(async ({ raw, envelope }) => `${envelope.to[0]}: ${(await readEmail(raw)).subject}`)),
  })
}

test('a step whose email came back comes again once the address is corrected, and the sequence continues behind it', async () => {
  await using office = await bySteps([1, 'friendly'], [3, 'final'])
  const { app, asha, id, cameBack, row, sent } = office
  expect((await cameBack()).reply.held).toBe(true)
  expect(await row()).toMatchObject({ remindedThrough: null, stepsSent: 0, lastReminderAt: null, remindersSent: 1 })
  await change(app, asha, id, { clientEmail: 'right@mehta.example' })
  for (let day = 0; day < 4; day += 1) await nextDay(app)
  expect(await sent()).toEqual([
    expect.stringMatching(/^rohan@mehta\.example: Invoice INV-0001 from /),
    expect.stringMatching(/^right@mehta\.example: Invoice INV-0001 from /),
    'right@mehta.example: Final reminder: invoice INV-0001',
  ])
})

test('a sequence is not over where its last email came back', async () => {
  await using office = await bySteps([1, 'friendly'])
  const { app, asha, id, cameBack, row, sent } = office
  await nextDay(app)
  expect((await notices(app, asha)).map(({ kind }) => kind)).toEqual(['sequence_ended'])
  await cameBack()
  expect((await notices(app, asha)).map(({ kind }) => kind)).toEqual(['address_refused'])
  expect(await row()).toMatchObject({ sequenceEndedOn: null })
  await change(app, asha, id, { clientEmail: 'right@mehta.example' })
  await nextDay(app)
  expect((await sent()).at(-1)).toMatch(/^right@mehta\.example: /)
})

test('a step that is reported as returned after a later one arrived does not come again', async () => {
  await using office = await bySteps([1, 'friendly'], [2, 'final'])
  const { app, cameBack, row } = office
  await nextDay(app)
  const before = await row()
  expect(before).toMatchObject({ remindedThrough: '2026-03-03', stepsSent: 2 })
  await cameBack(1)
  await cameBack(1)
  expect(await row()).toMatchObject({ remindedThrough: '2026-03-03', stepsSent: 1, lastReminderAt: before?.lastReminderAt })
})

test('where an email by hand came back, no step comes again, and Send Now may be pressed as often as before', async () => {
  await using office = await bySteps([1, 'friendly'])
  const { app, asha, id, cameBack, row } = office
  const before = await row()
  app.clock.advance({ minutes: 5 })
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow, { body: { invoiceIds: [id] } }))
  const left = async () => (await ask(app, asha, reminderCalls.preview)).reply.lines[0]?.sendNowLeft
  expect(await left()).toBe(2)
  await cameBack()
  expect(await row()).toMatchObject({ remindedThrough: '2026-03-02', stepsSent: 1, lastReminderAt: before?.lastReminderAt })
  await change(app, asha, id, { clientEmail: 'right@mehta.example' })
  expect(await left()).toBe(3)
})

test('an unknown id, that of another account and a corrected address hold nothing', async () => {
  await using office = await reported(({ messageId }) => messageId)
  const { app, asha, invoice, mailId, body } = office
  const stranger = await aPerson(app)
  for (const messageId of [body.messageId, mailId, '<rem.x@example.com>', '%', '019caccf-7128-7e78-9b81-d5a3c17e9042'])
    expect((await ask(app, stranger, integrationCalls.bounce, { body: { messageId } })).problem?.code).toBe('not_found')
  expect(
    (await ask(app, asha, integrationCalls.bounce, { body: { messageId: '019caccf-7128-7e78-9b81-d5a3c17e9042' } })).problem?.code,
  ).toBe('not_found')
  expect(await read(app, asha, invoice._id)).toMatchObject({ addressHold: null })
  await change(app, asha, invoice._id, { clientEmail: 'new@kaveri.example' })
  expect((await ask(app, asha, integrationCalls.bounce, { body })).reply.held).toBe(false)
  expect(await notices(app, asha)).toEqual([])
})

test('an email held for the mailbox waits on where its address came back meanwhile', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 1 })
  const { app, asha, smtp, invoices } = office
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  const [mail] = (await ask(app, asha, reminderCalls.history, { params: { id: invoices[0]?._id ?? '' } })).reply.mails
  const { _id: id } = await anInvoice(app, { owner: asha, clientEmail: 'client1@example.com', dueDate: '2026-02-21' })
  smtp.answer({ auth: () => '535 5.7.8 Username and Password not accepted' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow, { body: { invoiceIds: [id] } }))
  expect((await ask(app, asha, integrationCalls.bounce, { body: { messageId: mail?._id ?? '' } })).reply.held).toBe(true)
  smtp.answer({})
  await ask(app, asha, mailCalls.configureSmtp, { body: { host: smtp.host, port: smtp.port, secure: false, ...smtp.login } })
  await app.runJobs()
  expect(smtp.mails).toHaveLength(1)
  const { reply } = await ask(app, asha, reminderCalls.history, { params: { id } })
  expect(reply.mails).toMatchObject([{ state: 'held', reason: 'address' }])
  await change(app, asha, id, { clientEmail: 'right@example.com' })
  await app.runJobs()
  expect(smtp.mails.map(({ envelope }) => envelope.to[0])).toEqual(['client1@example.com', 'right@example.com'])
})
