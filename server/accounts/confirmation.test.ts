import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { businessCalls } from '#contract/business.ts'
import { integrationCalls } from '#contract/integrations.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { noticeCalls } from '#contract/notices.ts'
import { anInvoice, aPerson, type Person } from '#test/factories.ts'
import { type Asker, ask, type TestApp } from '#test/harness.ts'
import { aKey } from '#test/programs.ts'
import { linkSentTo, newPassword, openSquatted, password, takeOver, withoutMail } from '#test/squatted.ts'

const confirm = (app: TestApp, person: Asker, token: string) => ask(app, person, accountCalls.confirmEmail, { body: { token } })
const reject = (app: TestApp, token: string) => ask(app, null, accountCalls.rejectEmail, { body: { token } })
const look = async (app: TestApp, token: string) => (await ask(app, null, accountCalls.lookAtEmailLink, { body: { token } })).reply
const profileOf = async (app: TestApp, person: Asker) => (await ask(app, person, accountCalls.profile)).reply
const signIn = (app: TestApp, { email }: Pick<Person, 'email'>, given = password) =>
  ask(app, null, accountCalls.signIn, { body: { email, password: given } })

type Squatted = Awaited<ReturnType<typeof openSquatted>>

/** The link that confirms someone's email. */
async function confirmation(squatted: Squatted, person: Person): Promise<string> {
  await ask(squatted.app, person, accountCalls.sendConfirmation)
  return linkSentTo(squatted, person.email)
}

/** The link that makes an email that of someone's account. */
async function change(squatted: Squatted, person: Person, email: string): Promise<string> {
  await ask(squatted.app, person, accountCalls.changeProfile, { body: { email, currentPassword: password } })
  return linkSentTo(squatted, email)
}

test('an email is confirmed only in a session of its account: the link alone changes nothing, and stays valid', async () => {
  await using squatted = await openSquatted()
  const { app, stranger } = squatted
  const other = await aPerson(app)
  const token = await confirmation(squatted, stranger)
  expect(await look(app, token)).toEqual({ email: stranger.email, changes: false })
  expect((await confirm(app, null, token)).problem?.code).toBe('not_signed_in')
  expect((await confirm(app, other, token)).problem).toMatchObject({
    code: 'not_allowed',
    message: `This link is for another account. You are signed in as ${other.email}.`,
  })
  expect([(await profileOf(app, stranger)).emailVerified, (await profileOf(app, other)).emailVerified]).toEqual([false, false])
  expect((await confirm(app, stranger, token)).reply.email).toBe(stranger.email)
  expect((await profileOf(app, stranger)).emailVerified).toBe(true)
})

test('an account changes to an email only in its own session', async () => {
  await using squatted = await openSquatted()
  const { app } = squatted
  const attacker = await aPerson(app, { password, confirmed: true })
  const token = await change(squatted, attacker, 'victim@example.com')
  expect(await look(app, token)).toEqual({ email: 'victim@example.com', changes: true })
  expect((await confirm(app, null, token)).problem?.code).toBe('not_signed_in')
  expect((await confirm(app, await aPerson(app), token)).problem?.code).toBe('not_allowed')
  expect((await profileOf(app, attacker)).email).toBe(attacker.email)
  expect((await confirm(app, attacker, token)).reply.email).toBe('victim@example.com')
})

test('“This is not mine” ends a sign-up: nothing of it signs in or acts, and its invoices stay for the owner of the email', async () => {
  await using squatted = await openSquatted()
  const { app, stranger } = squatted
  await anInvoice(app, { owner: stranger })
  const key = await aKey(app, stranger, undefined, null, { currentPassword: password })
  const token = await confirmation(squatted, stranger)
  expect((await reject(app, token)).reply).toEqual({
    kept: true,
    message: 'No one can use this account any more. The invoices in it are kept: to see them, set a password.',
  })
  expect((await ask(app, stranger, accountCalls.profile)).status).toBe(401)
  expect((await ask(app, key, integrationCalls.me)).status).toBe(401)
  expect((await signIn(app, stranger)).status).toBe(401)
  expect((await reject(app, token)).problem?.code).toBe('link_expired')

  expect((await takeOver(squatted, stranger)).status).toBe(200)
  const owner = { token: (await signIn(app, stranger, newPassword)).reply.accessToken }
  expect((await ask(app, owner, invoiceCalls.list, { query: {} })).reply).toHaveLength(1)
  // What was removed the first time.
  expect((await ask(app, owner, noticeCalls.list)).reply).toMatchObject([
    { kind: 'taken_over', text: expect.stringContaining('the API keys') },
  ])
})

test('a sign-up without invoices is deleted, and its email is free', async () => {
  await using squatted = await openSquatted()
  const { app, stranger } = squatted
  await aKey(app, stranger, undefined, null, { currentPassword: password })
  expect((await reject(app, await confirmation(squatted, stranger))).reply).toEqual({ kept: false, message: 'The account is deleted.' })
  const draft = { displayName: 'Asha Rao', email: stranger.email, password: newPassword }
  expect((await ask(app, null, accountCalls.signUp, { body: draft })).status).toBe(201)
  const owner = { token: (await signIn(app, stranger, newPassword)).reply.accessToken }
  expect((await ask(app, owner, businessCalls.list)).reply).toMatchObject([{ name: 'Asha Rao', role: 'owner' }])
})

test('a confirmed account is ended by no link, whichever was sent before', async () => {
  await using squatted = await openSquatted()
  const { app, stranger } = squatted
  const [first, second] = [await confirmation(squatted, stranger), await confirmation(squatted, stranger)]
  expect((await confirm(app, stranger, second)).status).toBe(200)
  for (const token of [first, second]) expect((await reject(app, token)).problem?.code).toBe('link_expired')
  expect((await profileOf(app, stranger)).emailVerified).toBe(true)
})

test('“This is not mine” drops a change of email, and leaves the account as it is', async () => {
  await using squatted = await openSquatted()
  const { app } = squatted
  const attacker = await aPerson(app, { password, confirmed: true })
  const token = await change(squatted, attacker, 'victim@example.com')
  expect((await reject(app, token)).reply).toEqual({ kept: true, message: 'Your address is not used for that account.' })
  expect(await profileOf(app, attacker)).toMatchObject({ email: attacker.email, pendingEmail: null, emailVerified: true })
  expect((await confirm(app, attacker, token)).problem?.code).toBe('link_expired')
  const log = (await ask(app, attacker, accountCalls.audit, { query: {} })).reply
  expect(log[0]).toMatchObject({ text: 'The owner of victim@example.com did not want it used here.' })
})

test('after a password link a confirmed person is asked to review what has access, until they have', async () => {
  await using squatted = await openSquatted()
  const { app } = squatted
  const asha = await aPerson(app, { password, confirmed: true })
  const key = await aKey(app, asha, undefined, null, { currentPassword: password })
  expect((await profileOf(app, asha)).accessToReview).toBe(false)
  expect((await takeOver(squatted, asha)).reply).toEqual({ message: 'Your new password is set. Please sign in with it.' })
  expect((await ask(app, asha, accountCalls.profile)).status).toBe(401)
  expect((await ask(app, key, integrationCalls.me)).status).toBe(200)
  const again = { token: (await signIn(app, asha, newPassword)).reply.accessToken }
  expect((await profileOf(app, again)).accessToReview).toBe(true)
  expect((await ask(app, again, accountCalls.accessReviewed)).status).toBe(204)
  expect((await profileOf(app, again)).accessToReview).toBe(false)
  // A takeover has removed everything.
  const squat = await withoutMail(app, () => aPerson(app, { password }))
  await takeOver(squatted, squat)
  expect((await profileOf(app, { token: (await signIn(app, squat, newPassword)).reply.accessToken })).accessToReview).toBe(false)
})
