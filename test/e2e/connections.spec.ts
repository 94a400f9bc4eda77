import { createHash, createHmac, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Page } from '@playwright/test'
import type { HeardCall } from '#test/fakes/receiver.ts'
import { startProgram } from '#test/program.ts'
import { full } from './duely.ts'
import { prove, signIn } from './sign-in.ts'
import { expect, test } from './with-programs.ts'

const anInvoice = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 500, dueDate: '2026-01-02' }
const sidebar = (page: Page) => page.getByRole('complementary')

/** The secret that the dialog shows once. */
async function shownOnce(page: Page): Promise<string> {
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByRole('button', { name: 'I’ve Saved It' })).toBeVisible()
  // Escape must not close the dialog: the secret would be lost.
  await page.keyboard.press('Escape')
  const shown = (await dialog.locator('code').first().textContent()) ?? ''
  await dialog.getByRole('button', { name: 'I’ve Saved It' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  return shown
}

test('an API key created on the screen gives access to the invoices until it is revoked', full, async ({ page, program }) => {
  await signIn(page, program.url, 'keys@banyan.example')
  await page.goto('/dashboard')
  await sidebar(page).getByRole('link', { name: 'Connections' }).click()
  await expect(page.getByText('No API keys yet.')).toBeVisible()
  await page.getByRole('button', { name: 'Create API Key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Create API Key' }).click()
  await expect(dialog.getByText('Please enter a name.')).toBeVisible()
  await dialog.getByLabel('Name').fill('Bookkeeping')
  await dialog.getByLabel('Expires').selectOption('After 30 days')
  await prove(page)
  await dialog.getByRole('button', { name: 'Create API Key' }).click()
  const key = await shownOnce(page)
  const ask = (method: string, body?: object) =>
    fetch(`${program.url}/invoice`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  expect((await ask('POST', anInvoice)).status).toBe(201)
  expect(await (await ask('GET')).json()).toMatchObject([{ clientName: 'Kaveri Foods' }])

  await page.reload()
  const row = page.getByRole('listitem').filter({ hasText: 'Bookkeeping' })
  await expect(row).toContainText(`…${key.slice(-4)}`)
  await expect(row).toContainText('Read and write')
  await expect(row).toContainText('last used today')
  await row.getByRole('button', { name: 'Revoke Bookkeeping' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await expect(page.getByText('Bookkeeping is revoked.')).toBeVisible()
  await expect(page.getByText('No API keys yet.')).toBeVisible()
  expect((await ask('GET')).status).toBe(401)
})

test('a read-only key cannot change anything', full, async ({ page, program }) => {
  await signIn(page, program.url, 'reads@banyan.example')
  await page.goto('/dashboard/connections')
  await page.getByRole('button', { name: 'Create API Key' }).click()
  await page.getByLabel('Name').fill('Dashboard on the wall')
  await page.getByLabel('Read only').check()
  await prove(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Create API Key' }).click()
  const key = await shownOnce(page)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  expect((await fetch(`${program.url}/invoice`, { headers })).status).toBe(200)
  expect((await fetch(`${program.url}/invoice`, { method: 'POST', headers, body: JSON.stringify(anInvoice) })).status).toBe(403)
})

test('a webhook delivers an invoice signed with the secret shown, and the log has the answer', async ({ page, program, receiver }) => {
  const asha = await signIn(page, program.url, 'hooks@banyan.example')
  await page.goto('/dashboard/connections')
  await page.getByRole('button', { name: 'Add Webhook' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('URL').fill('not an address')
  await dialog.getByRole('button', { name: 'Add Webhook' }).click()
  await expect(dialog.getByText('Please enter an address such as https://example.com/duely.')).toBeVisible()
  await dialog.getByLabel('URL').fill(`${receiver.url}/duely`)
  await dialog.getByLabel('Invoice overdue').uncheck()
  await prove(page)
  await dialog.getByRole('button', { name: 'Add Webhook' }).click()
  const secret = await shownOnce(page)
  expect(secret).toMatch(/^whsec_/)

  await page.getByRole('link', { name: `Open the webhook ${receiver.url}/duely` }).click()
  await expect(
    page.getByText(
      'Invoice created, Invoice paid, Payment recorded, Payment taken back, Client answered, Sequence ended, Promise broken, Reminder sent, Reminder failed',
    ),
  ).toBeVisible()
  receiver.answer({ status: 500, body: 'the till is closed' })
  await page.getByRole('button', { name: 'Send Test Event' }).click()
  await expect(page.getByText('The test event was not delivered.')).toBeVisible()
  await expect(page.getByRole('main').getByRole('alert').filter({ hasText: 'The receiver answered 500:' })).toContainText(
    'the till is closed',
  )
  receiver.answer({ status: 200, body: 'thank you' })
  await page.getByRole('button', { name: 'Send Test Event' }).click()
  await expect(page.getByText('Test event delivered.')).toBeVisible()

  await asha.send('POST', '/invoice', anInvoice)
  // Other webhooks deliver to the same receiver.
  const heard = () => receiver.calls.filter(({ path }) => path === '/duely')
  const created = () => heard().filter(({ body }) => body.includes('invoice.created'))
  await expect.poll(() => created().length).toBe(1)
  const { headers, body } = created()[0] as HeardCall
  const signed = [headers['webhook-id'], headers['webhook-timestamp'], body].join('.')
  const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64')
  expect(String(headers['webhook-signature']).split(' ')).toContain(`v1,${createHmac('sha256', bytes).update(signed).digest('base64')}`)
  expect(JSON.parse(body)).toMatchObject({ id: headers['webhook-id'], type: 'invoice.created', data: { invoice: { amount: 500 } } })

  await page.reload()
  const entry = page.getByRole('listitem').filter({ hasText: 'Invoice created' })
  await expect(entry).toContainText('Delivered')
  await expect(entry).toContainText('The receiver answered 200: thank you')
  const before = heard().length
  await entry.getByRole('button', { name: /^Send again: Invoice created/ }).click()
  await expect(page.getByText('Event delivered.')).toBeVisible()
  expect(heard().length).toBe(before + 1)
  expect(heard().at(-1)?.headers['webhook-id']).toBe(headers['webhook-id'])
})

test('a webhook is paused, resumed, changed, gets a new secret, and is removed', full, async ({ page, program, receiver }) => {
  const asha = await signIn(page, program.url, 'changes@banyan.example')
  const made = (await asha.send('POST', '/webhooks', { url: `${receiver.url}/first`, events: ['invoice.paid'], ...asha.proof })) as {
    _id: string
    secret: string
  }
  await page.goto(`/dashboard/connections/webhooks/${made._id}`)
  await page.getByRole('button', { name: 'Pause' }).click()
  await expect(page.getByText('Paused by you')).toBeVisible()
  await page.getByRole('button', { name: 'Resume' }).click()
  await expect(page.getByText('Paused by you')).toHaveCount(0)

  await page.getByRole('button', { name: 'Change', exact: true }).click()
  await page.getByRole('dialog').getByLabel('URL').fill(`${receiver.url}/second`)
  await prove(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Save Changes' }).click()
  await expect(page.getByText(`${receiver.url}/second`)).toBeVisible()

  await page.getByRole('button', { name: 'Replace Secret' }).click()
  await prove(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Replace Secret' }).click()
  const secret = await shownOnce(page)
  expect(secret).toMatch(/^whsec_/)
  expect(secret).not.toBe(made.secret)

  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await expect(page).toHaveURL(/\/dashboard\/connections$/)
  await expect(page.getByText('No webhooks yet.')).toBeVisible()
  await page.goto(`/dashboard/connections/webhooks/${made._id}`)
  await expect(page.getByText('Webhook not found')).toBeVisible()
})

test('the sidebar triggers reminders after one consent, once a day', full, async ({ page, program, smtp }) => {
  const asha = await signIn(page, program.url, 'trigger@banyan.example')
  await asha.send('POST', '/invoice', anInvoice)
  await page.goto('/dashboard')
  const trigger = sidebar(page).getByRole('button', { name: 'Trigger Reminder Emails' })
  await trigger.click()
  await expect(page.getByRole('heading', { name: /^Authorization Request - Do you allow .* to access your account\?$/ })).toBeVisible()
  await page.getByRole('button', { name: 'No', exact: true }).click()
  await expect(page).toHaveURL(/\/dashboard$/)

  await trigger.click()
  await page.getByRole('button', { name: 'Continue' }).click()
  const dialog = page.getByRole('dialog', { name: 'Trigger Reminder Emails' })
  await expect(dialog.getByText('Please configure your email settings first before sending reminders.')).toBeVisible()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await expect(page).toHaveURL(/\/dashboard$/)

  await asha.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  await page.reload()
  await trigger.click()
  await expect(dialog.getByText('1 email ready to send, for')).toBeVisible()
  await expect(dialog.getByText('Kaveri Foods')).toBeVisible()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await expect(trigger).toBeFocused()

  await trigger.click()
  await dialog.getByRole('button', { name: 'Trigger Reminder Emails' }).click()
  await expect(page.getByText('Reminder emails triggered successfully. 1 email was accepted by the mail server.')).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  expect(smtp.mails.filter(({ envelope }) => envelope.to.includes('billing@kaveri.example'))).toHaveLength(1)

  await trigger.click()
  await expect(dialog.getByText('No invoices are due, so no emails would be sent.')).toBeVisible()
  await expect(dialog.getByText(/^1 overdue invoice skipped/)).toBeVisible()
  await dialog.getByRole('button', { name: 'Close' }).last().click()

  await sidebar(page).getByRole('link', { name: 'Connections' }).click()
  await page.getByRole('button', { name: 'Disconnect Duely' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click()
  await expect(page.getByText('Duely is disconnected.')).toBeVisible()
  await trigger.click()
  await expect(page.getByRole('button', { name: 'Continue' })).toBeVisible()
})

test('a trigger that the mail server rejects shows the reply, and sends on retry', full, async ({ page, program, smtp }) => {
  const asha = await signIn(page, program.url, 'refused@banyan.example')
  await asha.send('POST', '/invoice', { ...anInvoice, clientEmail: 'gone@kaveri.example' })
  await asha.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  await asha.send('POST', '/oauth/login/callback?json=true', { redirect_uri: '/dashboard?trigger', state: 'x', request: '' })
  smtp.answer({ rcpt: (to) => (to === 'gone@kaveri.example' ? '550 5.1.1 No such user here' : undefined) })
  await page.goto('/dashboard/reminder-control?trigger')
  const dialog = page.getByRole('dialog', { name: 'Trigger Reminder Emails' })
  await dialog.getByRole('button', { name: 'Trigger Reminder Emails' }).click()
  await expect(dialog.getByText(/^Failed to trigger reminders\. Please try again\. .*No such user here/)).toBeVisible()
  smtp.answer({})
})

test('an OAuth app has access from consent until it is disconnected', full, async ({ page, program, receiver, zapier }) => {
  await signIn(page, program.url, 'zaps@banyan.example')
  const verifier = randomBytes(32).toString('base64url')
  const asked = new URLSearchParams({
    response_type: 'code',
    client_id: zapier.clientId,
    redirect_uri: zapier.redirectUri,
    state: 'a state of Zapier',
    scope: 'read write',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  await page.goto(`/oauth/authorize?${asked}`)
  await expect(page.getByRole('heading', { name: 'Authorization Request - Do you allow Zapier to access your account?' })).toBeVisible()
  await expect(page.getByText('zaps@banyan.example')).toBeVisible()
  await expect(page.getByText(new URL(receiver.url).host)).toBeVisible()
  await page.getByRole('button', { name: 'No', exact: true }).click()
  await page.waitForURL((url) => url.pathname === '/back')
  const refused = new URL(page.url()).searchParams
  expect([refused.get('error'), refused.get('state'), refused.get('code')]).toEqual(['access_denied', 'a state of Zapier', null])

  await page.goto(`${program.url}/oauth/authorize?${asked}`)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL((url) => url.pathname === '/back')
  const allowed = new URL(page.url()).searchParams
  expect(allowed.get('state')).toBe('a state of Zapier')
  const traded = await fetch(`${program.url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: allowed.get('code') ?? '',
      redirect_uri: zapier.redirectUri,
      client_id: zapier.clientId,
      client_secret: zapier.clientSecret,
      code_verifier: verifier,
    }),
  })
  const { access_token: token } = (await traded.json()) as { access_token: string }
  const me = () => fetch(`${program.url}/api/me`, { headers: { authorization: `Bearer ${token}` } })
  expect(await (await me()).json()).toMatchObject({ email: 'zaps@banyan.example' })

  const hooked = await fetch(`${program.url}/zapier/hooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ hookUrl: `${receiver.url}/zap`, event: 'invoice.paid' }),
  })
  expect(hooked.status).toBe(201)

  await page.goto(`${program.url}/dashboard/connections`)
  const zap = page.getByRole('listitem').filter({ hasText: `${receiver.url}/zap` })
  await expect(zap).toContainText('On')
  const row = page.getByRole('listitem').filter({ hasText: 'Zapier' }).filter({ hasText: 'Connected on' })
  await expect(row).toContainText('can read and write')
  await sidebar(page).getByRole('button', { name: 'Unsubscribe from Zapier' }).click()
  await expect(page.getByText(/^Unsubscribed from Zapier successfully\./)).toBeVisible()
  await expect(row.getByText('Paused', { exact: true })).toBeVisible()
  await expect(zap).toContainText('Paused with Zapier')
  await row.getByRole('button', { name: 'Subscribe to Zapier' }).click()
  await expect(zap).not.toContainText('Paused with Zapier')
  await expect(row.getByText('Paused', { exact: true })).toHaveCount(0)
  await expect(sidebar(page).getByRole('button', { name: 'Unsubscribe from Zapier' })).toBeVisible()

  await row.getByRole('button', { name: 'Disconnect Zapier' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click()
  await expect(page.getByText('No apps connected')).toBeVisible()
  await expect(zap).toHaveCount(0)
  expect((await me()).status).toBe(401)
})

test('a tampered consent request cannot be allowed', full, async ({ page, program }) => {
  await signIn(page, program.url, 'changed@banyan.example')
  await page.goto('/dashboard/oauth-consent?redirect_uri=https%3A%2F%2Fevil.example%2Fback&state=1&request=made-up')
  await expect(page.getByText('This request isn’t valid')).toBeVisible()
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect(page.getByText(/^Error during authorization\. Please try again\. This link is incomplete/)).toBeVisible()
  await page.getByRole('button', { name: 'No', exact: true }).click()
  await expect(page).toHaveURL(/\/dashboard$/)
})

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 } })

  test('the drawer and the palette offer what the sidebar does', full, async ({ page, program }) => {
    await signIn(page, program.url, 'phone@banyan.example')
    await page.goto('/dashboard')
    await page.getByRole('button', { name: 'Open the menu' }).click()
    const drawer = page.getByRole('dialog', { name: 'Menu' })
    await drawer.getByRole('button', { name: 'Subscribe to Zapier' }).click()
    await expect(page.getByText('Subscribed to Zapier successfully. Connect Duely in Zapier to receive events.')).toBeVisible()
    await expect(drawer).toBeHidden()
    await page.getByRole('button', { name: 'Search and commands' }).click()
    await page.getByRole('combobox').fill('zapier')
    await page.keyboard.press('Enter')
    await expect(page.getByText(/^Unsubscribed from Zapier successfully\./)).toBeVisible()
    await page.getByRole('button', { name: 'Open the menu' }).click()
    await drawer.getByRole('button', { name: 'Trigger Reminder Emails' }).click()
    await expect(page.getByRole('button', { name: 'Continue' })).toBeVisible()
  })
})

test('a plan without API keys and a server without Zapier show that up front', full, async ({ browser }) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'duely-browser-'))
  await using program = await startProgram({
    DATA_DIR: folder,
    RAZORPAY_KEY_ID: 'rzp_test_keys',
    RAZORPAY_KEY_SECRET: 'secret',
    RAZORPAY_WEBHOOK_SECRET: 'secret',
  })
  const page = await browser.newPage({ baseURL: program.url })
  await signIn(page, program.url, 'trial@banyan.example')
  await page.goto('/dashboard/connections')
  await expect(page.getByText('Webhooks and API keys need Enterprise')).toBeVisible()
  await expect(page.getByText(/^Your plan: Pro trial, 14 days left\. With Enterprise,/)).toBeVisible()
  await expect(page.getByRole('button', { name: 'Create API Key' })).toHaveCount(0)
  await expect(page.getByRole('link', { name: 'Choose Enterprise' })).toHaveAttribute('href', '/pricing?plan=enterprise')
  await expect(page.getByText(/^This server isn’t registered with Zapier yet/)).toBeVisible()
  await sidebar(page).getByRole('button', { name: 'Subscribe to Zapier' }).click()
  await expect(page.getByText(/^Subscribed to Zapier successfully\. This server isn’t registered with Zapier/)).toBeVisible()
  await expect(sidebar(page).getByRole('button', { name: 'Unsubscribe from Zapier' })).toBeVisible()
  await page.close()
  await program.end('SIGTERM')
  await rm(folder, { recursive: true, force: true })
})
