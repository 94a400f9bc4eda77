import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { ask, openTestApp } from '#test/harness.ts'

test.each([
  ['123456', 'weak', 'most common'],
  ['Password', 'weak', 'most common'],
  ['dragon2026!', 'weak', 'most common'],
  ['Duely2026!', 'weak', 'easy to guess'],
  ['aaaaaaaaaaaaaaaa', 'weak', 'repeats'],
  ['xkq7z', 'weak', 'short'],
  ['xkq7zpwv9', 'fair', null],
  ['correct horse battery', 'strong', null],
  ['மழை பெய்யும் போது', 'strong', null],
])('%s is called %s', async (password, strength, words) => {
  await using app = await openTestApp()
  const { reply } = await ask(app, null, accountCalls.hintAtPassword, { body: { password } })
  expect(reply).toEqual({ strength, warning: words === null ? null : expect.stringContaining(words) })
})

test('a weak password is accepted', async () => {
  await using app = await openTestApp()
  const answered = await ask(app, null, accountCalls.signUp, {
    body: { displayName: 'Asha', email: 'asha@example.com', password: '123456' },
  })
  expect(answered.status).toBe(201)
})
