import type { Page } from '@playwright/test'
import { type Audit, auditWalk, dialog, open } from './audit.ts'
import { expect, test } from './duely.ts'

async function signedOut(page: Page, audit: Audit): Promise<void> {
  const pages: [name: string, address: string, sign: string | RegExp][] = [
    ['landing', '/', 'Get Started'],
    ['features', '/features', 'Automated Reminders'],
    ['pricing', '/pricing', 'Most Popular'],
    ['contact', '/contact', /./],
    ['privacy', '/privacy', 'Your rights'],
    ['sign-up', '/signup', 'Sign up to Duely'],
    ['forgot-password', '/forgot-password', 'Forgot your password?'],
    ['reset-password', '/reset-password', /This link is incomplete/],
    ['confirm-email', '/confirm-email', /This link is incomplete/],
    ['not-found', '/no-such-page', 'Page not found'],
    ['sign-in', '/signin', 'Sign in to Duely'],
  ]
  for (const [name, address, sign] of pages) {
    await open(page, address, sign)
    await audit.at(name)
  }
  await page.getByLabel('Email').fill('nobody@example.com')
  await page.getByLabel('Password', { exact: true }).fill('wrong')
  await page.getByRole('main').getByRole('button', { name: 'Sign In' }).click()
  await expect(page.getByRole('alert').filter({ hasText: /\w/ }).first()).toBeVisible()
  await audit.at('sign-in-refused')
}

test('signed out: every screen', async ({ browser, program }) => {
  await auditWalk({ browser, url: program.url }, signedOut)
})

test('signed out: the menu on a phone', async ({ browser, program }) => {
  await auditWalk({ browser, url: program.url, at: ['phone'] }, async (page, audit) => {
    await open(page, '/signin', 'Sign in to Duely')
    await page.getByRole('button', { name: 'Open the menu' }).click()
    await dialog(page, audit, 'menu')
  })
})
