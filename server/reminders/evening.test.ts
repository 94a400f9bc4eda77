// Also on PostgreSQL: emails of clients that are left out are locked, closed and queued again.
import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { teamCalls } from '#contract/business.ts'
import { businessHeader } from '#contract/call.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { leavingCalls } from '#contract/leaving.ts'
import { mailCalls } from '#contract/mail.ts'
import { ownerLinkCalls } from '#contract/owner-links.ts'
import { newStep } from '#contract/ready-sequences.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { sequenceCalls } from '#contract/sequences.ts'
import { accounts } from '#server/accounts/tables.ts'
import { clients } from '#server/invoices/tables.ts'
import { mailConfigs } from '#server/mail/tables.ts'
import { aMailbox, anInvoice, aPerson, aSequence, changePerson, type Person, signedInAgain } from '#test/factories.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask, openTestApp } from '#test/harness.ts'
import { readEmail } from '#test/read-email.ts'
import { leftOut, ownerLinks } from './tables.ts'

/** 17:00 in India on Sunday; the daily run is at 9:00 on Monday. */
const evening = '2026-03-01T11:30:00Z'
const nine = '2026-03-02T03:30:00Z'
const six = '2026-03-02T12:30:00Z'
const password = 'a long password'

interface About {
  clients?: string[]
  grouped?: boolean
  sequence?: Parameters<typeof aSequence>[2]
  rateLimit?: boolean
}

/** A server with email of its own, and an account that wants the evening list; its clients are `<name>@example.com`. */
async function anEvening({ clients = ['anna', 'ben'], grouped = false, sequence, rateLimit = false }: About = {}) {
  const [system, smtp] = [await openFakeSmtp(), await openFakeSmtp()]
  const config = {
    systemSmtpUrl: `smtp://127.0.0.1:${system.port}`,
    systemMailFrom: 'hello@duely.example',
    publicUrl: 'https://duely.example',
    rateLimit,
  }
  const app = await openTestApp({ now: '2026-03-01T06:00:00Z', config })
  const asha = await aPerson(app, { confirmed: true, password })
  await aMailbox(app, asha, smtp)
  const invoice = (name: string, dueDate = '2026-02-20', owner: Person = asha) =>
    anInvoice(app, { owner, clientName: `${name} Ltd`, clientEmail: `${name}@example.com`, dueDate })
  for (const name of clients) await invoice(name)
  if (sequence) await aSequence(app, asha, sequence)
  await app.db
    .update(accounts)
    .set({ remindersActive: true, nextRunAt: Temporal.Instant.from(nine), nextRunFrom: '2026-03-02', groupByClient: grouped })
    .where(eq(accounts.id, asha.id))
  const own = async () => signedInAgain(app, asha)
  expect((await ask(app, await own(), reminderCalls.changeSettings, { body: { eveningList: true } })).reply.eveningList).toBe(true)
  const lists = () => system.mails.filter(({ subject }) => subject?.startsWith('Tomorrow at '))
  return {
    app,
    asha,
    own,
    invoice,
    to: () => smtp.mails.map(({ envelope }) => envelope.to.join().replace('@example.com', '')).sort(),
    /** Moves the clock, and answers how many lists were sent so far. */
    async at(instant: string) {
      app.clock.set(instant)
      await app.runJobs()
      return lists().length
    },
    last: () => readEmail(lists().at(-1)?.raw),
    /** The token of the list of this evening. */
    async token() {
      await this.at(evening)
      return /#token=([\w-]{43})\n/.exec((await this.last()).text ?? '')?.[1] ?? ''
    },
    look: (token: string) => ask(app, null, ownerLinkCalls.lookAtEvening, { body: { token } }),
    leaveOut: (token: string, which: { clients?: string[]; clientEmails?: string[] } = {}) =>
      ask(app, null, ownerLinkCalls.leaveOutOfEvening, { body: { token, ...which } }),
    takeBack: (token: string, which: { clients?: string[]; clientEmails?: string[] } = {}) =>
      ask(app, null, ownerLinkCalls.takeBackInEvening, { body: { token, ...which } }),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]()
      await system[Symbol.asyncDispose]()
      await smtp[Symbol.asyncDispose]()
    },
  }
}

test('at 17:00 the owner gets the reminders of the next day by name and reference, and one link', async () => {
  await using office = await anEvening()
  expect([await office.at('2026-03-01T11:29:59Z'), await office.at(evening), await office.at('2026-03-01T18:00:00Z')]).toEqual([0, 1, 1])
  const { subject, text = '', to } = await office.last()
  expect([subject, to?.[0]?.address]).toEqual(['Tomorrow at 9:00: 2 reminders', office.asha.email])
  expect(text.replace(/token=[\w-]{43}/, 'token=T')).toBe(
    'These leave tomorrow from your mailbox. Do nothing, and they do.\n\nanna Ltd: INV-0001\nben Ltd: INV-0002\n\nLeave some out:\nhttps://duely.example/evening#token=T\n\nDuely\n\n',
  )
  const { reply, headers } = await office.look(/#token=([\w-]{43})/.exec(text)?.[1] ?? '')
  expect(reply).toMatchObject({ date: '2026-03-02', hour: '9:00', until: six, leave: 2, of: 2 })
  expect(reply.clients[0]).toEqual({
    key: expect.stringMatching(/^[\w-]{22}$/),
    clientName: 'anna Ltd',
    references: ['INV-0001'],
    emails: 1,
    leftOut: false,
    gone: false,
  })
  expect([headers['cache-control'], headers['x-robots-tag'], headers['referrer-policy']]).toEqual([
    'no-store',
    'noindex, nofollow',
    'no-referrer',
  ])
})

test('the list has 20 lines, and names that are shortened', async () => {
  await using office = await anEvening({ clients: Array.from({ length: 23 }, (_, nth) => `c${String(nth).padStart(2, '0')}`) })
  await anInvoice(office.app, { owner: office.asha, clientName: `A${'long '.repeat(30)}`, dueDate: '2026-02-01' })
  await office.at(evening)
  const { subject, text = '' } = await office.last()
  expect(subject).toBe('Tomorrow at 9:00: 24 reminders')
  const lines = text.split('\n\n')[1]?.split('\n') ?? []
  expect([lines.length, lines.at(-1)]).toEqual([21, 'and 4 more'])
  expect(lines[0]?.replace(/: INV-\d+$/, '')).toHaveLength(60)
})

test.for([false, true])('who is left out gets no email on that date, and one on the next; grouped: %s', async (grouped) => {
  await using office = await anEvening({ grouped })
  const { app } = office
  const token = await office.token()
  const [anna] = (await office.look(token)).reply.clients
  const done = (await office.leaveOut(token, { clients: [anna?.key ?? ''] })).reply
  expect([done.leave, done.of, done.clients.map(({ leftOut: out }) => out)]).toEqual([1, 2, [true, false]])
  const { lines } = (await ask(app, await office.own(), reminderCalls.preview, { query: {} })).reply
  expect(lines.map(({ nextAt, why }) => [nextAt, why])).toEqual([
    ['2026-03-03T03:30:00Z', 'Left out on 02/03/2026'],
    [nine, null],
  ])
  const { mails } = (await ask(app, await office.own(), sequenceCalls.plan, { query: { days: 3 } })).reply
  expect(mails.map(({ localDate, clientEmail }) => [localDate, clientEmail])).toEqual([
    ['2026-03-02', 'ben@example.com'],
    ['2026-03-03', 'anna@example.com'],
    ['2026-03-03', 'ben@example.com'],
  ])
  await office.at(nine)
  expect(office.to()).toEqual(['ben'])
  const [first] = lines
  const { days } = (await ask(app, await office.own(), reminderCalls.history, { params: { id: first?.invoiceId ?? '' } })).reply
  expect(days[0]).toMatchObject({ date: '2026-03-02', outcome: 'left_out', words: 'Left out by you.' })
  expect((await office.look(token)).reply).toMatchObject({ leave: 1, of: 2, clients: [{ leftOut: true }, { gone: true }] })
  await office.at('2026-03-03T03:30:00Z')
  expect(office.to()).toEqual(['anna', 'ben', 'ben'])
})

test('who is taken back before the run, or after it until 18:00, gets the email', async () => {
  await using office = await anEvening()
  const token = await office.token()
  expect((await office.leaveOut(token)).reply).toMatchObject({ leave: 0, of: 2 })
  expect((await office.takeBack(token, { clientEmails: ['BEN@example.com'] })).reply).toMatchObject({ leave: 1, of: 2 })
  await office.at(nine)
  expect(office.to()).toEqual(['ben'])
  await office.at('2026-03-02T12:29:00Z')
  expect((await office.takeBack(token)).reply).toMatchObject({ leave: 2, of: 2 })
  await office.app.runJobs()
  expect(office.to()).toEqual(['anna', 'ben'])
  expect(await office.app.db.select().from(leftOut)).toEqual([])
})

test('a step that is left out comes on the next day, and later steps keep their dates', async () => {
  const sequence = { name: 'Ours', everyDays: null, atMost: null, atLeast: 1, steps: [newStep(10, 'friendly'), newStep(13, 'firm')] }
  await using office = await anEvening({ sequence })
  const token = await office.token()
  await office.leaveOut(token, { clientEmails: ['anna@example.com'] })
  const planned = (await ask(office.app, await office.own(), sequenceCalls.plan, { query: { days: 10 } })).reply.mails
  const expected = planned.map(({ localDate, clientEmail }) => `${localDate} ${clientEmail.replace('@example.com', '')}`)
  expect(expected).toEqual(['2026-03-02 ben', '2026-03-03 anna', '2026-03-05 anna', '2026-03-05 ben'])
  const sent: string[] = []
  for (let date = Temporal.PlainDate.from('2026-03-02'); date.day < 10; date = date.add({ days: 1 })) {
    const before = office.to()
    await office.at(`${date}T03:30:00Z`)
    const fresh = office.to()
    for (const name of before) fresh.splice(fresh.indexOf(name), 1)
    sent.push(...fresh.map((name) => `${date} ${name}`))
  }
  expect(sent).toEqual(expected)
})

test('a link that has expired, was forged, or is of another date or purpose answers 404 alike, and changes nothing', async () => {
  await using office = await anEvening()
  const token = await office.token()
  await office.at('2026-03-02T11:30:00Z')
  const next = /#token=([\w-]{43})\n/.exec((await office.last()).text ?? '')?.[1] ?? ''
  expect(next).not.toBe(token)
  await office.leaveOut(next, { clientEmails: ['anna@example.com'] })
  expect((await office.app.db.select().from(leftOut)).map(({ localDate }) => localDate)).toEqual(['2026-03-03'])
  await office.at(six)
  const dead = { code: 'not_found', message: 'This link does not work any more.' }
  for (const wrong of [token, `${next.slice(0, -1)}${next.endsWith('A') ? 'B' : 'A'}`, '', 'x'])
    for (const asked of [office.look(wrong), office.leaveOut(wrong), office.takeBack(wrong)]) {
      const { status, problem } = await asked
      expect([status, problem]).toEqual([404, dead])
    }
  expect((await ask(office.app, null, ownerLinkCalls.endSummaries, { query: { token: next } })).problem).toEqual(dead)
  expect(await office.app.db.select().from(leftOut)).toHaveLength(1)
  expect((await office.look(next)).reply).toMatchObject({ date: '2026-03-03', leave: 1, of: 2 })
})

test('a link acts on the clients of its account and date only, 30 times an hour, and each act is in the audit log', async () => {
  await using office = await anEvening({ rateLimit: true })
  const { app } = office
  const meera = await aPerson(app, { confirmed: true })
  await office.invoice('zoe', '2026-02-20', meera)
  const token = await office.token()
  const { body } = await app.app.inject({ method: 'POST', url: '/evening/look', payload: { token } })
  expect(body).not.toContain('@')
  await office.leaveOut(token, { clientEmails: ['zoe@example.com', 'nobody@example.com'] })
  await office.leaveOut(token, { clients: ['nobody'] })
  expect(await app.db.select().from(leftOut)).toEqual([])
  await office.leaveOut(token, { clientEmails: ['anna@example.com'] })
  await office.takeBack(token)
  const entries = (await ask(app, await office.own(), accountCalls.audit, { query: {} })).reply
  expect(entries.slice(0, 2).map(({ text }) => text)).toEqual([
    'Reminders taken back by the link of an evening list: 2 clients on 02/03/2026.',
    'Reminders left out by the link of an evening list: anna Ltd on 02/03/2026.',
  ])
  for (let acts = 4; acts < 30; acts += 1) expect((await office.takeBack(token)).status).toBe(200)
  const refused = await office.leaveOut(token)
  expect([refused.status, refused.problem?.code]).toEqual([429, 'too_many'])
  app.clock.advance({ hours: 1 })
  expect((await office.leaveOut(token)).status).toBe(200)
})

test('there is no list where nothing leaves, for an address that is not confirmed, or once the evening is over', async () => {
  await using office = await anEvening({ clients: [] })
  expect(await office.at(evening)).toBe(0)
  await office.invoice('anna')
  await changePerson(office.app, office.asha, { emailVerifiedAt: null })
  expect(await office.at('2026-03-02T11:30:00Z')).toBe(0)
  await changePerson(office.app, office.asha, { emailVerifiedAt: office.app.clock.now() })
  // Down from 16:00 until midnight, and the next day until 23:00.
  expect(await office.at('2026-03-03T18:30:00Z')).toBe(0)
  expect(await office.at('2026-03-04T17:30:00Z')).toBe(1)
  await ask(office.app, await office.own(), reminderCalls.stop)
  expect(await office.at('2026-03-05T11:30:00Z')).toBe(1)
  expect(await office.app.db.select().from(ownerLinks)).toHaveLength(1)
})

test('the list moves with the time zone, summer time and the hour, and there is one a date', async () => {
  await using office = await anEvening()
  await office.at(evening)
  const change = async (body: { timezone?: string; reminderHour?: number }) =>
    ask(office.app, await office.own(), accountCalls.changeProfile, { body })
  await change({ timezone: 'America/New_York' })
  // 17:00 there is later on the same date, which has its list.
  expect(await office.at('2026-03-01T22:00:00Z')).toBe(1)
  await change({ reminderHour: 7 })
  expect([await office.at('2026-03-07T21:59:59Z'), await office.at('2026-03-07T22:00:00Z')]).toEqual([1, 2])
  expect((await office.last()).subject).toBe('Tomorrow at 7:00: 2 reminders')
  expect([await office.at('2026-03-08T20:59:59Z'), await office.at('2026-03-08T21:00:00Z')]).toEqual([2, 3])
})

test('a signed-in person leaves out and takes back clients of today and of the next 30 days', async () => {
  await using office = await anEvening()
  const { app } = office
  const on = async (date: string, call: typeof leavingCalls.leaveOutOnDay, clientEmails?: string[]) =>
    ask(app, await office.own(), call, { params: { date }, body: clientEmails ? { clientEmails } : {} })
  const { leaveOutOnDay, takeBackOnDay } = leavingCalls
  expect((await on('2026-03-03', leaveOutOnDay, ['ben@example.com'])).reply).toMatchObject({
    date: '2026-03-03',
    leave: 1,
    of: 2,
    clients: [{ clientEmail: 'anna@example.com' }, { clientEmail: 'ben@example.com', leftOut: true }],
  })
  expect((await on('2026-03-03', leaveOutOnDay)).reply.leave).toBe(0)
  expect((await on('2026-03-03', takeBackOnDay, ['ben@example.com'])).reply.leave).toBe(1)
  await office.at(nine)
  await office.at('2026-03-03T03:30:00Z')
  expect(office.to()).toEqual(['anna', 'ben', 'ben'])
  expect((await on('2026-03-02', leaveOutOnDay)).problem).toMatchObject({ code: 'conflict', message: 'This day is over.' })
  expect((await on('2026-04-03', leaveOutOnDay)).problem).toMatchObject({
    code: 'invalid',
    message: 'Please choose one of the next 30 days.',
  })
  expect((await on('tomorrow', leaveOutOnDay)).status).toBe(400)
})

test('a client that is left out stays so when its address is corrected, and not when that is of another client', async () => {
  await using office = await anEvening({ clients: ['anna', 'ben', 'zoe'] })
  const { app } = office
  const token = await office.token()
  await office.leaveOut(token, { clientEmails: ['anna@example.com', 'ben@example.com'] })
  const { reply } = await ask(app, office.asha, invoiceCalls.list, { query: {} })
  for (const [from, to] of Object.entries({ anna: 'anna.rao', ben: 'zoe' })) {
    const id = reply.find(({ clientEmail }) => clientEmail === `${from}@example.com`)?._id ?? ''
    await ask(app, office.asha, invoiceCalls.update, { params: { id }, body: { clientEmail: `${to}@example.com` } })
  }
  await office.at(nine)
  expect(office.to()).toEqual(['zoe', 'zoe'])
})

test('the link of a former owner ends when the business is handed over', async () => {
  await using of = await anEvening()
  const { app, asha } = of
  const token = await of.token()
  expect((await of.look(token)).status).toBe(200)
  const ben = await aPerson(app, { confirmed: true })
  const business = { [businessHeader]: asha.id }
  const owner = await of.own()
  const { link } = (
    await ask(app, owner, teamCalls.invite, { body: { email: ben.email, role: 'admin', currentPassword: password } }, business)
  ).reply
  await ask(app, ben, teamCalls.acceptInvitation, { body: { token: link.split('#token=')[1] ?? '' } })
  await ask(app, owner, teamCalls.offerOwnership, { body: { personId: String(ben.personId), currentPassword: password } }, business)
  expect((await ask(app, ben, teamCalls.acceptOwnership, {}, business)).reply).toMatchObject({ role: 'owner' })
  expect((await of.look(token)).status).toBe(404)
})

test('a mailbox that may send again before 18:00 of the next day costs no evening list and no choice for that day', async () => {
  await using office = await anEvening()
  const { app, asha } = office
  const pause = { pauseReason: 'quota' as const, pauseMessage: '550 5.4.5 Daily limit', pausedAt: app.clock.now() }
  await app.db
    .update(mailConfigs)
    .set({ ...pause, pausedUntil: Temporal.Instant.from('2026-03-01T18:30:00Z') })
    .where(eq(mailConfigs.ownerId, asha.id))
  expect(await office.at(evening)).toBe(1)
  const params = { date: '2026-03-02' }
  const left = await ask(app, await office.own(), leavingCalls.leaveOutOnDay, { params, body: { clientEmails: ['anna@example.com'] } })
  expect(left.reply).toMatchObject({ leave: 1, of: 2 })
  await office.at('2026-03-01T18:31:00Z')
  await office.at(nine)
  expect(office.to()).toEqual(['ben'])
})

test('daily reminders are on hold only where no mailbox that writes to clients can send, and the status names one that needs its owner', async () => {
  await using office = await anEvening()
  const { app, asha } = office
  await using other = await openFakeSmtp({ login: { user: 'second@banyan.example', pass: 'second password' } })
  const body = { provider: 'smtp', host: other.host, port: other.port, secure: false, ...other.login } as const
  const { reply: second } = await ask(app, await office.own(), mailCalls.addMailbox, { body: { ...body, currentPassword: password } })
  const pause = async (which: 'default' | 'second', pauseReason: 'login_refused' | 'quota', until: string | null) => {
    const stop = { pauseMessage: '', pausedAt: app.clock.now(), pausedUntil: until === null ? null : Temporal.Instant.from(until) }
    await app.db
      .update(mailConfigs)
      .set({ pauseReason, ...stop })
      .where(eq(mailConfigs.isDefault, which === 'default'))
  }
  const status = async () => (await ask(app, await office.own(), reminderCalls.status)).reply
  await pause('default', 'quota', '2026-03-02T12:30:00Z')
  // No client is written to from the second one yet.
  expect(await status()).toMatchObject({ state: 'on_hold', reason: 'sending_paused' })
  await app.db.update(clients).set({ mailboxId: second._id }).where(eq(clients.ownerId, asha.id))
  expect(await status()).toMatchObject({ state: 'active', nextRunAt: nine })
  expect(await office.at(evening)).toBe(1)
  await pause('second', 'login_refused', null)
  expect(await status()).toMatchObject({ state: 'on_hold', reason: 'sending_paused', pause: { reason: 'login_refused' } })
})
