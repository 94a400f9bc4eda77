import { expect, test } from 'vitest'
import { invoiceCalls } from '#contract/invoices.ts'
import { newToken, seal } from '#server/platform/secrets.ts'
import { anInvoice, aPerson } from './factories.ts'
import { ask, openTestApp } from './harness.ts'
import { toldByAnswer, toldByLog } from './secrets-told.ts'

test('a secret is detected in the log, in a response and in the database', async () => {
  const app = await openTestApp()
  const asha = await aPerson(app)
  app.deps.log.debug({ token: 'correct horse', note: 'somebody typed correct horse' })
  await anInvoice(app, { owner: asha, clientName: 'correct horse' })
  await ask(app, asha, invoiceCalls.list, { query: {} })
  await app[Symbol.asyncDispose]()
  expect(app.secretsTold.splice(0)).toEqual([
    expect.stringMatching(/^correct horse in the log: .*"token":"\[redacted\]"/),
    'correct horse in the answer of GET /invoice',
    'a secret in the table invoices',
  ])
})

test('a plain-text secret is detected in the database', async () => {
  const session = '019526a0-7c00-7000-8000-000000000000'
  for (const secret of [
    `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.${newToken()}`,
    `${session}.${newToken()}`,
    `duely_at_${newToken()}`,
    'AB2C-DE3F-GH4I-JK5L',
  ]) {
    const app = await openTestApp()
    await anInvoice(app, { clientName: `Kaveri ${secret} Foods` })
    await app[Symbol.asyncDispose]()
    expect(app.secretsTold.splice(0)).toEqual(['a secret in the table invoices'])
  }
})

test('secrets are detected by their pattern', () => {
  const sealed = seal('a key', 'mail-password', 'here', 'a password')
  for (const secret of [`sealed ${sealed}`, 'hash $argon2id$v=19$m=19456', `https://duely.example/reset-password#token=${newToken()}`])
    expect(toldByLog(secret)).toHaveLength(1)
  expect(toldByAnswer(JSON.stringify({ sealedPassword: sealed }))).toEqual(['a sealed secret'])
  // Sign-in returns one.
  expect(toldByAnswer(JSON.stringify({ accessToken: `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.${newToken()}` }))).toEqual([])
  expect(toldByLog('{"method":"POST","path":"/auth","status":200,"reqId":"0d9e0f4e-7c00-4000-8000-000000000000"}')).toEqual([])
})
