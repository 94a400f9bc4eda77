import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { billingCalls, type Payment, type Subscription } from '#contract/billing.ts'
import { reminderCalls } from '#contract/reminders.ts'
import type { FakeRazorpay } from '#test/fakes/razorpay/server.ts'
import { makeOlder } from '#test/older.ts'
import { someoneAt, startProgram } from '#test/program.ts'
import { type Audit, auditWalk, change, closeMessages, dialog, hold, letGo, open } from './audit.ts'
import { full } from './duely.ts'
import { type Someone, signIn } from './sign-in.ts'
import { expect, settingsFor, test } from './with-shop.ts'

const tab = '/dashboard/profile?tab=subscription'

async function pay(page: Page, button: RegExp): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name: button }).click()
  await page.frameLocator('iframe[title=Checkout]').getByRole('button', { name: 'Pay' }).click()
}

async function subscriptionOf(someone: Someone): Promise<Subscription> {
  return billingCalls.subscription.reply.parse(await someone.send('GET', '/subscription'))
}

const becomes = (someone: Someone, status: Subscription['status']) =>
  expect.poll(async () => (await subscriptionOf(someone)).status).toBe(status)

async function buying(page: Page, audit: Audit, someone: Someone, razorpay: FakeRazorpay): Promise<void> {
  const asked = page.getByRole('dialog')
  await open(page, tab, /^Daily reminders and any number of invoices until/)
  await expect(page.getByText('No payments yet.')).toBeVisible()
  await audit.at('subscription-trial')
  await open(page, '/dashboard', 'Pro trial, 14 days left')
  await audit.at('dashboard-trial')
  const invite = (email: string) => someone.send('POST', '/business/invitations', { email, role: 'viewer' })
  await invite('kiran@shah-accounts.example')
  await invite('second@shah-accounts.example')
  await open(page, '/dashboard/business?tab=team', '2 invitations, 1 seat left')
  await audit.at('team-seats')
  await open(page, '/dashboard/connections', 'Choose Enterprise')
  await audit.at('connections-plan')

  await page.route('**/v1/checkout.js', (route) => route.abort())
  await page.goto('/pricing?plan=pro')
  await expect(asked.getByText(/^Couldn’t load the payment window/)).toBeVisible()
  await audit.at('subscribe-window-failed')
  await letGo(page)
  await page.route('**/subscription/quote**', (route) => route.abort())
  await page.goto('/pricing?plan=pro')
  await expect(asked.getByText(/^Couldn’t calculate the price\./)).toBeVisible()
  await audit.at('subscribe-price-failed')
  await letGo(page)
  const known = await hold(page, [billingCalls.subscription])
  await page.goto('/pricing')
  await expect(page.getByRole('button', { name: 'Loading...' }).first()).toBeVisible()
  await audit.at('pricing-loading')
  await known()
  await expect(page.getByRole('button', { name: 'After your trial' })).toBeVisible()
  await audit.at('pricing-free')
  await page.getByRole('button', { name: 'Choose Pro' }).click()
  await expect(asked.getByRole('button', { name: 'Pay Once - ₹4/month' })).toBeEnabled()
  await audit.at('subscribe-once-monthly')
  const go = await hold(page, [billingCalls.createOrder])
  await asked.getByRole('button', { name: 'Pay Once - ₹4/month' }).click()
  await expect(asked.getByRole('button', { name: 'Processing...' })).toBeVisible()
  await audit.at('subscribe-processing')
  await go()
  const checkout = page.frameLocator('iframe[title=Checkout]')
  await checkout.getByRole('button', { name: 'Fail' }).click()
  await checkout.getByRole('button', { name: 'Close' }).press('Escape')
  await expect(asked.getByText(/^The payment failed: /)).toBeVisible()
  await audit.at('subscribe-failed')
  await asked.getByRole('radio', { name: 'Yearly Save ₹8' }).check()
  await expect(asked.getByRole('button', { name: 'Pay Once - ₹40/year' })).toBeEnabled()
  await audit.at('subscribe-once-yearly')
  razorpay.answer(() => ({ status: 502, html: 'Bad Gateway' }))
  await asked.getByRole('button', { name: 'Pay Once - ₹40/year' }).click()
  await expect(asked.getByText(/^Failed to initiate payment\./)).toBeVisible()
  await audit.at('subscribe-not-begun')
  razorpay.answer(() => undefined)
  await closeMessages(page)
  await asked.getByRole('radio', { name: 'Auto-Recurring' }).check()
  await expect(asked.getByText(/then every year\.$/)).toBeVisible()
  await audit.at('subscribe-again-yearly')
  await asked.getByRole('radio', { name: 'Monthly' }).check()
  await expect(asked.getByText(/then every month\.$/)).toBeVisible()
  await audit.at('subscribe-again-monthly')
  await pay(page, /^Subscribe/)
  await expect(page.getByText(/^Subscription activated successfully!/)).toBeVisible()
  await audit.at('pricing-subscribed')

  await page.getByRole('button', { name: 'Manage Pro' }).click()
  await expect(asked.getByText(/^Pro, first charge on/)).toBeVisible()
  await audit.at('own-plan-trialing')
  await asked.getByRole('button', { name: 'Cancel Subscription' }).click()
  const cancelling = page.getByRole('dialog', { name: 'Cancel Subscription' })
  await expect(cancelling).toBeVisible()
  await audit.at('cancel-plan-trialing')
  razorpay.answer(() => ({ status: 502, html: 'Bad Gateway' }))
  await cancelling.getByRole('button', { name: 'Cancel Subscription' }).click()
  await expect(cancelling.getByRole('alert').filter({ hasText: /\w/ })).toBeVisible()
  await audit.at('cancel-plan-failed')
  razorpay.answer(() => undefined)

  const { provider } = razorpay
  const id = [...provider.subscriptions.values()].at(-1)?.id ?? ''
  provider.hasten(id)
  await becomes(someone, 'active')
  await open(page, tab, '₹4 per month')
  await expect(page.getByRole('row', { name: /Pro, monthly.*Paid/ })).toBeVisible()
  await audit.at('subscription-active', page.getByRole('row', { name: /Pro, monthly.*Paid/ }))
  await page.getByRole('button', { name: 'Cancel Subscription' }).click()
  await dialog(page, audit, 'cancel-plan')
  await page.goto('/pricing?plan=pro')
  await dialog(page, audit, 'own-plan')
  await page.getByRole('button', { name: 'Get Started Free' }).click()
  await expect(asked.getByText(/^Pro is paid until/)).toBeVisible()
  await dialog(page, audit, 'switch-to-free')
  await page.getByRole('button', { name: 'Choose Enterprise' }).click()
  await expect(asked.getByText('Credit from Pro', { exact: true })).toBeVisible()
  await expect(asked.getByRole('button', { name: /^Pay Once - ₹5/ })).toBeEnabled()
  await dialog(page, audit, 'subscribe-rest')

  provider.setCard(id, 'bad')
  provider.hasten(id)
  await becomes(someone, 'past_due')
  await open(page, tab, 'Payment was due on')
  await audit.at('subscription-past-due', page.getByText('Payment was due on'))
  await open(page, '/dashboard', 'A payment failed')
  await audit.at('dashboard-past-due')
  await page.goto('/pricing?plan=pro')
  await expect(asked.getByText(/, due on/)).toBeVisible()
  await audit.at('own-plan-past-due')

  await page.goto('/dashboard')
  provider.changeCard(id)
  await becomes(someone, 'active')
  await someone.send('POST', '/subscription/cancel')
  await open(page, tab, 'Ends on')
  await audit.at('subscription-cancelled', page.getByText('Ends on'))
  await page.goto('/pricing?plan=pro')
  await expect(asked.getByText(/^Pro ends on/)).toBeVisible()
  await dialog(page, audit, 'own-plan-cancelled')
}

const payments: Partial<Payment>[] = [
  { status: 'authorized' },
  { status: 'failed', reason: 'Your payment has been cancelled by the bank. Try again or use another method.' },
  { status: 'refunded', refunded: 40, amount: 40, billingPeriod: 'yearly', plan: 'enterprise' },
  { refunded: 1.5 },
  ...Array.from({ length: 12 }, () => ({})),
]

const paidOnce: Partial<Subscription> = {
  state: 'Pro until 02/12/2026',
  plan: 'pro',
  paymentType: 'onetime',
  billingPeriod: 'monthly',
  amount: 400,
  currentPeriodEnd: '2026-12-02T04:00:00Z',
  endsIfCancelled: '2026-12-02T04:00:00Z',
  renewableFrom: '2026-11-18T04:00:00Z',
}

/** States that take weeks: the day before a plan ends, a year of payments, a payment that the bank confirms late. */
async function later(page: Page, audit: Audit): Promise<void> {
  const notice = async (kind: Subscription['notices'][number]['kind'], message: string, title: string, screen = '/dashboard') => {
    const at = '2026-11-24T04:00:00Z'
    await change(page, billingCalls.subscription, (plan) => ({ ...plan, notices: [{ kind, at, message, daysLeft: 2 }] }))
    await open(page, screen, title)
    await audit.at(`notice-${kind.replace('_', '-')}`)
  }
  await notice('trial_ending', 'Your free trial of Pro ends on 24/11/2026, in 2 days. Choose Pro to keep daily reminders.', 'ends soon')
  await letGo(page)
  await notice('period_ending', 'Pro ends on 24/11/2026, in 2 days. Nothing is charged after that.', 'Your plan ends soon')
  await letGo(page)
  await notice('confirming', 'Your payment is being confirmed by the bank. Please do not pay again.', 'Confirming your payment', tab)
  await page.goto('/pricing?plan=pro')
  await expect(page.getByRole('dialog').getByText('Confirming your payment...')).toBeVisible()
  await audit.at('subscribe-confirming')
  await letGo(page)
  await change(page, billingCalls.subscription, (plan) => ({ ...plan, ...paidOnce }))
  await open(page, tab, 'Pro until 02/12/2026')
  await expect(page.getByRole('link', { name: 'Renew Pro' })).toBeVisible()
  await audit.at('subscription-once', page.getByRole('link', { name: 'Renew Pro' }))
  await page.goto('/pricing?plan=pro')
  await expect(page.getByRole('dialog').getByText(/Renew it now to continue from that day\.$/)).toBeVisible()
  await audit.at('own-plan-once')
  await page.getByRole('dialog').getByRole('button', { name: 'Renew Pro' }).click()
  await expect(page.getByRole('dialog').getByRole('button', { name: 'Pay Once - ₹4/month' })).toBeEnabled()
  await audit.at('subscribe-renew')
  await letGo(page)
  await change(page, billingCalls.payments, () =>
    payments.map((one, nth) => ({
      _id: String(nth),
      paymentId: `pay_Fake0000000${nth}`,
      plan: 'pro',
      billingPeriod: 'monthly',
      paymentType: 'subscription',
      amount: 4,
      refunded: 0,
      currency: 'INR',
      status: 'captured',
      method: 'card',
      reason: null,
      paidAt: `20${25 - Math.floor(nth / 12)}-${String(12 - (nth % 12)).padStart(2, '0')}-02T04:00:00Z`,
      ...one,
    })),
  )
  await open(page, tab, 'Confirming')
  await audit.at('subscription-payments', page.getByText('₹40.00 refunded'))
  await page.getByRole('button', { name: 'Show all 16' }).click()
  await audit.at('subscription-payments-all', page.getByRole('row').last())
}

async function onFree(page: Page, audit: Audit): Promise<void> {
  await open(page, '/dashboard', 'Your free trial has ended')
  await audit.at('dashboard-trial-ended')
  await page.getByRole('button', { name: 'Notifications', exact: true }).click()
  await expect(page.getByRole('dialog').getByText('48 of 50 invoices this month')).toBeVisible()
  await dialog(page, audit, 'notifications-plan')
  await page.goto('/dashboard?import')
  const lines = ['Orbit', 'Kaveri', 'Banyan', 'Lotus'].map((name) => `${name},pay@${name.toLowerCase()}.example,12,31/12/2026`)
  const file = { name: 'books.csv', mimeType: 'text/csv', buffer: Buffer.from(`Client,Email,Amount,Due Date\n${lines.join('\n')}\n`) }
  await page.getByRole('dialog').locator('input[type=file]').setInputFiles(file)
  await expect(page.getByText(/^Your plan has room for 2 more invoices/)).toBeVisible()
  await audit.at('import-room', page.getByText(/^Your plan has room for 2 more invoices/))
  await page.getByRole('button', { name: 'Import 4 invoices' }).click()
  await expect(page.getByText('2 lines were not imported')).toBeVisible()
  await audit.at('import-room-over')
  await page.getByRole('button', { name: 'Done' }).click()
  await open(page, '/dashboard/new-invoice', 'Fill in the details to create a new invoice')
  await page.getByRole('combobox', { name: 'Client Name' }).fill('Kaveri Foods')
  await page.getByLabel('Client Email').fill('accounts@kaveri.example')
  await page.getByLabel('Amount').fill('1200')
  await page.getByLabel('Due Date').first().fill('02/01/2026')
  await page.getByRole('main').getByRole('button', { name: 'Create Invoice' }).click()
  await expect(page.getByRole('alert').filter({ hasText: /^Free includes 50 invoices a month/ })).toBeVisible()
  await audit.at('new-invoice-over', page.getByRole('alert').filter({ hasText: /^Free includes 50 invoices a month/ }))
  await open(page, tab, '50 of 50 used')
  await audit.at('subscription-used-up', page.getByText('50 of 50 used'))
  await open(page, '/dashboard/reminder-control', 'Inactive')
  await audit.at('reminder-control-by-hand')
  const onHold = { isActive: true, state: 'on_hold', words: 'On hold: daily reminders need Pro', reason: 'plan' } as const
  await change(page, reminderCalls.status, (status) => ({ ...status, ...onHold }))
  await open(page, '/dashboard', 'On hold: daily reminders need Pro')
  await audit.at('dashboard-on-hold')
  await open(page, '/dashboard/reminder-control', /^On hold/)
  await audit.at('reminder-control-plan-waits')
  await letGo(page)
}

test('every way to buy and cancel a plan', full, async ({ browser, program, shop }) => {
  await auditWalk({ browser, url: program.url }, async (page, audit) => {
    const email = 'buyer@banyan.example'
    shop.people.push(email)
    const someone = await signIn(page, program.url, email)
    await buying(page, audit, someone, shop.razorpay)
  })
})

test('a plan near its end, a long payment history, and the limits of Free after the trial', full, async ({ browser, shop }) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'duely-limits-'))
  const email = 'limits@banyan.example'
  const env = { DATA_DIR: folder, ...settingsFor(shop.razorpay) }
  {
    await using first = await startProgram(env)
    await someoneAt(first.url, email)
    await first.end('SIGTERM')
  }
  await makeOlder(folder, { email, days: 14, invoicesThisMonth: 48 })
  await using program = await startProgram(env)
  await auditWalk({ browser, url: program.url }, async (page, audit) => {
    await signIn(page, program.url, email)
    await onFree(page, audit)
    await later(page, audit)
  })
  await program.end('SIGTERM')
  await rm(folder, { recursive: true, force: true })
})
