import type { Page } from '@playwright/test'
import { expect, full, test } from './duely.ts'

const password = 'correct horse battery'

async function signUp(page: Page, email: string): Promise<void> {
  await page.goto('/signup')
  await page.getByLabel('Full Name').fill('Asha Rao')
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign Up' }).click()
  await expect(page.getByText('No invoices yet')).toBeVisible()
}

test('text typed before hydration is kept, and no password gets into the address', async ({ page }) => {
  const arrived = Promise.withResolvers<void>()
  await page.route('**/assets/*.js', async (route) => {
    await arrived.promise
    await route.continue()
  })
  await page.goto('/signup', { waitUntil: 'commit' })
  await page.getByLabel('Full Name').fill('Asha Rao')
  await page.getByLabel('Email').fill('quick@banyan.example')
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByLabel('Password', { exact: true }).press('Enter')
  await expect(page.getByRole('button', { name: 'Sign Up' })).toBeDisabled()
  expect(new URL(page.url()).search).toBe('')
  arrived.resolve()
  await page.getByRole('button', { name: 'Sign Up' }).click()
  await expect(page.getByText('No invoices yet')).toBeVisible()
})

test('a session ended elsewhere leads to sign-in with a notice, and back to the same screen', async ({ page, program }) => {
  const email = 'elsewhere@banyan.example'
  await signUp(page, email)
  // Otherwise a slow answer to the dashboard would be the one that finds the session ended.
  await page.waitForLoadState('networkidle')
  const reply = await fetch(`${program.url}/auth`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })
  const { accessToken } = (await reply.json()) as { accessToken: string }
  await fetch(`${program.url}/user/change-password`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${accessToken}` },
    body: JSON.stringify({ currentPassword: password, newPassword: `${password} too` }),
  })
  await page.getByRole('link', { name: 'Email Templates' }).first().click()
  await expect(page.getByText('You were signed out.')).toBeVisible()
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(`${password} too`)
  await page.getByRole('button', { name: 'Sign In' }).click()
  await expect(page).toHaveURL(/email-templates/)
})

test('a Retry-After that has passed no longer blocks the form', full, async ({ page }) => {
  await page.route('**/auth', (route) =>
    route.fulfill({
      status: 429,
      headers: { 'retry-after': '2' },
      json: { code: 'too_many', message: 'Too many tries. Please try again in 2 seconds.' },
    }),
  )
  await page.goto('/signin')
  await page.getByLabel('Email').fill('asha@banyan.example')
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign In' }).click()
  await expect(page.getByText('Too many tries. Please try again in 2 seconds.')).toBeVisible()
  await expect(page.getByText('Too many tries.')).toBeHidden()
  await expect(page.getByLabel('Password', { exact: true })).toHaveValue(password)
})
