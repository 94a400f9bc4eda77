import type { Page } from '@playwright/test'
import { type EveningDay, ownerLinkCalls } from '#contract/owner-links.ts'
import { type Audit, auditWalk, dialog, fail, hold, letGo, open } from './audit.ts'
import { expect, full, test } from './duely.ts'

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
    ['evening-dead', '/evening', 'This link does not work any more.'],
    ['end-summaries', '/summary/unsubscribe?token=x', 'Stop the weekly summary by email?'],
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

/** The day of an evening list, with so many clients of whom some are left out. */
function dayOf(clients: number, out = 0, about: Partial<EveningDay> = {}): EveningDay {
  return {
    date: '2026-03-03',
    hour: '9:00',
    until: Temporal.Now.instant().add({ hours: 20 }).toString(),
    leave: clients - out,
    of: clients,
    clients: Array.from({ length: clients }, (_, nth) => ({
      key: String(nth),
      clientName: nth === 0 ? 'Kaveri Foods' : `Messrs. Venkataraghavan, Subrahmanyam and Associates ${nth}`,
      references: nth === 1 ? ['INV-0002', 'INV-0003', 'INV-0004', 'INV-0005', 'INV-0006'] : [`INV-00${10 + nth}`],
      emails: 1,
      leftOut: nth < out,
      gone: false,
    })),
    ...about,
  }
}

// What the calls do is shown by server/reminders/evening.test.ts: here the page is shown in each state.
test('the page of an evening list, in each of its states', full, async ({ browser, program }) => {
  await auditWalk({ browser, url: program.url }, async (page, audit) => {
    const answer = (path: string, json: EveningDay) => page.route(`**${path}`, (route) => route.fulfill({ json }))
    const look = async (name: string, day: EveningDay, sign: string) => {
      await answer(ownerLinkCalls.lookAtEvening.path, day)
      await page.goto('about:blank')
      await open(page, '/evening#token=x', sign)
      await audit.at(`evening-${name}`)
    }
    const loaded = await hold(page, [ownerLinkCalls.lookAtEvening])
    await page.goto('/evening#token=x')
    await expect(page.getByText('Loading the reminders...')).toBeAttached()
    await audit.at('evening-loading')
    await loaded()
    await letGo(page)
    await fail(page, [ownerLinkCalls.lookAtEvening])
    await page.goto('about:blank')
    await open(page, '/evening#token=x', /^Couldn’t load the reminders\./)
    await audit.at('evening-failed')
    await letGo(page)
    await look('none', dayOf(0), 'No reminders leave on this day.')
    await look('over', dayOf(3, 1, { until: '2026-03-03T12:30:00Z' }), 'This day is over.')
    await look('many', dayOf(230), 'Show all 230 clients')
    await look('list', dayOf(3), 'Do nothing, and they do.')
    await answer(ownerLinkCalls.leaveOutOfEvening.path, dayOf(3, 1))
    await page.getByRole('button', { name: 'Leave out Kaveri Foods' }).click()
    await expect(page.getByText('Done. 2 of 3 leave.')).toBeVisible()
    await expect(page.getByRole('button', { name: 'Take back Kaveri Foods' })).toBeFocused()
    await audit.at('evening-done')
    await fail(page, [ownerLinkCalls.takeBackInEvening])
    await page.getByRole('button', { name: 'Take back Kaveri Foods' }).click()
    await expect(page.getByRole('alert').filter({ hasText: /\w/ })).toBeVisible()
    await audit.at('evening-refused')
  })
})
