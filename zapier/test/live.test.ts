import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Bundle } from 'zapier-platform-core'
import { z } from 'zod'
import { type FakeSmtp, openFakeSmtp } from '../../test/fakes/smtp-server.ts'
import { type Program, someoneAt, startProgram } from '../../test/program.ts'
import { thorough } from '../../test/thorough.ts'
import { authentication } from '../authentication.js'
import app from '../index.js'
import { play } from './platform.ts'
import { openReceiver, type Receiver } from './receiver.ts'

/*
 * The app against the real program. This file acts as Zapier: it runs the app with the platform's runner and receives its webhooks.
 */
type Person = Awaited<ReturnType<typeof someoneAt>>
type AuthData = Bundle['authData']

const client = {
  id: 'zapier',
  secret: 'a-secret-of-Zapier-alone',
  redirectUri: 'https://zapier.com/dashboard/auth/oauth/return/App1CLIAPI/',
}
const folder = mkdtempSync(path.join(tmpdir(), 'duely-zapier-'))

let smtp: FakeSmtp
let receiver: Receiver
let program: Program
let asha: Person
let authData: AuthData

beforeAll(async () => {
  smtp = await openFakeSmtp()
  receiver = await openReceiver()
  program = await startProgram({
    DATA_DIR: folder,
    HOOK_ALLOW_PRIVATE_HOSTS: 'true',
    ZAPIER_CLIENT_ID: client.id,
    ZAPIER_CLIENT_SECRET: client.secret,
    ZAPIER_REDIRECT_URIS: client.redirectUri,
  })
  Object.assign(process.env, { DUELY_URL: program.url, CLIENT_ID: client.id, CLIENT_SECRET: client.secret })
  asha = await someoneAt(program.url, 'asha@example.com')
  authData = await connect(asha)
})

afterAll(async () => {
  await program[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
  await smtp[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** What Zapier does to connect an account: consent in the person's browser, then exchange of the code. */
async function connect(person: Person): Promise<AuthData> {
  const verifier = randomBytes(32).toString('base64url')
  const state = randomBytes(32).toString('base64url')
  const address = new URL(
    z.string().parse(await play('authentication.oauth2Config.authorizeUrl', { inputData: { state, redirect_uri: client.redirectUri } })),
  )
  // The platform adds these.
  address.searchParams.set('scope', authentication.oauth2Config.scope)
  address.searchParams.set('code_challenge', createHash('sha256').update(verifier).digest('base64url'))
  address.searchParams.set('code_challenge_method', 'S256')

  const asked = await fetch(address, { redirect: 'manual' })
  const consent = new URL(asked.headers.get('location') ?? '').searchParams
  const body = { redirect_uri: consent.get('redirect_uri'), state: consent.get('state'), request: consent.get('request') }
  const { redirect } = z.object({ redirect: z.string() }).parse(await person.send('POST', '/oauth/login/callback?json=true', body))
  const back = new URL(redirect)
  expect(back.origin + back.pathname).toBe(client.redirectUri)
  expect(back.searchParams.get('state')).toBe(state)

  const inputData = { code: back.searchParams.get('code'), redirect_uri: client.redirectUri, code_verifier: verifier }
  return tokens.parse(await play('authentication.oauth2Config.getAccessToken', { inputData }))
}

const tokens = z.object({ access_token: z.string(), refresh_token: z.string() })
const invoice = z.looseObject({ _id: z.string(), reference: z.string(), clientName: z.string(), status: z.string() })

const kaveri = {
  clientName: 'Kaveri Foods',
  clientEmail: 'billing@kaveri.example',
  amount: '12250.5',
  dueDate: '2026-02-20T00:00:00+05:30',
}
let orders = 0

/** A Zap that creates an invoice from an order. */
async function writeDown(about: Partial<typeof kaveri> & { idempotencyKey?: string; reference?: string } = {}, by = authData) {
  orders += 1
  const inputData = { ...kaveri, idempotencyKey: `order-${orders}`, ...about }
  return invoice.parse(await play('creates.create_invoice.operation.perform', { authData: by, inputData }))
}

test('the connection label has the name and email of the person', async () => {
  const me = z.record(z.string(), z.string()).parse(await play('authentication.test', { authData }))
  const label = authentication.connectionLabel.replace(/{{(\w+)}}/g, (_all: string, name: string) => me[name] ?? '')
  expect(label).toBe('Asha Rao (asha@example.com)')
})

/** Records a part of an invoice, twice under the same id as Zapier does when it repeats a step. */
async function pay({ _id: invoiceId }: { _id: string }, by: AuthData) {
  const inputData = { invoiceId, amount: '250.5', idempotencyKey: `utr-${invoiceId}`, paidOn: '2026-02-20T00:00:00+05:30' }
  const perform = async () =>
    z
      .object({ payment: z.looseObject({ _id: z.string(), amount: z.number() }), invoice: z.looseObject({ balance: z.number() }) })
      .parse(await play('creates.record_payment.operation.perform', { authData: by, inputData }))
  const first = await perform()
  expect(await perform()).toEqual(first)
  expect([first.payment.amount, first.invoice.balance]).toEqual([250.5, 12_000])
  return first
}

/** What triggers each event in an account. */
const causes: Record<string, (person: Person, authData: AuthData) => Promise<void>> = {
  'invoice.created': async (_person, authData) => {
    await writeDown({}, authData)
  },
  'invoice.paid': async (_person, authData) => {
    const { _id } = await writeDown({}, authData)
    const paid = await play('creates.mark_invoice_paid.operation.perform', { authData, inputData: { invoiceId: _id } })
    expect(invoice.parse(paid).status).toBe('paid')
  },
  'invoice.overdue': async (person, authData) => {
    // Moving the account to the other side of the date line ends its day immediately.
    await person.send('PATCH', '/user/profile', { timezone: 'Pacific/Pago_Pago' })
    await writeDown({ dueDate: Temporal.Now.plainDateISO('Pacific/Pago_Pago').toString() }, authData)
    await person.send('PATCH', '/user/profile', { timezone: 'Pacific/Kiritimati' })
  },
  'payment.recorded': async (_person, authData) => {
    await pay(await writeDown({}, authData), authData)
  },
  'payment.voided': async (person, authData) => {
    const { _id } = await writeDown({}, authData)
    const { payment } = await pay({ _id }, authData)
    await person.send('POST', `/invoice/${_id}/payments/${payment._id}/void`)
  },
  'client.answered': async (person, authData) => {
    const { _id } = await writeDown({}, authData)
    const { url } = z.object({ url: z.string() }).parse(await person.send('POST', `/invoice/${_id}/pay-link`))
    const said = new URLSearchParams({ kind: 'promise', date: Temporal.Now.plainDateISO('Asia/Kolkata').add({ days: 7 }).toString() })
    const answered = await fetch(`${program.url}${new URL(url).pathname}/answer`, { method: 'POST', body: said, redirect: 'manual' })
    expect(answered.status).toBe(303)
  },
  'sequence.ended': async (person, authData) => {
    const words = {
      subject: 'Invoice {{invoiceId}}',
      content: '{{amount}}',
      groupSubject: '{{totalAmount}}',
      groupContent: '{{invoiceList}}',
    }
    const sequence = { name: 'Once', steps: [{ offset: 1, tone: 'friendly', ...words }] }
    const { _id } = z.object({ _id: z.string() }).parse(await person.send('POST', '/reminder/sequences', sequence))
    await person.send('PATCH', '/reminder/settings', { sequence: _id })
    await writeDown({}, authData)
    // The first Start sends its only step, the second finds none left.
    for (let nth = 0; nth < 2; nth += 1) await person.send('POST', '/reminder/start')
  },
  'promise.broken': async (person, authData) => {
    // As for overdue: the day of the promise ends on the other side of the date line.
    await person.send('PATCH', '/user/profile', { timezone: 'Pacific/Pago_Pago' })
    const { _id } = await writeDown({}, authData)
    const until = Temporal.Now.plainDateISO('Pacific/Pago_Pago').toString()
    await person.send('PATCH', `/invoice/${_id}/pause`, { paused: true, until, promised: true })
    await person.send('PATCH', '/user/profile', { timezone: 'Pacific/Kiritimati' })
  },
  'reminder.sent': async (_person, authData) => {
    await writeDown({}, authData)
    const triggered = await play('creates.trigger_reminders.operation.perform', { authData })
    expect(triggered).toMatchObject({ count: 1, failed: 0, skipped: 0, retrying: 0 })
  },
  'reminder.failed': async (_person, authData) => {
    await writeDown({ clientEmail: 'nobody@lotus.example' }, authData)
    smtp.answer({ rcpt: () => '550 5.1.1 No such user' })
    await expect(play('creates.trigger_reminders.operation.perform', { authData })).rejects.toThrow(/550 5.1.1 No such user/)
  },
  'reminder.bounced': async (_person, authData) => {
    smtp.answer({})
    await writeDown({}, authData)
    await play('creates.trigger_reminders.operation.perform', { authData })
    const messageId = smtp.mails.at(-1)?.messageId
    const reported = await play('creates.report_bounce.operation.perform', { authData, inputData: { messageId } })
    expect(reported).toMatchObject({ held: true })
  },
}

/** One of each kind: an invoice, the day on which it is overdue, a payment and an email. `npm run test:full` has all. */
const few = ['invoice.created', 'invoice.overdue', 'payment.recorded', 'reminder.sent']

test.each(Object.values(app.triggers).filter(({ operation }) => thorough || few.includes(String(operation.sample.type))))(
  '$display.label: a Zap is told once, in the shape of its sample, until it is switched off',
  async (trigger) => {
    const { sample } = trigger.operation
    const operation = `triggers.${trigger.key}.operation`
    const event = String(sample.type)
    const person = await someoneAt(program.url, `${trigger.key}@example.com`)
    await person.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
    const authData = await connect(person)
    const targetUrl = receiver.addressOf(event)
    const subscribeData = z.object({ id: z.string() }).parse(await play(`${operation}.performSubscribe`, { authData, targetUrl }))

    await causes[event]?.(person, authData)
    const hook = await receiver.first(event)
    expect(await play(`${operation}.perform`, { authData, cleanedRequest: hook })).toEqual([hook])
    expect(hook.type).toBe(event)
    expect(shapeOf(hook)).toEqual(shapeOf(sample))

    const listed = z.array(z.looseObject({ id: z.string(), type: z.string() })).parse(await play(`${operation}.performList`, { authData }))
    expect(listed[0]).toEqual(hook)
    expect(new Set(listed.map(({ type }) => type))).toEqual(new Set([event]))

    await play(`${operation}.performUnsubscribe`, { authData, targetUrl, subscribeData })
    // Zapier repeats the call when it got no response.
    await play(`${operation}.performUnsubscribe`, { authData, targetUrl, subscribeData })
    expect(receiver.count(event)).toBe(1)
  },
)

/** The fields of a value, without their values. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf)
  if (typeof value !== 'object' || value === null) return 'a value'
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shapeOf(one)]))
}

test('a repeated step creates no second invoice', async () => {
  const first = await writeDown({ idempotencyKey: 'order-1042' })
  const again = await writeDown({ idempotencyKey: 'order-1042' })
  expect(again).toEqual(first)
  await expect(writeDown({ idempotencyKey: 'order-1042', amount: '1' })).rejects.toThrow(/conflict/)
})

test('a refusal reports the message of Duely, short enough for Zapier', async () => {
  const refused: unknown = await writeDown({ clientEmail: 'kaveri' }).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(Error)
  const { message, code, status } = z
    .object({ message: z.string().max(250), code: z.string(), status: z.number() })
    .parse(JSON.parse((refused as Error).message))
  expect({ message, code, status }).toEqual({
    message: 'Please enter an email address like name@example.com.',
    code: 'invalid',
    status: 400,
  })
})

test('an invoice is found by its reference, or by its client', async () => {
  const { _id } = await writeDown({ clientName: 'Nila Printers', clientEmail: 'nila@printers.example', reference: 'N-7' })
  const find = async (inputData: Record<string, string>) =>
    z
      .array(invoice)
      .parse(await play('searches.find_invoice.operation.perform', { authData, inputData }))
      .map((one) => one._id)
  expect(await find({ reference: 'N-7' })).toEqual([_id])
  expect(await find({ search: 'PRINTERS' })).toEqual([_id])
  expect(await find({ search: 'printers', status: 'paid' })).toEqual([])
  expect(await find({ reference: 'N-8' })).toEqual([])
  await expect(find({})).rejects.toThrow(/Please enter a reference/)
})

// Takes two seconds.
test.runIf(thorough)('an old invoice is found behind hundreds of newer ones', async () => {
  const meera = await someoneAt(program.url, 'meera@example.com')
  const old = invoice.parse(await meera.send('POST', '/invoice', { ...kaveri, amount: 1, reference: 'OLD-1' }))
  await meera.send('POST', '/invoices/import', { lines: Array(600).fill({ ...kaveri, amount: 2 }), keepDuplicates: true })
  const meeras = { authData: await connect(meera), inputData: { reference: 'OLD-1' } }
  expect(await play('searches.find_invoice.operation.perform', meeras)).toEqual([old])
})

test('an expired access token is refreshed, and the refresh token stays valid', async () => {
  const stale = { authData: { ...authData, access_token: 'duely_at_that-has-run-out' } }
  const error: unknown = await play('authentication.test', stale).catch((thrown: unknown) => thrown)
  // The platform refreshes the token after this error.
  expect(error).toMatchObject({ name: 'RefreshAuthError' })
  for (let time = 1; time <= 2; time += 1) {
    const renewed = tokens.parse(await play('authentication.oauth2Config.refreshAccessToken', stale))
    expect(renewed.refresh_token).toBe(authData.refresh_token)
    expect(await play('authentication.test', { authData: renewed })).toMatchObject({ email: 'asha@example.com' })
  }
})

test('a connection that the person ended stays revoked', async () => {
  const ravi = await someoneAt(program.url, 'ravi@example.com')
  const own = { authData: await connect(ravi) }
  const [connection] = z.array(z.object({ _id: z.string() })).parse(await ravi.send('GET', '/connections'))
  await ravi.send('DELETE', `/connections/${connection?._id}`)
  await expect(play('authentication.test', own)).rejects.toMatchObject({ name: 'RefreshAuthError' })
  await expect(play('authentication.oauth2Config.refreshAccessToken', own)).rejects.toThrow()
})
