import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { integrationCalls } from '#contract/integrations.ts'
import { makeResetLink } from '#server/accounts/recovery.ts'
import { aPerson, changePerson, type Person } from '#test/factories.ts'
import { type FakeSmtp, openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { aKey, anApplication, connect } from '#test/programs.ts'
import { webhooks } from './tables.ts'

const newPassword = 'battery staple'

/** An account with every kind of access, created before its address was verified. */
async function somebodyProvident(app: TestApp): Promise<{ person: Person; tokens: { token: string }[] }> {
  const person = await aPerson(app, { email: 'asha@gmail.com', password: 'correct horse' })
  const tokens = [
    await aKey(app, person, undefined, null, { currentPassword: 'correct horse' }),
    await connect(app, person, await anApplication(app)),
  ]
  const hook = {
    ownerId: person.id,
    kind: 'webhook' as const,
    url: 'https://evil.example/',
    sealedSecret: 'x',
    events: ['invoice.paid' as const],
  }
  await app.db.insert(webhooks).values({ ...hook, createdAt: app.clock.now() })
  return { person, tokens }
}

async function stillOpen(app: TestApp, tokens: { token: string }[]): Promise<number> {
  let open = (await app.db.select().from(webhooks)).length
  for (const one of tokens) if ((await ask(app, one, integrationCalls.me)).status === 200) open += 1
  return open
}

/** A server that sends system email. */
function openWithMail(smtp: FakeSmtp): Promise<TestApp> {
  return openTestApp({ config: { systemSmtpUrl: `smtp://127.0.0.1:${smtp.port}`, systemMailFrom: 'hello@duely.example' } })
}

/** The owner of the mailbox sets a new password by the link in an email. */
async function setPasswordByMail(app: TestApp, smtp: FakeSmtp, { email }: Person) {
  await ask(app, null, accountCalls.forgotPassword, { body: { email } })
  await app.runJobs()
  const letters = smtp.mails.map(({ raw }) => raw.toString().replaceAll('=\r\n', '').replaceAll('=3D', '=')).join()
  const token = /#token=([\w-]{43})/.exec(letters)?.[1] ?? ''
  return ask(app, null, accountCalls.resetPassword, { body: { token, newPassword } })
}

test('a password set by the owner of the address revokes all access that another person created', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await openWithMail(smtp)
  const thief = await somebodyProvident(app)
  expect(await stillOpen(app, thief.tokens)).toBe(3)
  expect((await setPasswordByMail(app, smtp, thief.person)).status).toBe(200)
  expect(await stillOpen(app, thief.tokens)).toBe(0)
})

test('an owner who only forgot their password keeps their connections', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await openWithMail(smtp)
  const { person, tokens } = await somebodyProvident(app)
  await changePerson(app, person, { emailVerifiedAt: app.clock.now() })
  expect((await setPasswordByMail(app, smtp, person)).status).toBe(200)
  expect(await stillOpen(app, tokens)).toBe(3)
})

test('new access is reported to the owner by email, without its name and with the place to revoke it', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await openWithMail(smtp)
  const asha = await aPerson(app, { confirmed: true })
  await aKey(app, asha)
  await connect(app, asha, await anApplication(app))
  await app.runJobs()
  const letters = (await Promise.all(smtp.mails.map(({ raw }) => PostalMime.parse(raw)))).filter(({ subject }) =>
    subject?.includes('New access'),
  )
  expect(letters.map(({ to }) => to?.[0]?.address)).toEqual([asha.email, asha.email])
  const words = letters.map(({ text }) => text ?? '')
  expect(words.some((text) => text.includes('An API key for your Duely account was created'))).toBe(true)
  expect(words.some((text) => text.includes('was given access to your Duely account'))).toBe(true)
  for (const text of words) expect(text).toMatch(/See what happened:\n.*\/dashboard\/connections\n/)
  for (const text of words) expect(text).toContain('set a new password')
})

test('an account that signs in with Google is advised to secure that, as it has no password', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await openWithMail(smtp)
  await aKey(app, await aPerson(app, { confirmed: true, googleId: '10769150350006150715113082367' }))
  await app.runJobs()
  const { text = '' } = await PostalMime.parse(smtp.mails[0]?.raw ?? '')
  expect(text.replaceAll('\n', ' ')).toContain('revoke the access now, secure your Google account, and sign out')
  expect(text).not.toContain('password')
})

test('a link handed over by the operator keeps the connections', async () => {
  await using app = await openTestApp()
  const { person, tokens } = await somebodyProvident(app)
  const [, token = ''] = (await makeResetLink(app.deps, person.email, app.clock.now())).split('#token=')
  expect((await ask(app, null, accountCalls.resetPassword, { body: { token, newPassword } })).status).toBe(200)
  expect(await stillOpen(app, tokens)).toBe(3)
})
