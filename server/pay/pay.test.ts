import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { noticeCalls } from '#contract/notices.ts'
import { paymentSettingsCalls } from '#contract/payment-settings.ts'
import { stepOf, totpAt } from '#server/accounts/totp.ts'
import { aPerson, type Person } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { qrPng } from './qr-png.ts'

const password = 'correct horse'
const upi = { id: 'asha@okaxis', name: 'Asha Traders', merchantCode: null }
const bank = { kind: 'india', accountName: 'Neem Studio', accountNumber: '50100234567891', ifsc: 'HDFC0001234' } as const

const save = (app: TestApp, someone: Person, body: object) => ask(app, someone, paymentSettingsCalls.save, { body })
const nothingSet = {
  upi: null,
  bank: null,
  ownLink: null,
  inEmails: true,
  pdf: 'link',
  businessName: '',
  details: '',
  razorpay: null,
  hasLogo: false,
}

test('an account begins without a way to pay', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  expect((await ask(app, asha, paymentSettingsCalls.read)).reply).toEqual(nothingSet)
})

test('PUT replaces the keys it is given and keeps the others', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  await save(app, asha, { upi, businessName: 'Neem Studio' })
  const { status, reply } = await save(app, asha, { bank, inEmails: false })
  expect(status).toBe(200)
  expect(reply).toMatchObject({ upi, bank, inEmails: false, businessName: 'Neem Studio' })
  expect((await save(app, asha, { upi: null })).reply).toMatchObject({ upi: null, bank })
  expect((await ask(app, asha, paymentSettingsCalls.read)).reply).toMatchObject({ upi: null, bank })
})

test.each([
  [{ upi: { id: 'asha', name: 'Asha' } }, 'upi.id', 'Please enter a UPI ID such as asha@okaxis.'],
  [
    { bank: { kind: 'iban', accountName: 'Neem', iban: 'DE89370400440532013001' } },
    'bank.iban',
    'This IBAN is not right. Please check its figures.',
  ],
  [{ bank: { ...bank, ifsc: 'HDFC1' } }, 'bank.ifsc', 'Please enter an IFSC such as HDFC0001234.'],
  [{ ownLink: { label: 'Card', url: 'http://pay.example' } }, 'ownLink.url', 'Please enter an address that begins with https://.'],
])('details that cannot be right are refused and change nothing (%#)', async (body, path, message) => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { status, problem } = await save(app, asha, body)
  expect(status).toBe(400)
  expect(problem).toMatchObject({ message, errors: [{ path }] })
  expect((await ask(app, asha, paymentSettingsCalls.read)).reply).toEqual(nothingSet)
})

test('a stolen session changes nothing where the account has a password', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  expect((await save(app, asha, { upi })).problem).toMatchObject({
    code: 'wrong_password',
    message: 'Please enter your current password to change how you are paid.',
  })
  expect((await save(app, asha, { upi, currentPassword: 'wrong horse' })).problem?.code).toBe('wrong_password')
  // There is no second factor that a code could belong to.
  expect((await save(app, asha, { upi, code: '123456' })).problem?.code).toBe('wrong_password')
  expect((await ask(app, asha, paymentSettingsCalls.saveLogo, { body: { image: qrPng('x').toString('base64') } })).problem?.code).toBe(
    'wrong_password',
  )
  expect((await ask(app, asha, paymentSettingsCalls.read)).reply).toEqual(nothingSet)
  expect((await save(app, asha, { upi, currentPassword: password })).reply).toMatchObject({ upi })
})

test('a code of the second factor is enough, once', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  const { secret } = (await ask(app, asha, accountCalls.startTwoFactor, { body: { currentPassword: password } })).reply
  const codeNow = () => totpAt(secret, stepOf(app.clock.now()))
  await ask(app, asha, accountCalls.confirmTwoFactor, { body: { code: codeNow() } })
  app.clock.advance({ minutes: 2 })
  expect((await save(app, asha, { upi, code: codeNow() })).reply).toMatchObject({ upi })
  expect((await save(app, asha, { upi: null, code: codeNow() })).status).toBe(400)
})

test('without password and second factor the session must be younger than 15 minutes', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { googleId: '77' })
  expect((await save(app, asha, { upi })).reply).toMatchObject({ upi })
  app.clock.advance({ minutes: 16 })
  expect((await save(app, asha, { upi: null })).problem).toMatchObject({
    code: 'recent_sign_in_needed',
    message: 'Please sign in again to change how you are paid.',
  })
})

test('a change is in the audit log and a notice, and one that changes nothing is not', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  await save(app, asha, { upi })
  await save(app, asha, { upi })
  expect((await ask(app, asha, accountCalls.audit, { query: {} })).reply.map(({ text }) => text)).toEqual([
    'How clients pay you was changed.',
  ])
  expect((await ask(app, asha, noticeCalls.list)).reply).toMatchObject([{ title: 'How clients pay you was changed' }])
})

/** A grey JPEG of one block (baseline, JFIF) whose frame says another size; `before` the frame are other segments. */
function jpeg(width: number, height: number, before = ''): Buffer {
  const side = (pixels: number) => pixels.toString(16).padStart(4, '0')
  const table = (which: string) => `ffc40014${which}01${'00'.repeat(16)}`
  const head = `ffd8ffe000104a46494600010100000100010000ffdb004300${'01'.repeat(64)}${before}`
  const frame = `ffc0000b08${side(height)}${side(width)}01011100`
  return Buffer.from(`${head}${frame}${table('00')}${table('10')}ffda0008010100003f003fffd9`, 'hex')
}

test('a logo is a whole PNG or JPEG of at most 4,096 pixels a side', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const png = qrPng('a logo')
  const saveLogo = (image: Buffer) => ask(app, asha, paymentSettingsCalls.saveLogo, { body: { image: image.toString('base64') } })
  expect((await saveLogo(Buffer.from('<svg onload="alert(1)">'))).problem?.message).toBe(
    'Please choose a PNG or JPEG of at most 200 KB and 4,096 × 4,096 pixels.',
  )
  expect((await saveLogo(png.subarray(0, -5))).status).toBe(400)
  expect((await saveLogo(png)).reply).toMatchObject({ hasLogo: true })
  // A comment that looks like a small frame, and a fill byte before the frame.
  const small = 'fffe000dffc0000b080008000801'
  for (const image of [jpeg(8, 8), jpeg(4_096, 4_096), jpeg(8, 8, `${small}ff`)]) expect((await saveLogo(image)).status).toBe(200)
  const cut = jpeg(8, 8).subarray(0, -2)
  const wrong = [jpeg(65_535, 65_535), jpeg(4_097, 1), jpeg(1, 4_097), jpeg(8, 0), jpeg(4_097, 8, small), cut, jpeg(8, 8, 'ffda0002')]
  for (const image of wrong) expect((await saveLogo(image)).status).toBe(400)
  expect((await ask(app, asha, paymentSettingsCalls.removeLogo)).reply).toMatchObject({ hasLogo: false })
})
