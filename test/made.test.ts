// Also on PostgreSQL: what is listed comes from the catalogue.
import { sql } from 'drizzle-orm'
import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { accountCalls } from '#contract/accounts.ts'
import { businessCalls, type MadeKind, madeKinds, teamCalls } from '#contract/business.ts'
import { businessHeader, type Call, type CallInput } from '#contract/call.ts'
import { integrationCalls } from '#contract/integrations.ts'
import { mailCalls } from '#contract/mail.ts'
import { noticeCalls } from '#contract/notices.ts'
import { paymentSettingsCalls } from '#contract/payment-settings.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { sourceCalls } from '#contract/sources.ts'
import { readReplyTo } from '#server/accounts/brand.ts'
import { readEmailPayments } from '#server/pay/pay.ts'
import { rows } from '#server/platform/database.ts'
import { openFakeRazorpay } from '#test/fakes/razorpay/server.ts'
import { openFakeReceiver } from '#test/fakes/receiver.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { aMember, anInvoice, aPerson, type Person, signedInAgain } from './factories.ts'
import { ask, openTestApp } from './harness.ts'
import { isSigned } from './webhooks.ts'

/** 06:30 in India: the watched address is read at 8, and reminders leave at 9. */
const now = '2026-03-02T01:00:00Z'
const file = (number: number) => `No,Client,Email,Amount,Balance,Due Date\nB-${number},Client,pay@client.example,100,100,2026-04-01`

/** A business, and an admin who set up one of each kind in it. */
async function openSetUp() {
  const stack = new AsyncDisposableStack()
  const post = stack.use(await openFakeSmtp())
  const smtp = stack.use(await openFakeSmtp({ login: { user: 'office@banyan.example', pass: 'first password' } }))
  const receiver = stack.use(await openFakeReceiver())
  const keys = { keyId: 'rzp_live_FakeFakeFake01', keySecret: 'first-secret-of-razorpay' }
  const razorpay = stack.use(await openFakeRazorpay({ ...keys, now: () => Temporal.Instant.from(now).epochMilliseconds / 1000 }))
  const app = stack.use(
    await openTestApp({
      now,
      config: {
        allowPrivateWebhookHosts: true,
        payLinks: true,
        razorpayApiUrl: razorpay.settings.apiUrl,
        systemSmtpUrl: `smtp://${post.host}:${post.port}`,
        systemMailFrom: 'hello@duely.example',
      },
    }),
  )
  const owner = await aPerson(app, { displayName: 'Asha Rao', email: 'asha@banyan.example', confirmed: true })
  const admin = await aMember(app, owner, 'admin', { displayName: 'Ravi Kumar', confirmed: true })
  const as = <C extends Call>(person: Person, call: C, input: CallInput<C>) =>
    (ask as (...all: unknown[]) => ReturnType<typeof ask<C>>)(app, person, call, input, { [businessHeader]: owner.id })
  const mailbox = () => ({ host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  receiver.answer(({ path }, nth) => ({ status: 200, body: path === '/books.csv' ? file(nth) : '' }))

  const setUp = async (person: Person) => {
    const key = await as(person, integrationCalls.addKey, { body: { name: 'Robot', scopes: ['read', 'write'] } })
    const hook = await as(person, integrationCalls.addWebhook, { body: { url: `${receiver.url}/ledger`, events: ['invoice.created'] } })
    const source = await as(person, sourceCalls.create, { body: { name: 'Books', url: `${receiver.url}/books.csv` } })
    await as(person, mailCalls.configureSmtp, { body: mailbox() })
    await as(person, businessCalls.askReplyTo, { body: { email: 'replies@banyan.example' } })
    const { text = '' } = await PostalMime.parse(smtp.mails.at(-1)?.raw ?? '')
    await as(person, businessCalls.confirmReplyTo, { body: { code: /\n(\d{6})\n/.exec(text)?.[1] ?? '' } })
    await as(person, paymentSettingsCalls.connectRazorpay, { body: keys })
    await app.runJobs()
    return { key: key.reply.key, secret: hook.reply.secret, hookId: hook.reply._id, sourceId: source.reply._id }
  }
  /** Which of them work on the next day, by these secrets. */
  const working = async ({ key, secret }: { key: string; secret: string }): Promise<MadeKind[]> => {
    const count = (path: string) => receiver.calls.filter((call) => call.path === path).length
    const before = { hooks: receiver.calls.length, files: count('/books.csv'), emails: smtp.mails.length }
    app.clock.set(app.clock.now().add({ hours: 24 }).toString().replace(/T.*/, 'T02:30:00Z'))
    await anInvoice(app, { owner, clientEmail: `client${before.hooks}@example.com` })
    await app.runJobs()
    await app.whileJobsRun(as(await signedInAgain(app, owner), reminderCalls.sendNow, { body: null }))
    const events = receiver.calls.slice(before.hooks).filter(({ path }) => path === '/ledger')
    const works = {
      api_key: (await ask(app, { token: key }, integrationCalls.me)).status === 200,
      webhook: events.some((call) => isSigned(call, secret, app.clock.now().epochMilliseconds / 1000)),
      source: count('/books.csv') > before.files,
      mailbox: smtp.mails.length > before.emails,
      reply_to: (await readReplyTo(app.db, owner.id)).replyTo !== null,
      razorpay: (await readEmailPayments(app.db, app.deps.config, [owner.id])).get(owner.id)?.methods.online === true,
    } satisfies Record<MadeKind, boolean>
    return madeKinds.filter((kind) => works[kind])
  }
  const emailsTo = async (person: Person, subject: string) => {
    await app.runJobs()
    const sent = await Promise.all(post.mails.map(async ({ raw, envelope }) => ({ to: envelope.to[0], mail: await PostalMime.parse(raw) })))
    return sent.filter(({ to, mail }) => to === person.email && mail.subject === subject).map(({ mail }) => mail.text ?? '')
  }
  const kept = stack.move()
  const dispose = () => kept.disposeAsync()
  return { app, owner, admin, as, smtp, razorpay, keys, mailbox, setUp, working, emailsTo, [Symbol.asyncDispose]: dispose }
}

const idOf = ({ personId }: Person) => String(personId)
const leave = { programs: 'take_over' } as const

// 6 s.
test('what someone set up who leaves does nothing until it is taken over, with other secrets', async () => {
  await using office = await openSetUp()
  const { app, owner, admin, as, smtp, razorpay, keys, mailbox, setUp, working, emailsTo } = office
  const secrets = await setUp(admin)
  expect(await working(secrets)).toEqual(madeKinds)
  const params = { personId: idOf(admin) }
  const listed = (await as(admin, teamCalls.made, { params })).reply
  expect(listed.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    expect.stringMatching(/^api_key Robot \(….{4}\)$/),
    expect.stringMatching(/^webhook 127\.0\.0\.1:\d+$/),
    'source Books',
    'mailbox office@banyan.example',
    'reply_to replies@banyan.example',
    'razorpay rzp_live_FakeFakeFake01',
  ])
  const unasked = await as(admin, teamCalls.removeMember, { params, body: {} })
  expect(unasked.problem?.errors).toHaveLength(6)
  expect((await as(admin, teamCalls.removeMember, { params, body: leave })).status).toBe(204)
  // The email has no words of who left.
  const [email = '', ...more] = await emailsTo(owner, 'Connections for you to take over')
  expect(more).toEqual([])
  expect(email).toContain('/dashboard/business?tab=team')
  expect(email).not.toMatch(/Ravi|Robot|banyan/)
  expect(await working(secrets)).toEqual([])

  const again = await signedInAgain(app, owner)
  const waiting = (await as(again, teamCalls.handedOver, {})).reply
  expect(waiting.map(({ kind, from, to, mine }) => [kind, from, to, mine])).toEqual(
    madeKinds.map((kind) => [kind, 'Ravi Kumar', 'Asha Rao', true]),
  )
  // It cannot be set going in another way.
  const hook = { params: { id: secrets.hookId } }
  for (const tried of [
    await as(again, integrationCalls.changeWebhook, { ...hook, body: { paused: false } }),
    await as(again, integrationCalls.replaceSecret, hook),
    await as(again, integrationCalls.testWebhook, hook),
    await as(again, sourceCalls.pull, { params: { id: secrets.sourceId }, body: {} }),
  ])
    expect(tried.problem).toMatchObject({
      code: 'conflict',
      message: 'The person who set this up has left the business. Take it over under Team first.',
    })
  expect((await as(again, mailCalls.test, {})).status).toBe(200)
  expect((await as(again, mailCalls.config, {})).reply.pause?.reason).toBe('handed_over')

  const taken: Partial<Record<MadeKind, string | null>> = {}
  for (const { kind, _id: id } of waiting) {
    const { reply, problem } = await as(again, teamCalls.takeOver, { params: { kind, id }, body: {} })
    if (problem) expect([kind, problem.code]).toEqual([expect.stringMatching('mailbox|razorpay'), 'conflict'])
    else taken[kind] = reply.secret
  }
  expect(taken).toMatchObject({ source: null, reply_to: null })
  const fresh = { key: taken.api_key ?? '', secret: taken.webhook ?? '' }
  // What others issue has to be another secret too.
  const refused = [
    await as(again, mailCalls.configureSmtp, { body: mailbox() }),
    await as(again, paymentSettingsCalls.connectRazorpay, { body: keys }),
  ]
  expect(refused.map(({ problem }) => problem?.errors?.[0]?.path)).toEqual(['pass', 'keySecret'])
  expect(await working(fresh)).toEqual(['api_key', 'webhook', 'source', 'reply_to'])
  smtp.login.pass = 'second password'
  razorpay.settings.keySecret = 'second-secret-of-razorpay'
  const later = await signedInAgain(app, owner)
  await as(later, mailCalls.configureSmtp, { body: mailbox() })
  await as(later, paymentSettingsCalls.connectRazorpay, { body: { ...keys, keySecret: razorpay.settings.keySecret } })
  expect(await working(fresh)).toEqual(madeKinds)
  // Also where who left is let in again.
  await app.db.execute(
    sql`INSERT INTO memberships (owner_id, person_id, role, joined_at) VALUES (${owner.id}, ${idOf(admin)}, 'admin', now())`,
  )
  expect(await working(secrets)).toEqual(['source', 'mailbox', 'reply_to', 'razorpay'])
  expect((await as(await signedInAgain(app, owner), teamCalls.made, { params })).reply).toEqual([])
})

test('who removes someone chooses what ends and who takes over the rest', async () => {
  await using office = await openSetUp()
  const { app, owner, admin, as, setUp, working, emailsTo } = office
  const [heir, other] = [await aMember(app, owner, 'admin', { confirmed: true }), await aMember(app, owner, 'admin')]
  const viewer = await aMember(app, owner, 'viewer')
  const secrets = await setUp(admin)
  const params = { personId: idOf(admin) }
  // What someone made is for themselves and for admins.
  expect((await as(viewer, teamCalls.made, { params })).problem?.code).toBe('not_allowed')
  const remove = (body: CallInput<typeof teamCalls.removeMember>['body']) => as(owner, teamCalls.removeMember, { params, body })
  for (const heirId of [idOf(viewer), idOf(admin), secrets.hookId])
    expect((await remove({ programs: 'take_over', heirId })).problem?.errors?.[0]?.path).toBe('heirId')
  const takeOver = [{ kind: 'webhook' as const, id: secrets.hookId }]
  expect((await remove({ programs: 'take_over', takeOver, heirId: idOf(heir) })).status).toBe(204)
  expect(await emailsTo(heir, 'Connections for you to take over')).toHaveLength(1)
  expect(await working(secrets)).toEqual([])
  const [mine, theirs] = [await signedInAgain(app, heir), await signedInAgain(app, other)]
  expect((await as(theirs, teamCalls.handedOver, {})).reply).toMatchObject([{ kind: 'webhook', mine: false }])
  const hook = { params: { kind: 'webhook' as const, id: secrets.hookId } }
  expect((await as(theirs, teamCalls.takeOver, { ...hook, body: {} })).problem?.code).toBe('not_allowed')
  const { secret } = (await as(mine, teamCalls.takeOver, { ...hook, body: {} })).reply
  expect(await working({ ...secrets, secret: secret ?? '' })).toEqual(['webhook'])
  expect((await as(await signedInAgain(app, heir), teamCalls.takeOver, { ...hook, body: {} })).problem?.code).toBe('not_found')
  const log = (await as(await signedInAgain(app, owner), businessCalls.audit, { query: {} })).reply.map(({ text }) => text)
  expect(log[0]).toMatch(/^Taken over: webhook of 127\.0\.0\.1:\d+\.$/)
  expect(log).toContainEqual(expect.stringMatching(/^Handed over: webhook of 127\.0\.0\.1:\d+, to asha\d+@example\.com\.$/))
  expect(log).toContainEqual(expect.stringMatching(/^API key Robot \(….{4}\) revoked\.$/))
})

test('what was handed over is ended by any admin, and what a deleted person made is for the owner', async () => {
  await using office = await openSetUp()
  const { app, owner, admin, as, setUp, working, emailsTo } = office
  const secrets = await setUp(admin)
  expect((await as(admin, accountCalls.deleteMe, {})).status).toBe(204)
  expect(await emailsTo(owner, 'Connections for you to take over')).toHaveLength(1)
  expect(await working(secrets)).toEqual([])
  const other = await aMember(app, owner, 'admin')
  const waiting = (await as(other, teamCalls.handedOver, {})).reply
  expect(waiting.map(({ kind, from }) => `${kind} of ${from}`)).toEqual(
    ['source', 'mailbox', 'reply_to', 'razorpay'].map((kind) => `${kind} of a former member`),
  )
  const noticed = async () => (await as(other, noticeCalls.list, {})).reply.map(({ kind }) => kind)
  expect(await noticed()).toContain('handed_over')
  for (const { kind, _id: id } of waiting) expect((await as(other, teamCalls.endHandedOver, { params: { kind, id } })).status).toBe(204)
  expect(await noticed()).not.toContain('handed_over')
  expect((await as(other, sourceCalls.list, {})).reply).toEqual([])
  expect((await as(other, mailCalls.config, {})).reply.configured).toBe(false)
  expect((await as(other, paymentSettingsCalls.read, {})).reply.razorpay).toBeNull()
})

test('who sets a new URL, secret or address makes it theirs, and the owner is notified', async () => {
  await using office = await openSetUp()
  const { app, owner, admin, as, smtp, keys, mailbox, setUp, emailsTo } = office
  const { hookId: id, sourceId } = await setUp(owner)
  const told = () => emailsTo(owner, 'A connection of your business was changed')
  const made = async (person: Person) =>
    (await as(owner, teamCalls.made, { params: { personId: idOf(person) } })).reply.map(({ kind }) => kind)
  expect(await told()).toEqual([])
  expect([await made(owner), await made(admin)]).toEqual([madeKinds, []])
  // Neither events nor a pause give access.
  await as(admin, integrationCalls.changeWebhook, { params: { id }, body: { events: ['invoice.paid'], paused: true } })
  await as(admin, sourceCalls.update, { params: { id: sourceId }, body: { daysToPay: 7 } })
  expect(await made(admin)).toEqual([])
  const move = (person: Person, path: string) =>
    as(person, integrationCalls.changeWebhook, { params: { id }, body: { url: `https://hooks.example.com/${path}` } })
  expect((await move(owner, 'own')).reply.secret).toBeUndefined()
  expect((await move(admin, 'theirs')).reply.secret).toMatch(/^whsec_/)
  expect((await move(admin, 'theirs-too')).reply.secret).toBeUndefined()
  expect((await move(owner, 'back')).reply.secret).toMatch(/^whsec_/)
  expect(await made(admin)).toEqual([])
  await as(admin, integrationCalls.replaceSecret, { params: { id } })
  await as(admin, sourceCalls.update, { params: { id: sourceId }, body: { url: 'https://files.example.com/theirs.csv' } })
  await as(admin, mailCalls.configureSmtp, { body: mailbox() })
  await as(admin, businessCalls.askReplyTo, { body: { email: 'theirs@example.com' } })
  const { text = '' } = await PostalMime.parse(smtp.mails.at(-1)?.raw ?? '')
  await as(admin, businessCalls.confirmReplyTo, { body: { code: /\n(\d{6})\n/.exec(text)?.[1] ?? '' } })
  await as(admin, paymentSettingsCalls.connectRazorpay, { body: keys })
  expect([await made(owner), await made(admin)]).toEqual([['api_key'], madeKinds.slice(1)])
  // Both new URLs, the secret, the address, the mailbox and the address for replies; keys of Razorpay are reported as all ways to pay are.
  expect(await told()).toHaveLength(6)
  const titles = (await as(owner, noticeCalls.list, {})).reply.filter(({ kind }) => kind === 'access_changed').map(({ title }) => title)
  expect(titles.toSorted()).toEqual([
    'Ravi Kumar has a new secret for the webhook of hooks.example.com',
    'Ravi Kumar set up replies to theirs@example.com',
    'Ravi Kumar set up the mailbox office@banyan.example',
    'Ravi Kumar set up the watched address files.example.com',
  ])
  expect(app.deps.config.payLinks).toBe(true)
})

/** Columns that hold a secret, or lead somewhere outside, of what a removal lists. */
const listed: Record<string, MadeKind> = {
  'api_keys.key_hash': 'api_key',
  'brands.reply_to': 'reply_to',
  'hooks.sealed_secret': 'webhook',
  'hooks.url': 'webhook',
  'mail_configs.host': 'mailbox',
  'mail_configs.address': 'mailbox',
  'mail_configs.sealed_password': 'mailbox',
  'mail_configs.sealed_refresh_token': 'mailbox',
  'pay_keys.key_id': 'razorpay',
  'pay_keys.sealed_hook_secret': 'razorpay',
  'pay_keys.sealed_hook_secret_before': 'razorpay',
  'pay_keys.sealed_secret': 'razorpay',
  'sources.url': 'source',
}

const ofPerson = 'of the person, and goes with them'
const ofClient = 'of a client, shown with the client or the invoice'
const ofDuely = 'of the program or its operator'
const hashOnly = 'a hash that opens nothing'
/** The others, and why a removal need not ask about them. */
const others: Record<string, string> = {
  'account_links.email': ofPerson,
  'account_links.token_hash': ofPerson,
  'address_holds.client_key': ofClient,
  'audit_entries.address': 'where a request came from',
  'brands.asked_reply_to': 'not in use until its code is entered',
  'brands.code_hash': 'known to who reads the address, entered by an admin, for 15 minutes',
  'client_pauses.client_key': ofClient,
  'clients.email_key': ofClient,
  'clients.second_contact': ofClient,
  'deliveries.client_email': ofClient,
  'file_layouts.hash': hashOnly,
  'former_accounts.address_hash': hashOnly,
  'google_returns.browser_hash': ofPerson,
  'google_returns.code_hash': ofPerson,
  'google_returns.email': ofPerson,
  'hook_hosts.host': ofDuely,
  'idempotency_keys.key': 'names a request, opens nothing',
  'idempotency_keys.request_hash': hashOnly,
  'invitations.email': 'ends with who invited: endAdmin',
  'invitations.token_hash': 'ends with who invited: endAdmin',
  'invoice_payments.bank_id': 'names a transfer of a bank, opens nothing',
  'invoice_payments.bank_line_hash': hashOnly,
  'invoice_payments.request_hash': hashOnly,
  'invoice_payments.request_key': 'names a request, opens nothing',
  'invoices.client_email': ofClient,
  'jobs.key': ofDuely,
  'left_out.client_key': ofClient,
  'notices.link': 'a screen of Duely',
  'oauth_clients.redirect_uris': ofDuely,
  'oauth_clients.secret_hash': ofDuely,
  'oauth_codes.code_hash': 'ends with the grant, which ends with the membership',
  'oauth_codes.redirect_uri': 'ends with the grant, which ends with the membership',
  'oauth_tokens.code_hash': 'ends with the grant, which ends with the membership',
  'oauth_tokens.token_hash': 'ends with the grant, which ends with the membership',
  'owner_links.token_hash': 'emailed to the owner alone, for days',
  'pay_answers.email': ofClient,
  'pay_attempts.key_id': 'the keys that an open payment was begun with: cancelled with them',
  'pay_attempts.sealed_secret': 'the keys that an open payment was begun with: cancelled with them',
  'pay_attempts.url': 'a page of Razorpay for one payment of a client',
  'pay_links.client_key': ofClient,
  'pay_links.sealed_token': 'opens what the client sees of its invoices; revoked on the invoice',
  'pay_links.token_hash': 'opens what the client sees of its invoices; revoked on the invoice',
  'payment_settings.bank': 'no secret, in every reminder; each change needs the password, and is reported to owner and admins',
  'payment_settings.own_link': 'no secret, in every reminder; each change needs the password, and is reported to owner and admins',
  'payment_settings.upi': 'no secret, in every reminder; each change needs the password, and is reported to owner and admins',
  'people.email': ofPerson,
  'people.password_hash': ofPerson,
  'person_entries.address': 'where a request came from',
  'provider_plans.key_id': ofDuely,
  'recovery_codes.code_hash': ofPerson,
  'second_factors.sealed_secret': ofPerson,
  'sessions.address': 'where a request came from',
  'sessions.previous_hash': ofPerson,
  'sessions.refresh_hash': ofPerson,
  'system_mail_counts.address_hash': hashOnly,
  'system_mails.link_hash': 'of who gets the email',
  'system_mails.sealed_mail': 'of who gets the email',
  'throttles.key': ofDuely,
}

test('every column with a secret or an outward address is listed where its maker leaves, or says why not', async () => {
  await using app = await openTestApp()
  const found = await rows(
    app.db,
    z.object({ name: z.string() }),
    sql`SELECT table_name || '.' || column_name AS name FROM information_schema.columns
        WHERE table_schema = 'public' AND data_type IN ('text', 'jsonb', 'bytea', 'ARRAY')
          AND column_name ~ '(^|_)(sealed|secret|hash|token|key|url|uri|uris|link|host|address|email|reply_to|redirect|upi|bank|own_link|contact)(_|$)' ORDER BY 1`,
  )
  expect(found.map(({ name }) => name)).toEqual(Object.keys({ ...listed, ...others }).toSorted())
  expect([...new Set(Object.values(listed))].toSorted()).toEqual([...madeKinds].toSorted())
})
