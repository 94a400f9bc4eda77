import type { Page } from '@playwright/test'
import { accountCalls } from '#contract/accounts.ts'
import { billingCalls } from '#contract/billing.ts'
import type { Call } from '#contract/call.ts'
import { integrationCalls } from '#contract/integrations.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { mailCalls } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { sequenceCalls } from '#contract/sequences.ts'
import { templateCalls } from '#contract/templates.ts'
import { zapierCalls } from '#contract/zapier.ts'
import { type Audit, auditWalk, fail, hold, letGo, open } from './audit.ts'
import { expect, full, test } from './duely.ts'
import { type Someone, signIn } from './sign-in.ts'

interface Screen {
  name: string
  address: string
  /** The calls that load it. */
  calls: Call[]
  loading: string | RegExp
  failed: string | RegExp
}

const failure = 'Something went wrong on our side. Please try again in a moment.'

/** Every dashboard screen that loads data. */
function screens(invoice: string, webhook: string): Screen[] {
  return [
    {
      name: 'dashboard',
      address: '/dashboard',
      calls: [invoiceCalls.list],
      loading: 'Loading invoices...',
      failed: /^Error loading invoices: /,
    },
    {
      name: 'edit-invoice',
      address: `/dashboard/edit-invoice/${invoice}`,
      calls: [invoiceCalls.read],
      loading: /^Loading/,
      failed: /^Failed to load invoice/,
    },
    {
      name: 'history',
      address: `/dashboard/edit-invoice/${invoice}`,
      calls: [reminderCalls.history],
      loading: 'Loading reminders...',
      failed: /^Couldn't load the reminders of this invoice: /,
    },
    {
      name: 'email-settings',
      address: '/dashboard/mail-settings',
      calls: [mailCalls.config],
      loading: 'Loading email settings...',
      failed: /^Error loading email settings: /,
    },
    {
      name: 'reminder-control',
      address: '/dashboard/reminder-control',
      calls: [reminderCalls.status],
      loading: 'Loading reminder status...',
      failed: /^Error loading reminder status: /,
    },
    {
      name: 'reminder-control-parts',
      address: '/dashboard/reminder-control',
      calls: [reminderCalls.preview, reminderCalls.runs, reminderCalls.settings],
      loading: 'Loading upcoming reminders...',
      failed: /^Error loading upcoming reminders: /,
    },
    {
      name: 'email-templates',
      address: '/dashboard/email-templates',
      calls: [templateCalls.read],
      loading: 'Loading your template...',
      failed: /^Couldn’t load the template\./,
    },
    {
      name: 'sequences',
      address: '/dashboard/sequences',
      calls: [sequenceCalls.list],
      loading: 'Loading sequences...',
      failed: /^Couldn’t load your sequences\./,
    },
    {
      name: 'connections',
      address: '/dashboard/connections',
      calls: [integrationCalls.connections, integrationCalls.webhooks, integrationCalls.keys, zapierCalls.subscription],
      loading: /^Loading/,
      failed: new RegExp(failure),
    },
    {
      name: 'webhook',
      address: `/dashboard/connections/webhooks/${webhook}`,
      calls: [integrationCalls.webhookDeliveries],
      loading: /^Loading/,
      failed: new RegExp(failure),
    },
    {
      name: 'profile',
      address: '/dashboard/profile',
      calls: [accountCalls.profile],
      loading: 'Loading your profile...',
      failed: 'Profile Not Found',
    },
    {
      name: 'profile-figures',
      address: '/dashboard/profile',
      calls: [accountCalls.stats],
      loading: 'Member since',
      failed: /^Couldn’t load your figures\./,
    },
    {
      name: 'security',
      address: '/dashboard/profile?tab=security',
      calls: [accountCalls.sessions, accountCalls.audit],
      loading: 'Loading your sessions...',
      failed: /^Couldn’t load your sessions\./,
    },
    {
      name: 'subscription',
      address: '/dashboard/profile?tab=subscription',
      calls: [billingCalls.subscription],
      loading: 'Loading your plan...',
      failed: /^Couldn’t load your plan\./,
    },
  ]
}

/** The first or the second half of the screens, each while it loads and after the server failed. */
async function waiting(page: Page, audit: Audit, someone: Someone, half: 'first' | 'second'): Promise<void> {
  const late = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 184_200.5, dueDate: '2026-01-02' }
  const { _id: invoice } = (await someone.send('POST', '/invoice', late)) as { _id: string }
  const events = ['invoice.created']
  const hook = { url: 'https://books.example/duely', events, ...someone.proof }
  const { _id: webhook } = (await someone.send('POST', '/webhooks', hook)) as { _id: string }
  const all = screens(invoice, webhook)
  const middle = Math.ceil(all.length / 2)
  for (const { name, address, calls, loading, failed } of half === 'first' ? all.slice(0, middle) : all.slice(middle)) {
    const seen = (sign: string | RegExp) => page.getByRole('main').getByText(sign).filter({ visible: true }).first()
    const go = await hold(page, calls)
    await page.goto(address)
    await expect(seen(loading)).toBeVisible()
    await audit.at(`${name}-loading`, seen(loading))
    await go()
    await letGo(page)
    await fail(page, calls)
    await page.goto(address)
    await expect(seen(failed)).toBeVisible()
    await audit.at(`${name}-failed`, seen(failed))
    await letGo(page)
  }
}

async function away(page: Page, audit: Audit, someone: Someone): Promise<void> {
  const late = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 184_200.5, dueDate: '2026-01-02' }
  await someone.send('POST', '/invoice', late)
  const whole = () => expect(page.getByRole('button', { name: /^Account of/ })).toBeVisible()
  // Cached data stays, marked as old.
  await open(page, '/dashboard', 'All (1)')
  await fail(page, [invoiceCalls.list])
  await page.getByRole('button', { name: /^Actions for/ }).click()
  await page.getByRole('menuitem', { name: 'Mark as paid' }).click()
  await expect(page.getByText(/^Error loading invoices: /)).toBeVisible()
  await audit.at('dashboard-old')
  await letGo(page)
  // A screen whose code is loaded opens offline.
  await open(page, '/dashboard/email-templates', 'Current Template')
  await open(page, '/dashboard', 'All (1)')
  await page.context().setOffline(true)
  await page.getByRole('link', { name: 'Email Templates' }).first().click()
  await expect(page.getByText(/The server cannot be reached\. Please check your connection/).first()).toBeVisible()
  await expect(page.getByText('You are offline')).toBeVisible()
  await audit.at('offline')
  // One whose code is not loaded shows a notice.
  await page.getByRole('link', { name: 'Connections' }).first().click()
  await expect(page.getByRole('heading', { name: 'This screen could not be loaded' })).toBeVisible()
  await audit.at('offline-not-fetched')
  await page.context().setOffline(false)
  await expect(page.getByRole('heading', { name: 'Connected apps' })).toBeVisible()
  await open(page, '/dashboard/no-such-screen', 'Page not found')
  await whole()
  await audit.at('not-found-dashboard')
  await open(page, '/no-such-page', 'Go to the dashboard')
  await whole()
  await audit.at('not-found-signed-in')
  await open(page, '/pricing', 'Payments are not set up on this server.')
  await whole()
  await audit.at('pricing-not-set-up')
}

for (const half of ['first', 'second'] as const)
  test(`every screen while it loads and after the server failed: the ${half} half`, full, async ({ browser, program }) => {
    await auditWalk({ browser, url: program.url }, async (page, audit) => {
      await waiting(page, audit, await signIn(page, program.url, `waiting-${half}@banyan.example`), half)
    })
  })

test('stale data, no network, and missing pages', full, async ({ browser, program }) => {
  await auditWalk({ browser, url: program.url }, async (page, audit) => {
    await away(page, audit, await signIn(page, program.url, 'away@banyan.example'))
  })
})

test('a screen that crashes', async ({ browser, program }) => {
  await auditWalk({ browser, url: program.url, complains: /TypeError: Cannot destructure property 'status'/ }, async (page, audit) => {
    await signIn(page, program.url, 'broken@banyan.example')
    await page.route('**/invoice', (route) => (route.request().method() === 'GET' ? route.fulfill({ json: [null] }) : route.fallback()))
    await page.goto('/dashboard')
    await expect(page.getByRole('heading', { name: 'This screen stopped working' })).toBeVisible()
    await audit.at('crash')
  })
})

test('a page whose scripts do not load', async ({ browser, program }) => {
  await auditWalk(
    { browser, url: program.url, complains: /TypeError: Failed to fetch dynamically imported module/ },
    async (page, audit) => {
      await page.route('**/assets/*.js', (route) => route.abort())
      await page.goto('/signin')
      await expect(page.getByRole('alert').filter({ hasText: 'This page did not load completely' })).toBeVisible()
      await audit.at('page-incomplete')
    },
  )
})
