import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { aPerson } from '#test/factories.ts'
import { ask, openTestApp } from '#test/harness.ts'

test('a person reads their own profile', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { displayName: 'Asha Rao' })
  const answered = await ask(app, asha, accountCalls.profile)
  expect(answered.status).toBe(200)
  expect(answered.reply).toMatchObject({ displayName: 'Asha Rao', timezone: 'Asia/Kolkata', reminderHour: 9 })
})

test('a stranger has no profile', async () => {
  await using app = await openTestApp()
  const answered = await ask(app, null, accountCalls.profile)
  expect(answered.problem?.code).toBe('not_signed_in')
  expect(answered.status).toBe(401)
})
