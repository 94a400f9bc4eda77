import type { Page } from '@playwright/test'
import { expect, test } from './duely.ts'
import { dialog, type Looking, open, type Size, sizes, sweep } from './looking.ts'

// A trace runs a script of its own in every frame, and a mail's frame lets none run.
test.use({ trace: 'off' })
test.describe.configure({ mode: 'parallel' })

async function signedOut(page: Page, look: Looking, size: Size): Promise<void> {
  const pages: [name: string, address: string, sign: string | RegExp][] = [
    ['landing', '/', 'Get Started'],
    ['features', '/features', 'Automated Reminders'],
    ['pricing', '/pricing', 'Most Popular'],
    ['contact', '/contact', /./],
    ['sign-up', '/signup', 'Sign up to Duely'],
    ['forgot-password', '/forgot-password', 'Forgot your password?'],
    ['reset-password', '/reset-password', /This link is not complete/],
    ['confirm-email', '/confirm-email', /This link is not complete/],
    ['not-found', '/no-such-page', 'Page not found'],
    ['sign-in', '/signin', 'Sign in to Duely'],
  ]
  for (const [name, address, sign] of pages) {
    await open(page, address, sign)
    await look.at(name)
  }
  await page.getByLabel('Email').fill('nobody@example.com')
  await page.getByLabel('Password', { exact: true }).fill('wrong')
  await page.getByRole('main').getByRole('button', { name: 'Sign In' }).click()
  await expect(page.getByRole('alert').filter({ hasText: /\w/ }).first()).toBeVisible()
  await look.at('sign-in-refused')
  if (size === 'wide') return
  await page.getByRole('button', { name: 'Open the menu' }).click()
  await dialog(page, look, 'menu')
}

for (const size of sizes)
  test(`signed out: every screen, ${size}`, async ({ browser, program }) => {
    await sweep({ browser, url: program.url, at: [size] }, (page, look) => signedOut(page, look, size))
  })
