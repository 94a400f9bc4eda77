// Also on PostgreSQL: emails of one address that are queued at the same time wait for each other's count.

import { eq } from 'drizzle-orm'
import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { seal } from '#server/platform/secrets.ts'
import { queueSystemMail } from '#server/platform/system-mail.ts'
import { layOut } from '#server/platform/system-mail-layout.ts'
import { hashAddress, pruneSystemMailCounts } from '#server/platform/system-mail-limits.ts'
import { systemMailCounts, systemMails } from '#server/platform/tables.ts'
import { aPerson, type Person } from '#test/factories.ts'
import { type FakeSmtp, later, openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { deletePerson } from './accounts.ts'
import { findAccount, selectAccounts } from './lock.ts'
import { notifyOwner } from './notices.ts'
import { people } from './tables.ts'
import { passwordChangedEmail } from './texts.ts'

const password = 'correct horse'

function withMail(smtp: FakeSmtp): Promise<TestApp> {
  return openTestApp({ config: { systemSmtpUrl: `smtp://127.0.0.1:${smtp.port}`, systemMailFrom: 'hello@duely.example' } })
}

const subjects = (smtp: FakeSmtp, to: string) =>
  smtp.mails.flatMap(({ envelope, subject }) => (envelope.to.includes(to) ? [subject ?? ''] : []))

async function rowOf(app: TestApp, { id }: Person) {
  const row = await findAccount(app.db, id)
  if (!row) throw new Error('There is no such account.')
  return row
}

/** Queues so many emails about a new password. */
async function queueNotices(app: TestApp, person: Person, count: number): Promise<void> {
  const to = await rowOf(app, person)
  for (let nth = 0; nth < count; nth += 1)
    await app.db.transaction((tx) => queueSystemMail(tx, app.deps, { ...passwordChangedEmail(), to }, app.clock.now()))
}

const nothingHanded = {
  onAccountDeleted: [],
  onPersonDeleted: async () => {},
  endKeysOf: async () => {},
  onAddressLeft: async () => {},
  deleteHistory: async () => {},
}

test('an unconfirmed address gets three links an hour over all kinds and accounts, and no notice', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const email = 'victim@example.com'
  const draft = { displayName: 'Asha', password }
  const signUp = () => ask(app, null, accountCalls.signUp, { body: { ...draft, email } })
  const forgot = (address: string) => ask(app, null, accountCalls.forgotPassword, { body: { email: address } })
  const remove = async () => {
    const [row] = await app.db.select().from(people).where(eq(people.email, email))
    if (row) await deletePerson(app.deps, row, nothingHanded, app.clock.now())
  }
  // Each sign-up is counted, also beyond the account's deletion.
  const first = await signUp()
  await app.runJobs()
  await remove()
  expect((await signUp()).status).toBe(first.status)
  await app.runJobs()
  const answered = await forgot(email)
  await app.runJobs()
  expect(subjects(smtp, email)).toHaveLength(3)
  const over = await forgot(email)
  const unknown = await forgot('unknown@example.com')
  expect([over.status, over.reply]).toEqual([answered.status, answered.reply])
  expect([unknown.status, unknown.reply]).toEqual([answered.status, answered.reply])
  await remove()
  expect((await signUp()).status).toBe(first.status)
  const meera = await aPerson(app, { password })
  const changed = await ask(app, meera, accountCalls.changeProfile, {
    body: { email: 'victim+tag@example.com', currentPassword: password },
  })
  expect(changed.problem).toMatchObject({
    code: 'too_many',
    message: 'This address has received too many links. Please try again in 60 minutes.',
  })
  expect(changed.headers['retry-after']).toBe('3600')
  const [row] = await selectAccounts(app.db).where(eq(people.email, email))
  if (!row) throw new Error('The victim has no account.')
  const notice = {
    kind: 'not_delivered',
    summary: 'Buy at evil.example',
    title: 'Buy at evil.example',
    text: 'Buy at evil.example',
    link: null,
  } as const
  await app.db.transaction((tx) => notifyOwner(tx, app.deps, row, notice, app.clock.now()))
  await app.runJobs()
  expect(smtp.mails).toHaveLength(3)
  expect(await app.db.select().from(systemMails)).toEqual([])
  app.clock.advance({ hours: 1 })
  await forgot(email)
  await app.runJobs()
  expect(smtp.mails).toHaveLength(4)
})

test('a confirmed address gets 20 emails of a kind a day and one digest of the rest, in no words of a stranger', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const asha = await aPerson(app, { confirmed: true })
  await queueNotices(app, asha, 25)
  const row = await rowOf(app, asha)
  const notice = {
    kind: 'not_delivered',
    summary: 'Evil & Co',
    title: 'Evil & Co',
    text: '550 visit evil.example',
    link: '/dashboard',
  } as const
  for (let nth = 0; nth < 22; nth += 1) await app.db.transaction((tx) => notifyOwner(tx, app.deps, row, notice, app.clock.now()))
  await app.runJobs()
  const counted = Object.groupBy(subjects(smtp, asha.email), (subject) => subject)
  expect(Object.entries(counted).map(([subject, all]) => [subject, all?.length])).toEqual([
    ['Your Duely password was changed', 20],
    ['Some reminders were not sent', 20],
  ])
  expect(smtp.mails.map(({ raw }) => raw.toString()).join()).not.toMatch(/evil/i)
  app.clock.advance({ hours: 23, minutes: 59 })
  await app.runJobs()
  expect(smtp.mails).toHaveLength(40)
  app.clock.advance({ minutes: 1 })
  await app.runJobs()
  expect(smtp.mails).toHaveLength(41)
  const digest = await PostalMime.parse(smtp.mails.at(-1)?.raw ?? '')
  expect(digest.text).toContain('Some reminders were not sent: 2 more\nYour Duely password was changed: 5 more')
  expect(digest.text).toContain(`See what happened:\n${app.deps.config.publicUrl}/dashboard/profile`)
  await queueNotices(app, asha, 1)
  await app.runJobs()
  app.clock.advance({ hours: 48 })
  await app.runJobs()
  expect(smtp.mails).toHaveLength(42)
  await pruneSystemMailCounts(app.db, app.clock.now())
  expect(await app.db.select().from(systemMailCounts)).toEqual([])
})

test('links that are asked for at the same time are counted one after the other', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const asha = await aPerson(app)
  const asked = Array.from({ length: 5 }, () => [
    ask(app, null, accountCalls.forgotPassword, { body: { email: asha.email } }),
    ask(app, asha, accountCalls.sendConfirmation),
  ])
  await Promise.all(asked.flat())
  await app.runJobs()
  expect(smtp.mails).toHaveLength(3)
})

test('what waits for the owner of a deleted account is not sent', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const asha = await aPerson(app, { confirmed: true })
  await queueNotices(app, asha, 25)
  const [row] = await app.db.select().from(people).where(eq(people.id, asha.personId))
  if (row) await deletePerson(app.deps, row, nothingHanded, app.clock.now())
  await app.runJobs()
  app.clock.advance({ hours: 24 })
  await app.runJobs()
  expect(smtp.mails.map(({ subject }) => subject)).toEqual(['Your Duely account was deleted'])
  const kept = await app.db.select().from(systemMailCounts)
  expect(kept.map(({ kind, held }) => [kind, held]).toSorted()).toEqual([
    ['account_deleted', 0],
    ['password_changed', 0],
  ])
  expect(JSON.stringify(kept)).not.toContain(asha.email)
})

test('links are sent before notices, and accounts take turns, over at most two connections', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const [asha, meera, ravi] = [
    await aPerson(app, { confirmed: true }),
    await aPerson(app, { confirmed: true }),
    await aPerson(app, { confirmed: true, password }),
  ]
  await queueNotices(app, asha, 20)
  await queueNotices(app, meera, 2)
  await ask(app, null, accountCalls.forgotPassword, { body: { email: ravi.email } })
  smtp.answer({ dot: () => later(5) })
  await app.runJobs()
  const order = smtp.mails.map(({ envelope }) => envelope.to[0] ?? '')
  expect(order).toHaveLength(23)
  expect(order[0]).toBe(ravi.email)
  expect(order.lastIndexOf(meera.email)).toBeLessThan(5)
  expect(smtp.connections.most).toBeLessThanOrEqual(2)
  expect(smtp.connections.total).toBeLessThanOrEqual(2)
})

test('an email that does not open is tried again, delays no other, and is dropped when it expires', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const [asha, meera] = [await aPerson(app, { confirmed: true }), await aPerson(app, { confirmed: true })]
  await queueNotices(app, asha, 1)
  await app.db.update(systemMails).set({ sealedMail: seal('another key', 'system-mail', 'elsewhere', '{}') })
  await queueNotices(app, meera, 1)
  await app.runJobs()
  expect(smtp.mails.map(({ envelope }) => envelope.to[0])).toEqual([meera.email])
  const [row] = await app.db.select().from(systemMails)
  expect(row).toMatchObject({ accountId: asha.id, attempt: 1 })
  expect(app.errorsLogged.splice(0).map((line) => JSON.parse(line).msg)).toEqual([
    'A system email does not open with SECRET_KEY; it is tried again until it expires.',
  ])
  app.clock.set(row?.expiresAt.toString() ?? '')
  await app.runJobs()
  expect(await app.db.select().from(systemMails)).toEqual([])
})

test('a system email is HTML with one button, and a text part with the same link', async () => {
  const content = { subject: 'A & B', before: ['5 < 6\nand more'], button: { label: 'See "it"', path: '/x?a=1&b=2' }, after: ['<b>'] }
  const { text, html } = layOut('https://duely.example', content)
  expect(text).toBe('5 < 6\nand more\n\nSee "it":\nhttps://duely.example/x?a=1&b=2\n\n<b>\n\nDuely\n')
  expect(html.match(/<a /g)).toHaveLength(1)
  expect(html).toContain('<a href="https://duely.example/x?a=1&amp;b=2"')
  expect(html).toContain('5 &lt; 6<br>and more')
  expect(html).toContain('See &quot;it&quot;</a>')
  expect(html).toContain('&lt;b&gt;')
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  await queueNotices(app, await aPerson(app, { confirmed: true }), 1)
  await app.runJobs()
  const sent = await PostalMime.parse(smtp.mails[0]?.raw ?? '')
  expect(sent.text).toContain('See what happened:\n')
  expect(sent.html).toContain('See what happened</a>')
})

test('addresses of one mailbox count together', () => {
  const hash = (email: string) => hashAddress({ secretKey: 'a secret key for tests, 32 characters' }, email)
  expect(hash('Asha.Rao+x@GMAIL.com')).toBe(hash('asharao@googlemail.com'))
  expect(hash('asha+1@example.com')).toBe(hash('ASHA@example.com'))
  expect(hash('asha.rao@example.com')).not.toBe(hash('asharao@example.com'))
  expect(hash('+91@example.com')).not.toBe(hash('+92@example.com'))
})
