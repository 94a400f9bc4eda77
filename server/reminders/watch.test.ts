// Also on PostgreSQL: two processes report at the same moment.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { noticeCalls } from '#contract/notices.ts'
import { settleLink } from '#server/accounts/links.ts'
import { accounts, memberships } from '#server/accounts/tables.ts'
import { mailConfigs } from '#server/mail/tables.ts'
import { openSystemMailer } from '#server/platform/system-mail.ts'
import { systemMails } from '#server/platform/tables.ts'
import { learnZones } from '#server/platform/zones.ts'
import { aMailbox, anInvoice, aPerson, refusedUpdates } from '#test/factories.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { openHeartbeat } from './heartbeat.ts'
import { openWatch } from './watch.ts'

const noWorker = (app: TestApp) =>
  app.db.execute(sql`UPDATE processes SET started_at = now() - interval '6 minutes', ticked_at = now() - interval '6 minutes'`)

/** A server with email of its own; its accounts have daily reminders at nine in India, and something past due. */
async function onWatch() {
  const smtp = await openFakeSmtp()
  const config = {
    systemSmtpUrl: `smtp://127.0.0.1:${smtp.port}`,
    systemMailFrom: 'hello@duely.example',
    publicUrl: 'https://duely.example',
  }
  const app = await openTestApp({ now: '2026-03-02T03:00:00Z', config })
  const own = await openFakeSmtp()
  const person = async (about: Parameters<typeof aPerson>[1] = {}) => {
    const one = await aPerson(app, { confirmed: true, ...about })
    await aMailbox(app, one, own)
    await anInvoice(app, { owner: one })
    await app.db
      .update(accounts)
      .set({ remindersActive: true, nextRunAt: Temporal.Instant.from('2026-03-02T03:30:00Z'), nextRunFrom: '2026-03-02' })
      .where(eq(accounts.id, one.id))
    return one
  }
  const [watch, other] = [1, 2].map(() => openWatch(app.deps, openSystemMailer(app.deps, settleLink)))
  return {
    app,
    smtp,
    person,
    async watchAt(instant: string) {
      app.clock.set(instant)
      // Two processes at the same moment.
      const both = await Promise.allSettled([watch?.(), other?.()])
      for (const one of both) if (one.status === 'rejected') throw one.reason
    },
    to: () => smtp.mails.map(({ envelope, subject }) => `${envelope.to} ${subject}`),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]()
      await smtp[Symbol.asyncDispose]()
      await own[Symbol.asyncDispose]()
    },
  }
}

// Row 14.
test('without a process that checks for due runs, the process that serves calls notifies owners once a day', async () => {
  await using watch = await onWatch()
  const { app } = watch
  const asha = await watch.person({ email: 'asha@example.com' })
  await watch.person({ email: 'unconfirmed@example.com', confirmed: false })
  const admin = await aPerson(app, { email: 'admin@example.com', confirmed: true })
  await app.db.insert(memberships).values({ ownerId: asha.id, personId: admin.personId, role: 'admin', joinedAt: app.clock.now() })
  await noWorker(app)
  await watch.watchAt('2026-03-02T03:34:00Z')
  expect(watch.to()).toEqual([])
  await watch.watchAt('2026-03-02T03:35:00Z')
  await watch.watchAt('2026-03-02T03:36:00Z')
  await watch.watchAt('2026-03-02T11:00:00Z')
  const title = 'Duely has not sent your reminders today'
  expect(watch.to().toSorted()).toEqual([`admin@example.com ${title}`, `asha@example.com ${title}`])
  expect(watch.smtp.mails[0]?.raw.toString()).toContain('The run of 9:00 has not begun.')
  const [notice] = (await ask(app, asha, noticeCalls.list)).reply
  expect(notice).toMatchObject({
    kind: 'run_missing',
    text: 'The run of 9:00 has not begun. They leave by themselves if Duely is back before 18:00. Please tell whoever runs https://duely.example.',
  })
  await watch.watchAt('2026-03-03T03:36:00Z')
  expect(watch.to()).toHaveLength(4)
})

test('a time zone that the database does not know keeps no other account from its report', async () => {
  await using all = await onWatch()
  const { app } = all
  const [asha, ravi] = [await all.person(), await all.person()]
  await app.db.update(accounts).set({ timezone: 'America/Not_Yet' }).where(eq(accounts.id, ravi.id))
  await learnZones(app.db)
  await all.watchAt('2026-03-02T05:00:00Z')
  expect((await ask(app, asha, noticeCalls.list)).reply).toMatchObject([{ kind: 'run_missing' }])
})

test('a run that is half an hour late is reported while processes check, and its notice goes once it was made', async () => {
  await using watch = await onWatch()
  const { app } = watch
  const asha = await watch.person()
  await app.db.execute(sql`UPDATE processes SET ticked_at = now()`)
  await watch.watchAt('2026-03-02T03:59:00Z')
  expect(await app.db.select().from(systemMails)).toEqual([])
  await watch.watchAt('2026-03-02T04:00:00Z')
  expect(await app.db.select().from(systemMails)).toHaveLength(1)
  await app.runJobs()
  expect(watch.to()).toHaveLength(1)
  await watch.watchAt('2026-03-02T04:01:00Z')
  expect((await ask(app, asha, noticeCalls.list)).reply.filter(({ kind }) => kind === 'run_missing')).toEqual([])
})

test('nothing is reported before the hour, after 18:00, without daily reminders that could send, or without open invoices', async () => {
  await using watch = await onWatch()
  const { app } = watch
  const held = await watch.person()
  await app.db.update(accounts).set({ heldAt: app.clock.now() }).where(eq(accounts.id, held.id))
  const empty = await watch.person()
  await app.db.execute(sql`UPDATE invoices SET deleted_at = now() WHERE owner_id = ${empty.id}::uuid`)
  await noWorker(app)
  await watch.watchAt('2026-03-02T03:29:00Z')
  await watch.watchAt('2026-03-02T05:00:00Z')
  await watch.person()
  await watch.watchAt('2026-03-02T12:30:00Z')
  expect([watch.to(), await app.db.select().from(systemMails)]).toEqual([[], []])
})

test('a run that is missing is reported although the mailbox was paused until midnight, and nothing has resumed it', async () => {
  await using watch = await onWatch()
  const { app } = watch
  const asha = await watch.person({ email: 'asha@example.com' })
  const pause = { pauseReason: 'quota' as const, pauseMessage: '', pausedAt: Temporal.Instant.from('2026-03-01T10:00:00Z') }
  await app.db
    .update(mailConfigs)
    .set({ ...pause, pausedUntil: Temporal.Instant.from('2026-03-01T18:30:00Z') })
    .where(eq(mailConfigs.ownerId, asha.id))
  await noWorker(app)
  await watch.watchAt('2026-03-02T03:35:00Z')
  expect(watch.to()).toEqual(['asha@example.com Duely has not sent your reminders today'])
})

test('accounts whose day is over do not keep others from their reports', async () => {
  await using watch = await onWatch()
  const { app } = watch
  const asha = await watch.person({ email: 'asha@example.com', timezone: 'Europe/London' })
  await app.db
    .update(accounts)
    .set({ nextRunAt: Temporal.Instant.from('2026-03-02T09:00:00Z') })
    .where(eq(accounts.id, asha.id))
  await app.db.execute(sql`
    INSERT INTO accounts (id, timezone, created_at, updated_at, next_midnight_at, reminders_active, next_run_at, next_run_from)
    SELECT gen_random_uuid(), 'Asia/Kolkata', now(), now(), now(), true, '2026-03-02T03:30:00Z', '2026-03-02' FROM generate_series(1, 600)`)
  await noWorker(app)
  await watch.watchAt('2026-03-02T13:00:00Z')
  expect(watch.to()).toEqual(['asha@example.com Duely has not sent your reminders today'])
})

test('a report that the database refuses delays no other, and its error is reported', async () => {
  await using watch = await onWatch()
  const { app } = watch
  const asha = await watch.person()
  const earlier = { nextRunAt: Temporal.Instant.from('2026-03-02T03:29:00Z') }
  await app.db.update(accounts).set(earlier).where(eq(accounts.id, asha.id))
  await watch.person({ email: 'ravi@example.com' })
  await noWorker(app)
  await using _refused = await refusedUpdates(app, 'accounts', `NEW.id = '${asha.id}'`)
  await expect(watch.watchAt('2026-03-02T03:36:00Z')).rejects.toThrow('could not be reported')
  await expect(watch.watchAt('2026-03-02T03:37:00Z')).rejects.toThrow('could not be reported')
  expect(watch.to()).toEqual(['ravi@example.com Duely has not sent your reminders today'])
})

test('the address that watches from outside is asked at most once a minute, and its failures are only logged', async () => {
  let asked = 0
  const server = createServer((_request, response) => {
    asked += 1
    response.writeHead(asked === 1 ? 200 : 500).end()
  }).listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  const { port } = server.address() as AddressInfo
  await using app = await openTestApp({ config: { heartbeatUrl: `http://127.0.0.1:${port}/ping` } })
  const beat = openHeartbeat(app.deps)
  await beat()
  app.clock.advance({ seconds: 59 })
  await beat()
  expect(asked).toBe(1)
  app.clock.advance({ seconds: 1 })
  await beat()
  expect(asked).toBe(2)
  await new Promise((closed) => server.close(closed))
  app.clock.advance({ minutes: 1 })
  await beat()
  expect(app.errorsLogged).toEqual([])
})
