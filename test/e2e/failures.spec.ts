import type { Page } from '@playwright/test'
import { full } from './duely.ts'
import { signIn } from './sign-in.ts'
import { expect, test } from './with-programs.ts'

/*
 * Progress and errors: the server's reason, inside the specified sentence, on the screen that sent the request.
 */

const password = 'correct horse battery'
const said = 'The disk of the server is full.'

/** Answers this call with 500. */
async function refuse(page: Page, method: string, path: string): Promise<void> {
  await page.route(`**${path}`, (route) =>
    route.request().method() === method && route.request().resourceType() === 'fetch'
      ? route.fulfill({ status: 500, json: { message: said, code: 'fault' } })
      : route.fallback(),
  )
}

/** Delays this call until the returned function is called. */
async function hold(page: Page, method: string, path: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(`**${path}`, async (route) => {
    if (route.request().method() === method && route.request().resourceType() === 'fetch') await promise
    await route.fallback()
  })
  return resolve
}

const inDialog = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name })

test('errors of the mailbox and the reminders are shown on their screen', full, async ({ page, program, smtp }) => {
  const asha = await signIn(page, program.url, 'failing@banyan.example')
  await page.goto('/dashboard/reminder-control')
  await expect(page.getByText('Never', { exact: true })).toBeVisible()
  // The button is aria-disabled, but a click shows the reason.
  await page.getByRole('button', { name: 'Start Reminders' }).click({ force: true })
  await expect(page.getByText('Please configure your email settings first before starting reminders.')).toBeVisible()

  await asha.send('POST', '/invoice', {
    clientName: 'Kaveri Foods',
    clientEmail: 'billing@kaveri.example',
    amount: 5,
    dueDate: '2026-01-02',
  })
  await asha.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  await page.goto('/dashboard/reminder-control')
  await refuse(page, 'POST', '/reminder/send-immediate')
  await page.getByRole('button', { name: 'Send Now' }).click()
  await inDialog(page, 'Send 1 email').click()
  await expect(page.getByText(`Failed to send reminders: ${said}`).first()).toBeVisible()
  await refuse(page, 'POST', '/reminder/start')
  await page.getByRole('button', { name: 'Start Reminders' }).click()
  await inDialog(page, 'Start Reminders').click()
  await expect(page.getByText(`Failed to start reminders: ${said}`).first()).toBeVisible()
  expect(smtp.mails.length).toBe(0)

  await asha.send('POST', '/reminder/start')
  await page.goto('/dashboard/reminder-control')
  await refuse(page, 'POST', '/reminder/stop')
  await page.getByRole('button', { name: 'Stop Reminders' }).click()
  await inDialog(page, 'Stop Reminders').click()
  await expect(page.getByText(`Failed to stop reminders: ${said}`).first()).toBeVisible()
  await expect(page.getByText('Active', { exact: true })).toBeVisible()

  await page.goto('/dashboard/mail-settings')
  await refuse(page, 'DELETE', '/mail-config')
  await page.getByRole('button', { name: 'Remove Configuration' }).click()
  await expect(page.getByText('Are you sure you want to remove mail configuration?')).toBeVisible()
  await inDialog(page, 'Remove Configuration').click()
  await expect(page.getByText(`Error removing configuration: ${said}`).first()).toBeVisible()
  await expect(page.getByText('Mail Configured')).toBeVisible()

  await asha.send('PUT', '/mail-config/template', { useCustomTemplate: true, customSubject: 'You owe', customContent: 'Please pay' })
  await page.goto('/dashboard/email-templates')
  const words = page.getByRole('tabpanel').getByRole('textbox', { name: 'Content' })
  await words.fill('Please pay soon')
  await refuse(page, 'PUT', '/mail-config/template')
  await page.getByRole('button', { name: 'Save Template' }).click()
  await expect(page.getByText(`Error updating template: ${said}`).first()).toBeVisible()
  await expect(words).toHaveValue('Please pay soon')
})

test('errors of the account are shown on its screen, and do not end the session', full, async ({ page, program }) => {
  await signIn(page, program.url, 'staying@banyan.example')
  await page.goto('/dashboard')
  await refuse(page, 'POST', '/zapier/subscribe')
  await page.getByRole('button', { name: 'Subscribe to Zapier' }).click()
  await expect(page.getByText(`Failed to subscribe to Zapier. ${said}`).first()).toBeVisible()
  await page.unroute('**/zapier/subscribe')
  await page.getByRole('button', { name: 'Subscribe to Zapier' }).click()
  await expect(page.getByText(/^Subscribed to Zapier successfully\./)).toBeVisible()
  await refuse(page, 'POST', '/zapier/unsubscribe')
  await page.getByRole('button', { name: 'Unsubscribe from Zapier' }).click()
  await expect(page.getByText(`Failed to unsubscribe from Zapier. ${said}`).first()).toBeVisible()

  await page.goto('/dashboard/profile?tab=security')
  await refuse(page, 'DELETE', '/user/account')
  await page.getByRole('button', { name: 'Delete Account' }).click()
  const asking = page.getByRole('dialog')
  await asking.getByLabel(/DELETE/).fill('delete')
  await asking.getByRole('button', { name: 'Delete Account' }).click()
  await expect(asking.getByText('Please type "DELETE" to confirm')).toBeVisible()
  await asking.getByLabel(/DELETE/).fill('DELETE')
  await asking.getByRole('button', { name: 'Delete Account' }).click()
  await expect(page.getByText(`Failed to delete account: ${said}`).first()).toBeVisible()

  await page.route('**/oauth/login/callback?json=true', (route) => route.fulfill({ json: { redirect: '' } }))
  await page.goto('/dashboard?trigger')
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect(page.getByText('No redirect URL received from the server.')).toBeVisible()
})

test('a plan that this server does not sell cannot be cancelled here', full, async ({ page, program }) => {
  await signIn(page, program.url, 'paid-elsewhere@banyan.example')
  await page.route('**/subscription', async (route) => {
    if (route.request().resourceType() !== 'fetch') return route.fallback()
    const answered = await route.fetch()
    await route.fulfill({
      json: { ...(await answered.json()), plan: 'pro', billingPeriod: 'monthly', amount: 400, paymentType: 'subscription' },
    })
  })
  await page.goto('/dashboard/profile?tab=subscription')
  await page.getByRole('button', { name: 'Cancel Subscription' }).click()
  await expect(page.getByRole('dialog').getByText('Are you sure you want to cancel your subscription?')).toBeVisible()
  await inDialog(page, 'Cancel Subscription').click()
  await expect(page.getByText('Subscription cancellation will be available soon').first()).toBeVisible()
})

test('buttons show their progress while the server is slow', full, async ({ page }) => {
  await page.goto('/signup')
  await page.getByLabel('Full Name').fill('Asha Rao')
  await page.getByLabel('Email').fill('patient@banyan.example')
  await page.getByLabel('Password', { exact: true }).fill(password)
  const made = await hold(page, 'POST', '/user')
  const entered = await hold(page, 'POST', '/auth')
  await page.getByRole('main').getByRole('button', { name: 'Sign Up', exact: true }).click()
  await expect(page.getByRole('button', { name: 'Signing up...' })).toBeVisible()
  made()
  await expect(page.getByRole('button', { name: 'Logging in...' })).toBeVisible()
  entered()
  await expect(page).toHaveURL(/\/dashboard$/)

  await page.goto('/dashboard/new-invoice')
  await page.getByRole('combobox', { name: 'Client Name' }).fill('Kaveri Foods')
  await page.getByLabel('Client Email').fill('billing@kaveri.example')
  await page.getByLabel('Amount').fill('500')
  await page.getByLabel('Due Date').fill('02/01/2026')
  const written = await hold(page, 'POST', '/invoice')
  await page.getByRole('main').getByRole('button', { name: 'Create Invoice' }).click()
  await expect(page.getByRole('button', { name: 'Creating Invoice...' })).toBeVisible()
  written()
  await expect(page).toHaveURL(/\/dashboard$/)
  await page.locator('[data-open]').first().click()
  await expect(page.getByText('Update invoice details')).toBeVisible()
  const read = await hold(page, 'GET', '/invoice/*')
  // A fresh page, without the cache that the list filled.
  const address = page.url()
  await page.goto('about:blank')
  await page.goto(address)
  await expect(page.getByText('Loading invoice details...')).toBeVisible()
  read()
  await page.getByLabel('Amount').fill('600')
  const changed = await hold(page, 'PATCH', '/invoice/*')
  await page.getByRole('button', { name: 'Update Invoice' }).click()
  await expect(page.getByRole('button', { name: 'Updating Invoice...' })).toBeVisible()
  changed()
  await expect(page).toHaveURL(/\/dashboard$/)

  await page.evaluate(() => localStorage.clear())
  await page.goto('/signin')
  await page.getByLabel('Email').fill('patient@banyan.example')
  await page.getByLabel('Password', { exact: true }).fill(password)
  const greeted = await hold(page, 'POST', '/auth')
  await page.getByRole('main').getByRole('button', { name: 'Sign In', exact: true }).click()
  await expect(page.getByRole('button', { name: 'Signing in...' })).toBeVisible()
  greeted()
  await expect(page).toHaveURL(/\/dashboard$/)
  expect(await page.evaluate(() => localStorage.getItem('refreshToken'))).toBeNull()
})

test('a Gmail connection that does not start shows an error', full, async ({ page, program }) => {
  await signIn(page, program.url, 'no-gmail@banyan.example')
  await page.route('**/server', async (route) => {
    const answered = await route.fetch()
    await route.fulfill({ json: { ...(await answered.json()), google: true } })
  })
  await page.goto('/dashboard/mail-settings')
  const connect = page.getByRole('button', { name: 'Connect Gmail (Recommended)' })
  await refuse(page, 'POST', '/mail-config/gmail/start')
  await connect.click()
  await expect(page.getByText(said).first()).toBeVisible()
  await page.route('**/mail-config/gmail/start', (route) => route.fulfill({ status: 500, json: { message: '', code: 'fault' } }))
  await connect.click()
  await expect(page.getByText('Error starting Gmail connection. Please try again.').first()).toBeVisible()

  // Left for Google, and restored from the browser's cache by Back.
  await page.route('**/mail-config/gmail/start', (route) => route.fulfill({ json: { url: `${program.url}/left` } }))
  await page.route('**/left', (route) => route.fulfill({ status: 204 }))
  await connect.click()
  await expect(connect).toHaveCount(0)
  await page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
  await expect(connect).toBeVisible()
})
