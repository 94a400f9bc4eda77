// Also on PostgreSQL: requests of the former user wait for locks.
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { accountCalls } from '#contract/accounts.ts'
import { businessCalls, teamCalls } from '#contract/business.ts'
import { businessHeader } from '#contract/call.ts'
import { fileLayoutCalls } from '#contract/file-layouts.ts'
import { integrationCalls } from '#contract/integrations.ts'
import { mailCalls } from '#contract/mail.ts'
import { noticeCalls } from '#contract/notices.ts'
import { payLinkCalls } from '#contract/pay-links.ts'
import { paymentSettingsCalls } from '#contract/payment-settings.ts'
import { newStep } from '#contract/ready-sequences.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { templateCalls } from '#contract/templates.ts'
import { notify } from '#server/accounts/notices.ts'
import { giveBusiness } from '#server/accounts/team.ts'
import { stepOf, totpAt } from '#server/accounts/totp.ts'
import { clients } from '#server/invoices/tables.ts'
import { qrPng } from '#server/pay/qr-png.ts'
import { rows } from '#server/platform/database.ts'
import { addLeftOut } from '#server/reminders/left-out.ts'
import { addOwnerLink, endOwnerLinks } from '#server/reminders/owner-links.ts'
import { later } from '#test/fakes/smtp-server.ts'
import { start } from './business.ts'
import { aMailbox, anInvoice, aPerson, aSequence } from './factories.ts'
import { ownedTables } from './filled.ts'
import { ask, type TestApp } from './harness.ts'
import { anApplication, connect } from './programs.ts'
import { joinAs, newPassword, openSquatted, password, takeOver, withoutMail } from './squatted.ts'

/** Kept after a takeover: nothing in these tables sends, signs in, or puts words into an email. A new table belongs here only for that reason. */
const kept = [
  'address_holds',
  'audit_entries',
  'client_pauses',
  'clients',
  'decisions',
  'deliveries',
  'delivery_invoices',
  'hook_deliveries',
  'hook_events',
  'idempotency_keys',
  'invoice_changes',
  'invoice_counts',
  'invoice_files',
  'invoice_notes',
  'invoice_payments',
  'invoices',
  'memberships',
  'own_days',
  'pay_answers',
  // Revoked, so that they open nothing.
  'pay_links',
  'payments',
  'person_entries',
  'plan_tellings',
  'purchases',
  'runs',
]

const run = (app: TestApp) => async (statement: string) => rows(app.db, z.record(z.string(), z.unknown()), sql.raw(statement))

async function counts(app: TestApp, tables: string[]): Promise<Record<string, number>> {
  const found = await run(app)(
    tables.map((table) => `SELECT '${table}' AS table, count(*)::int AS count FROM "${table}"`).join(' UNION ALL '),
  )
  return Object.fromEntries(found.map(({ table, count }) => [String(table), Number(count)]))
}

test('taking over an unconfirmed account keeps its invoices and removes everything that acts', async () => {
  await using squatted = await openSquatted()
  const { app, smtp, razorpay, stranger } = squatted
  await aMailbox(app, stranger, smtp)
  await ask(app, stranger, templateCalls.save, {
    body: { useCustomTemplate: true, customSubject: 'Our bank', customContent: 'has changed' },
  })
  await connect(app, stranger, await anApplication(app))
  await withoutMail(app, () =>
    ask(app, stranger, teamCalls.invite, { body: { email: 'friend@example.com', role: 'admin', currentPassword: password } }),
  )
  await ask(app, stranger, integrationCalls.addKey, {
    body: { name: 'Mine', scopes: ['read', 'write'], currentPassword: password },
  })
  const hook = { url: 'https://hooks.example.com/', events: ['invoice.paid' as const], currentPassword: password }
  await ask(app, stranger, integrationCalls.addWebhook, { body: hook })
  const { secret } = (await ask(app, stranger, accountCalls.startTwoFactor, { body: { currentPassword: password } })).reply
  await ask(app, stranger, accountCalls.confirmTwoFactor, { body: { code: totpAt(secret, stepOf(app.clock.now())) } })
  await notify(app.db, stranger.id, { kind: 'quota', title: 'Call this number', text: '', link: null }, app.clock.now())
  const invoice = await anInvoice(app, { owner: stranger })
  const upi = { id: 'stranger@okaxis', name: 'Stranger' }
  await ask(app, stranger, paymentSettingsCalls.save, { body: { upi, currentPassword: password } })
  await ask(app, stranger, businessCalls.change, { body: { brand: { phone: 'Call this number' }, language: 'de' } })
  await ask(app, stranger, paymentSettingsCalls.saveLogo, { body: { image: qrPng('x').toString('base64'), currentPassword: password } })
  const { keyId, keySecret } = razorpay.settings
  await ask(app, stranger, paymentSettingsCalls.connectRazorpay, { body: { keyId, keySecret, currentPassword: password } })
  const { url } = (await ask(app, stranger, payLinkCalls.create, { params: { id: invoice._id } })).reply
  await start({ app }, new URL(url).pathname)
  await app.db.execute(sql`INSERT INTO pay_events (owner_id, event_id, attempt_id, name, received_at)
    SELECT owner_id, 'event_1', id, 'payment_link.paid', started_at FROM pay_attempts`)
  const ours = { name: 'Ours', everyDays: null, atMost: null, atLeast: 1 }
  await aSequence(app, stranger, { ...ours, steps: [{ ...newStep(1, 'friendly'), copyToSecondContact: true }] })
  await app.db.update(clients).set({
    follows: 'every_day',
    secondContact: 'stranger@example.com',
    copies: [{ email: 'stranger@example.com', gets: 'every', step: null }],
  })
  await ask(app, stranger, reminderCalls.changeSettings, { body: { eveningList: true, weeklySummary: true, smart: true } })
  await addLeftOut(app.db, { id: stranger.id, leftOutUntil: null }, '2026-03-03', [invoice.clientEmail])
  await app.db.execute(
    sql`INSERT INTO smart_choices SELECT owner_id, id, due_date + 1, due_date + 4, 0.6, '{"kind":"nothing"}' FROM invoices`,
  )
  await app.db.execute(sql`INSERT INTO sources (owner_id, id, name, url, created_at, pulled_for)
    VALUES (${stranger.id}::uuid, gen_random_uuid(), 'Theirs', 'https://evil.example/', now(), '2026-03-02')`)
  await app.db.execute(sql`INSERT INTO pulls (owner_id, id, source_id, at, state)
    SELECT owner_id, gen_random_uuid(), id, created_at, 'applied' FROM sources`)
  await addOwnerLink(app.db, { ownerId: stranger.id, purpose: 'end_summaries', expiresAt: app.clock.now().add({ hours: 1 }) })
  const layout = { kind: 'bank' as const, headings: 'date|amount', name: 'Theirs', answers: [{ question: 'order/date', answer: 'mdy' }] }
  await ask(app, stranger, fileLayoutCalls.keep, { body: layout })
  // A run that was made before a confirmed email was needed.
  smtp.answer({ mail: () => '451 4.3.0 Later' })
  await withoutMail(app, () => app.whileJobsRun(ask(app, stranger, reminderCalls.start)))
  smtp.answer({})
  const owned = [...(await ownedTables(run(app))), ...(await ownedTables(run(app), 'person_id'))]
  const acting = owned.filter((table) => !kept.includes(table))
  // Links are made by the takeover, returns from Google last a minute, and pauses of senders are part of the mailbox.
  const filled = Object.entries(await counts(app, acting)).filter(
    ([table, count]) => count === 0 && !['account_links', 'google_returns'].includes(table),
  )
  expect(filled).toEqual([])

  const { status, reply } = await takeOver(squatted, stranger)
  expect(status).toBe(200)
  expect(reply.removed?.toSorted()).toEqual([
    'api_keys',
    'applications',
    'display_name',
    'file_layouts',
    'mailbox',
    'payment_settings',
    'schedule',
    'sequences',
    'sources',
    'team',
    'templates',
    'two_factor',
    'waiting_emails',
    'webhooks',
  ])
  expect(reply.message).toContain(
    'We removed the name, two-factor authentication, the rest of the team, the mailbox, the email templates, the daily reminders',
  )
  const left = Object.entries(await counts(app, acting)).filter(([, count]) => count > 0)
  expect(left).toEqual([['notices', 1]])
  const signedIn = await ask(app, null, accountCalls.signIn, { body: { email: stranger.email, password: newPassword } })
  expect(signedIn.reply.foundUser.displayName).toBe('owner')
  const owner = { token: signedIn.reply.accessToken }
  expect((await ask(app, owner, noticeCalls.list)).reply).toMatchObject([
    { kind: 'taken_over', text: expect.stringContaining('Your invoices are still here') },
  ])
  expect((await ask(app, owner, reminderCalls.status)).reply).toMatchObject({ isActive: false, nextRunAt: null })
  expect((await ask(app, owner, reminderCalls.settings)).reply).toMatchObject({ eveningList: false, weeklySummary: false, smart: false })
  expect((await counts(app, ['invoices'])).invoices).toBe(1)
  expect(await app.db.select({ follows: clients.follows, second: clients.secondContact, copies: clients.copies }).from(clients)).toEqual([
    { follows: 'inherit', second: null, copies: null },
  ])
  expect((await app.app.inject(new URL(url).pathname)).statusCode).toBe(404)
  expect([...razorpay.provider.links.values()].map(({ status: paid }) => paid)).toEqual(['cancelled'])
  app.clock.advance({ hours: 2 })
  await app.runJobs()
  expect(smtp.mails).toEqual([])
})

test('the other members of a business that is taken over are removed, and keep one of their own', async () => {
  await using squatted = await openSquatted()
  const { app, stranger } = squatted
  const [friend, elsewhere] = [await aPerson(app, { confirmed: true }), await aPerson(app, { confirmed: true })]
  await withoutMail(app, () => joinAs(app, stranger, friend, 'admin'))
  // The business of the stranger is the only one that is left to them.
  await giveBusiness(app.deps, friend.id, elsewhere.email, app.clock.now(), endOwnerLinks)
  const self = { params: { personId: String(friend.personId) }, body: {} }
  expect((await ask(app, friend, teamCalls.removeMember, self, { [businessHeader]: friend.id })).status).toBe(204)
  expect((await takeOver(squatted, stranger)).reply.removed).toEqual(['display_name', 'team'])
  const left = await ask(app, friend, businessCalls.list)
  expect(left.reply).toMatchObject([{ role: 'owner', name: 'Asha Rao' }])
  expect([stranger.id, friend.id]).not.toContain(left.reply[0]?._id)
})

/** Columns that name a person, in rows that a takeover ends: only the membership in their own business stays. */
const ended = [
  'account_links.person_id',
  'accounts.offered_to',
  'api_keys.made_by',
  'google_returns.person_id',
  'hooks.made_by',
  'invitations.invited_by',
  'memberships.person_id',
  'oauth_grants.made_by',
  'recovery_codes.person_id',
  'second_factors.person_id',
  // With them the businesses that they chose.
  'sessions.person_id',
]
/** What someone did stays in the logs. */
const logged = ['audit_entries.person_id', 'invoice_changes.person_id', 'invoice_notes.person_id', 'person_entries.person_id']
/** Who set up what works without them, and who was asked to take it over: see made.test.ts. */
const made = ['api_keys', 'brands.reply_to', 'hooks', 'mail_configs', 'pay_keys', 'sources'].flatMap((table) => {
  const prefix = table.includes('.') ? `${table}_` : `${table}.`
  return [`${prefix}made_by`, `${prefix}offered_to`].filter((column) => !ended.includes(column))
})
/** Ids without a foreign key that are no person’s. Emails in `system_mails` go to the mailbox of the owner, and their links are void. */
const others = [
  'accounts.sequence_id',
  'deliveries.claim',
  'deliveries.claimed_by',
  'deliveries.sequence_id',
  'invoice_changes.import_id',
  'invoice_payments.batch_id',
  'invoices.file_id',
  'jobs.ticket',
  'leases.process_id',
  'mail_configs.place',
  'mail_configs.sender_id',
  'pay_keys.hook_id',
  'sessions.chosen_id',
  'system_mails.account_id',
]

test('a takeover ends every row that names the person, in businesses of others too', async () => {
  await using squatted = await openSquatted()
  const { app, stranger } = squatted
  // A new column belongs into one of the lists.
  const named = await run(app)(`SELECT c.table_name || '.' || c.column_name AS name
    FROM information_schema.columns c
    LEFT JOIN (SELECT k.conrelid, k.confrelid, unnest(k.conkey) AS attnum FROM pg_constraint k WHERE k.contype = 'f') k
      ON k.conrelid = to_regclass(quote_ident(c.table_name)) AND k.attnum = c.ordinal_position
    WHERE c.table_schema = 'public' AND c.data_type = 'uuid' AND c.column_name NOT IN ('id', 'owner_id')
      AND (k.confrelid IS NULL OR k.confrelid = 'people'::regclass) ORDER BY 1`)
  expect(named.map(({ name }) => String(name)).toSorted()).toEqual([...ended, ...logged, ...made, ...others].toSorted())

  const vikram = await aPerson(app, { displayName: 'Vikram Menon', password, confirmed: true })
  const within = { [businessHeader]: vikram.id }
  await withoutMail(app, async () => {
    await joinAs(app, vikram, stranger, 'admin')
    await ask(app, stranger, teamCalls.invite, { body: { email: 'friend@example.com', role: 'admin', currentPassword: password } }, within)
  })
  const body = { personId: String(stranger.personId), currentPassword: password }
  expect((await ask(app, vikram, teamCalls.offerOwnership, { body }, within)).status).toBe(204)
  for (const business of [within, { [businessHeader]: stranger.id }]) {
    const key = { name: 'Mine', scopes: ['read' as const, 'write' as const], currentPassword: password }
    await ask(app, stranger, integrationCalls.addKey, { body: key }, business)
    const hook = { url: 'https://hooks.example.com/', events: ['invoice.paid' as const], currentPassword: password }
    await ask(app, stranger, integrationCalls.addWebhook, { body: hook }, business)
  }
  // The session has chosen the business that its last call named.
  await ask(app, stranger, businessCalls.read, {}, within)
  await connect(app, stranger, await anApplication(app))
  const { secret } = (await ask(app, stranger, accountCalls.startTwoFactor, { body: { currentPassword: password } })).reply
  await ask(app, stranger, accountCalls.confirmTwoFactor, { body: { code: totpAt(secret, stepOf(app.clock.now())) } })
  await ask(app, stranger, accountCalls.sendConfirmation)
  await app.db.execute(sql`INSERT INTO google_returns (code_hash, browser_hash, issuer, sub, email, email_verified, authoritative, person_id, expires_at)
    VALUES ('x', 'x', 'https://accounts.google.com', '1', 'a@example.com', true, true, ${String(stranger.personId)}::uuid, now())`)
  const counted = async () => {
    const found = []
    for (const column of ended) {
      const [table, name] = column.split('.')
      const [row] = await run(app)(`SELECT count(*)::int AS count FROM "${table}" WHERE "${name}" = '${stranger.personId}'`)
      found.push(`${column} ${row?.count}`)
    }
    return found
  }
  expect((await counted()).filter((one) => one.endsWith(' 0'))).toEqual([])
  expect(await counted()).toContain('api_keys.made_by 2')

  const { reply } = await takeOver(squatted, stranger)
  expect(reply.left).toEqual(['Vikram Menon'])
  expect(reply.message).toContain('It was removed from “Vikram Menon”: if you work there, ask for a new invitation.')
  expect((await counted()).filter((one) => !one.endsWith(' 0'))).toEqual(['memberships.person_id 1'])
  const { reply: left } = await ask(app, vikram, teamCalls.members, {}, within)
  expect(left.members.map(({ displayName }) => displayName)).toEqual(['Vikram Menon'])
  expect((await ask(app, vikram, businessCalls.audit, { query: {} }, within)).reply[0]).toMatchObject({
    by: 'Duely',
    text: `${stranger.email} removed.`,
  })
})

test('a mailbox that is still being checked when the account is taken over is not stored', async () => {
  await using squatted = await openSquatted()
  const { app, smtp, stranger } = squatted
  let free: () => void = () => undefined
  const held = new Promise<void>((resolve) => {
    free = resolve
  })
  smtp.answer({ greeting: () => later(held) })
  const saving = ask(app, stranger, mailCalls.configureSmtp, { body: { host: smtp.host, port: smtp.port, secure: false, ...smtp.login } })
  while (smtp.connections.total === 0) await new Promise((resolve) => setImmediate(resolve))
  expect((await takeOver(squatted, stranger)).reply.removed).toEqual(['display_name'])
  free()
  expect((await saving).status).toBe(401)
  expect((await counts(app, ['mail_configs'])).mail_configs).toBe(0)
})

test('a stranger’s Google link does not keep the owner of the address out', async () => {
  await using squatted = await openSquatted()
  const { app } = squatted
  const stranger = await aPerson(app, { email: 'second@example.com', googleId: '42' })
  expect((await takeOver(squatted, stranger)).reply.removed).toEqual(['display_name', 'google'])
  expect((await ask(app, null, accountCalls.signIn, { body: { email: stranger.email, password: newPassword } })).status).toBe(200)
})

test('an owner of 0.2.0 who resets their password the day after the upgrade keeps mailbox, sequences and team', async () => {
  await using squatted = await openSquatted()
  const { app, smtp } = squatted
  // Confirmed by a link that needed no session then.
  const asha = await aPerson(app, { password, confirmed: true })
  const farah = await aPerson(app, { confirmed: true })
  await joinAs(app, asha, farah, 'admin')
  await aMailbox(app, asha, smtp)
  await aSequence(app, asha, { name: 'Ours', everyDays: null, atMost: null, atLeast: 1, steps: [newStep(1, 'friendly')] })
  app.clock.advance({ hours: 24 })
  const kept = () => counts(app, ['mail_configs', 'sequences', 'sequence_steps', 'memberships'])
  const before = await kept()
  expect((await takeOver(squatted, asha)).reply).toEqual({ message: 'Your new password is set. Please sign in with it.' })
  expect(await kept()).toEqual(before)
  expect(Object.values(before)).toEqual([1, 1, 1, 4])
  const token = (await ask(app, null, accountCalls.signIn, { body: { email: asha.email, password: newPassword } })).reply.accessToken
  expect((await ask(app, { token }, mailCalls.config)).reply).toMatchObject({ configured: true })
})
