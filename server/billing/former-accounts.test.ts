import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { billingCalls } from '#contract/billing.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { ask, type TestApp } from '#test/harness.ts'
import { openShop } from '#test/shop.ts'
import { pruneFormerAccounts } from './former-accounts.ts'
import { formerAccounts } from './tables.ts'

const password = 'correct horse'
const links = { systemSmtpUrl: 'smtp://127.0.0.1:1', systemMailFrom: 'hello@duely.example' }
const invoice = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 5000, dueDate: '2026-03-30' }

async function signedUp(app: TestApp, email: string): Promise<{ token: string }> {
  await ask(app, null, accountCalls.signUp, { body: { displayName: 'Asha Rao', email, password, timezone: 'Asia/Kolkata' } })
  return { token: (await ask(app, null, accountCalls.signIn, { body: { email, password } })).reply.accessToken }
}

const planOf = async (app: TestApp, someone: { token: string }) => (await ask(app, someone, billingCalls.subscription)).reply
const leave = async (app: TestApp, someone: { token: string }) => expect((await ask(app, someone, accountCalls.deleteMe)).status).toBe(204)

test('a new account continues the trial and the month of a deleted one with the same mailbox, for a year', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const { app } = shop
  const first = await signedUp(app, 'asha@example.com')
  const { newUntil } = await planOf(app, first)
  for (let n = 0; n < 3; n += 1) await ask(app, first, invoiceCalls.create, { body: invoice })
  await leave(app, first)
  expect(JSON.stringify(await app.db.select().from(formerAccounts))).not.toContain('asha')

  app.clock.set('2026-03-20T09:00:00Z')
  const second = await signedUp(app, 'Asha+again@example.com')
  expect(await planOf(app, second)).toMatchObject({
    newUntil: null,
    plan: 'free',
    entitlements: { by: 'plan' },
    usage: { invoicesCreated: 3 },
  })
  expect(newUntil).toBe('2026-03-16T09:00:00Z')
  await leave(app, second)

  app.clock.set('2027-03-20T09:00:01Z')
  await pruneFormerAccounts(app.db, app.clock.now())
  expect(await app.db.select().from(formerAccounts)).toEqual([])
  expect((await planOf(app, await signedUp(app, 'asha@example.com'))).newUntil).toBe('2027-04-03T09:00:01Z')
})

test('an email that an account has given up begins no second trial either', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const { app } = shop
  const first = await signedUp(app, 'asha@example.com')
  app.clock.set('2026-03-02T09:05:00Z')
  await ask(app, first, accountCalls.changeProfile, { body: { email: 'other@example.com', currentPassword: password } })
  await leave(app, first)
  app.clock.set('2026-03-20T09:00:00Z')
  expect((await planOf(app, await signedUp(app, 'asha@example.com'))).newUntil).toBeNull()
})

test('a stranger who never confirmed an email does not use up its trial', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z', config: links })
  const { app } = shop
  await leave(app, await signedUp(app, 'asha@example.com'))
  expect(await app.db.select().from(formerAccounts)).toEqual([])
})

test('nothing is remembered where nothing is sold', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const { app } = shop
  Object.assign(app.deps.config, { razorpay: null })
  await leave(app, await signedUp(app, 'asha@example.com'))
  expect(await app.db.select().from(formerAccounts)).toEqual([])
})
