import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { FrameLocator, Page } from '@playwright/test'
import { billingCalls, type Payment, type Subscription } from '#contract/billing.ts'
import { makeOlder } from '#test/older.ts'
import { someoneAt, startProgram } from '#test/program.ts'
import { full } from './duely.ts'
import { signIn } from './sign-in.ts'
import { expect, type Shop, settingsFor, test } from './with-shop.ts'

// The real program, started with the addresses of a Razorpay that takes no money, in a browser that pays there.

/** Signs a new account in and opens the dialog of a plan. */
async function open(page: Page, url: string, shop: Shop, email: string, plan: 'Pro' | 'Enterprise' = 'Pro'): Promise<void> {
  shop.people.push(email)
  await signIn(page, url, email)
  await page.goto('/pricing')
  await page.getByRole('button', { name: `Choose ${plan}` }).click()
  await expect(page.getByRole('dialog', { name: `Subscribe to ${plan}` })).toBeVisible()
}

const checkoutOf = (page: Page): FrameLocator => page.frameLocator('iframe[title=Checkout]')

async function subscriptionOf(url: string, email: string): Promise<Subscription> {
  return billingCalls.subscription.reply.parse(await (await someoneAt(url, email)).send('GET', '/subscription'))
}

async function paymentsOf(url: string, email: string): Promise<Payment[]> {
  return billingCalls.payments.reply.parse(await (await someoneAt(url, email)).send('GET', '/subscription/payments'))
}

const inDays = (iso: string) =>
  new Intl.DateTimeFormat('en-GB', { timeZone: 'Asia/Kolkata', day: '2-digit', month: '2-digit', year: 'numeric' }).format(new Date(iso))

test('a signed-out visitor sees the prices and what ends with the trial, is led to the sign-in page, and loads nothing from the provider', async ({
  page,
  shop,
}) => {
  const elsewhere: string[] = []
  page.on('request', (request) => {
    if (request.url().startsWith(new URL(shop.razorpay.settings.apiUrl).origin)) elsewhere.push(request.url())
  })
  for (const text of ['Get Started Free', 'Start Pro Trial', 'Start Enterprise Trial']) {
    await page.goto('/pricing')
    await page.getByRole('link', { name: text }).click()
    await expect(page).toHaveURL(/\/signin$/)
  }
  await page.goto('/pricing')
  for (const note of ['Most Popular', '14-day free trial', 'Cancel anytime', 'Secure payments'])
    await expect(page.getByText(note, { exact: true })).toBeVisible()
  await expect(page.getByText(/After that daily reminders are on hold on Free; Send Now still works\.$/)).toBeVisible()
  await page.goto('/')
  await expect(page.getByText(/Then they are part of Pro; on Free you send reminders with one click\.$/)).toBeVisible()
  expect(elsewhere).toEqual([])
})

test('only the pricing page allows the provider’s checkout', async ({ request, shop }) => {
  const { origin } = new URL(shop.razorpay.settings.checkoutUrl)
  const policyOf = async (address: string) => (await request.get(address)).headers()['content-security-policy'] ?? ''
  const pricing = (await policyOf('/pricing')).split('; ')
  for (const directive of ['script-src', 'frame-src']) expect(pricing.find((line) => line.startsWith(directive))).toContain(origin)
  for (const address of ['/', '/features', '/contact', '/signin', '/signup', '/dashboard', '/dashboard/profile', '/nowhere'])
    expect(await policyOf(address), address).not.toContain(origin)
})

test('invitations count as seats of the plan, as long as there is one for each', full, async ({ page, program }) => {
  const someone = await signIn(page, program.url, 'seats@banyan.example')
  await someone.send('POST', '/business/invitations', { email: 'kiran@shah-accounts.example', role: 'viewer' })
  await page.goto('/dashboard/business?tab=team')
  await expect(page.getByText('1 of 1 seats used')).toBeVisible()
  await expect(page.getByText('1 of 1 viewer')).toBeVisible()
  await expect(page.getByText('1 is an invitation')).toBeVisible()
  const email = page.getByRole('textbox', { name: 'Email' })
  await email.fill('second@shah-accounts.example')
  await page.getByRole('button', { name: 'Send invitation' }).click()
  await expect(page.getByText('0 of 1 viewer')).toBeVisible()
  await expect(page.getByText('2 invitations, 1 seat left')).toBeVisible()
  await email.fill('farah@banyan.example')
  await page.getByLabel('Role').selectOption('Member')
  await page.getByRole('button', { name: 'Send invitation' }).click()
  await expect(page.getByText('Every seat of the plan is taken. Enterprise has 10 seats, and 10 for viewers.')).toBeVisible()
})

test('a one-time payment for a year', async ({ page, program, shop }) => {
  const email = 'once@banyan.example'
  shop.people.push(email)
  await signIn(page, program.url, email)
  await page.goto('/dashboard/profile?tab=subscription')
  const tab = page.getByRole('tabpanel', { name: 'Subscription' })
  await expect(tab.getByText('Pro trial, 14 days left', { exact: true })).toBeVisible()
  await expect(tab.getByText(/^Daily reminders and any number of invoices until /)).toBeVisible()
  await expect(page.getByRole('complementary').getByRole('link', { name: 'Plan Pro trial, 14 days left' })).toBeVisible()
  await expect(page.getByRole('definition').filter({ hasText: 'Pro trial, 14 days left' })).toHaveCount(2)
  await expect(page.getByText('No payments yet.')).toBeVisible()
  await page.getByRole('link', { name: 'Upgrade Plan' }).click()
  await expect(page.getByText('Your plan: Pro trial, 14 days left')).toBeVisible()
  await expect(page.getByRole('region', { name: 'Free' }).getByRole('button', { name: 'After your trial' })).toBeDisabled()
  // What is loaded for who is signed in leaves the cards as they are.
  await expect(page.getByRole('region', { name: 'Pro' }).getByRole('list')).toHaveCSS('margin-top', '24px')
  // Coming from a screen inside the product, the page must be reloaded for its own policy.
  await page.getByRole('button', { name: 'Choose Pro' }).click()
  const dialog = page.getByRole('dialog', { name: 'Subscribe to Pro' })

  await expect(dialog.getByRole('radio', { name: 'Monthly' })).toBeChecked()
  await expect(dialog.getByRole('radio', { name: 'One-time Payment' })).toBeChecked()
  await expect(dialog.getByText('Pay once for the selected period')).toBeVisible()
  await expect(dialog.getByText('per month', { exact: true })).toBeVisible()
  await expect(dialog.getByRole('button', { name: 'Pay Once - ₹4/month' })).toBeEnabled()
  await expect(dialog.getByText('₹4 today. No further charge.', { exact: true })).toBeVisible()
  await expect(dialog.getByText('Save ₹8 compared to monthly billing')).toBeHidden()
  await dialog.getByRole('radio', { name: 'Auto-Recurring' }).check()
  await expect(dialog.getByText('Automatically charge every billing period')).toBeVisible()
  await expect(dialog.getByRole('button', { name: 'Subscribe - ₹4/month' })).toBeEnabled()
  await dialog.getByRole('radio', { name: 'One-time Payment' }).check()
  await dialog.getByRole('radio', { name: 'Yearly Save ₹8' }).check()
  await expect(dialog.getByText('Save ₹8 compared to monthly billing')).toBeVisible()
  await expect(dialog.getByText('per year', { exact: true })).toBeVisible()
  for (const feature of ['Unlimited invoices', 'Automated scheduling', 'Advanced analytics'])
    await expect(dialog.getByText(feature, { exact: true })).toBeVisible()
  await expect(dialog.getByRole('listitem').filter({ hasText: 'Smart reminders' })).not.toContainText('coming')
  await expect(dialog.getByText('Secure payment powered by a card payment provider')).toBeVisible()

  await dialog.getByRole('button', { name: 'Pay Once - ₹40/year' }).click()
  await expect(dialog.getByRole('button', { name: 'Processing...' })).toBeVisible()
  const checkout = checkoutOf(page)
  await expect(checkout.getByRole('heading', { name: 'Duely' })).toBeVisible()
  for (const text of ['Pro, yearly', '₹40', 'Asha Rao', email]) await expect(checkout.getByText(text, { exact: true })).toBeVisible()
  // Blue.
  await expect(checkout.locator('main')).toHaveCSS('border-top-color', 'rgb(37, 99, 235)')
  await checkout.getByRole('button', { name: 'Pay' }).click()

  await expect(page.getByText('Payment successful! Your subscription is now active.')).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(page.getByRole('region', { name: 'Pro' }).getByRole('button', { name: 'Current Plan' })).toBeDisabled()
  const { plan, status, currentPeriodEnd, amount, renewableFrom } = await subscriptionOf(program.url, email)
  expect([plan, status, amount]).toEqual(['pro', 'active', 4000])
  await page.getByRole('button', { name: 'Manage Pro' }).click()
  const once = `Paid until ${inDays(currentPeriodEnd ?? '')}. Nothing is charged after that.`
  await expect(dialog.getByText(`${once} You can renew it from ${inDays(renewableFrom ?? '')}.`)).toBeVisible()
  await expect(dialog.getByRole('button', { name: 'Renew Pro' })).toHaveCount(0)
  await dialog.getByRole('button', { name: 'Cancel', exact: true }).click()
  expect((await paymentsOf(program.url, email)).map((one) => [one.amount, one.status])).toEqual([[40, 'captured']])

  // What the provider brought along stays behind.
  expect(await page.evaluate(() => typeof Reflect.get(window, 'Razorpay'))).toBe('function')
  await page.getByRole('button', { name: 'Account of Asha Rao' }).click()
  await page.getByRole('menuitem', { name: 'My Profile' }).click()
  await page.getByRole('tab', { name: 'Subscription' }).click()
  expect(await page.evaluate(() => typeof Reflect.get(window, 'Razorpay'))).toBe('undefined')
  const panel = page.getByRole('tabpanel', { name: 'Subscription' })
  for (const text of [
    '₹40, paid once for a year',
    'Ends on',
    inDays(currentPeriodEnd ?? ''),
    '0, no limit',
    'Billing history',
    '₹40.00',
    'Paid',
  ])
    await expect(panel.getByText(text, { exact: true }).first()).toBeVisible()
  await expect(panel.getByRole('link', { name: 'Change Plan' })).toBeVisible()
  await expect(panel.getByText(`Pro until ${inDays(currentPeriodEnd ?? '')}`, { exact: true })).toBeVisible()
  await expect(panel.getByRole('link', { name: 'Renew Pro' })).toHaveCount(0)

  // Cancelling keeps what is paid for.
  await panel.getByRole('button', { name: 'Cancel Subscription' }).click()
  const asked = page.getByRole('dialog', { name: 'Cancel Subscription' })
  await expect(asked.getByText(`Pro stays active until ${inDays(currentPeriodEnd ?? '')}.`)).toBeVisible()
  await asked.getByRole('button', { name: 'Cancel Subscription' }).click()
  await expect(page.getByText('Subscription cancelled successfully')).toBeVisible()
  await expect(panel.getByRole('button', { name: 'Cancel Subscription' })).toHaveCount(0)
  await expect(panel.getByText(`Pro until ${inDays(currentPeriodEnd ?? '')}`, { exact: true })).toBeVisible()
  expect((await subscriptionOf(program.url, email)).cancelAtPeriodEnd).toBe(true)
})

test('a plan that was paid once is renewed from the day it ends', full, async ({ page, program, shop }) => {
  const email = 'renews@banyan.example'
  await open(page, program.url, shop, email)
  const { provider } = shop.razorpay
  const dialog = page.getByRole('dialog', { name: 'Subscribe to Pro' })
  // The bank dates the payment 20 days back, so that the month ends in about ten days.
  await page.route('**/v1/checkout/act', async (route) => {
    const { order_id: orderId } = route.request().postDataJSON() as { order_id: string }
    const payment = provider.payOrder(orderId, { outcome: 'authorized' })
    payment.created_at -= 20 * 86_400
    provider.capture(payment.id)
    await route.fulfill({ json: provider.proofOf(payment, { orderId }) })
  })
  await dialog.getByRole('button', { name: 'Pay Once - ₹4/month' }).click()
  await checkoutOf(page).getByRole('button', { name: 'Pay' }).click()
  await expect(page.getByText('Payment successful! Your subscription is now active.')).toBeVisible()
  await page.unroute('**/v1/checkout/act')
  const { currentPeriodEnd: end } = await subscriptionOf(program.url, email)
  const ends = inDays(end ?? '')
  await page.getByRole('button', { name: 'Manage Pro' }).click()
  const now = `Paid until ${ends}. Nothing is charged after that. Renew it now to continue from that day.`
  await expect(dialog.getByText(now)).toBeVisible()
  await expect(dialog.getByRole('button', { name: 'Renew Pro' })).toBeVisible()

  await page.goto('/dashboard/profile?tab=subscription')
  await page.getByRole('link', { name: 'Renew Pro' }).click()
  await expect(dialog.getByText(`It begins on ${ends}, when your present Pro ends.`)).toBeVisible()
  await expect(dialog.getByText('₹4 today. No further charge.', { exact: true })).toBeVisible()
  await dialog.getByRole('button', { name: 'Pay Once - ₹4/month' }).click()
  await checkoutOf(page).getByRole('button', { name: 'Pay' }).click()
  await expect(page.getByText('Payment successful! Your subscription is now active.')).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  const renewed = await subscriptionOf(program.url, email)
  expect(Date.parse(renewed.currentPeriodEnd ?? '')).toBeGreaterThan(Date.parse(end ?? '') + 27 * 86_400_000)
  await expect(page.getByText(`Your plan: Pro until ${inDays(renewed.currentPeriodEnd ?? '')}`)).toBeVisible()
})

test('a payment that fails can be tried again, and closing the checkout resets the button', full, async ({ page, program, shop }) => {
  const email = 'fails@banyan.example'
  await open(page, program.url, shop, email)
  const dialog = page.getByRole('dialog', { name: 'Subscribe to Pro' })
  const pay = dialog.getByRole('button', { name: 'Pay Once - ₹4/month' })
  await pay.click()
  await checkoutOf(page).getByRole('button', { name: 'Close' }).click()
  await expect(pay).toBeEnabled()
  await expect(dialog.getByRole('alert')).toHaveCount(0)

  await pay.click()
  await checkoutOf(page).getByRole('button', { name: 'Fail' }).click()
  await checkoutOf(page).getByRole('button', { name: 'Close' }).press('Escape')
  await expect(dialog.getByRole('alert')).toHaveText(
    'The payment failed: Your payment has been cancelled by the bank. Try again or use another method.',
  )
  await expect(pay).toBeEnabled()
  expect((await subscriptionOf(program.url, email)).plan).toBe('free')

  await pay.click()
  await checkoutOf(page).getByRole('button', { name: 'Fail' }).click()
  await checkoutOf(page).getByRole('button', { name: 'Pay' }).click()
  await expect(page.getByText('Payment successful! Your subscription is now active.')).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  expect((await paymentsOf(program.url, email)).filter(({ status }) => status === 'captured')).toHaveLength(1)
})

test('an order that cannot be created shows its error in the dialog and as a toast', full, async ({ page, program, shop }) => {
  await open(page, program.url, shop, 'refused@banyan.example')
  const dialog = page.getByRole('dialog', { name: 'Subscribe to Pro' })
  const said = async (sentence: string) => {
    await expect(dialog.getByRole('alert')).toHaveText(sentence)
    await expect(page.getByRole('alert').filter({ hasText: sentence })).toHaveCount(2)
  }
  shop.razorpay.answer(() => ({ status: 502, html: 'Bad Gateway' }))
  const later = 'The payment provider is not responding correctly. Nothing was charged. Please try again in a few minutes.'
  await dialog.getByRole('button', { name: 'Pay Once - ₹4/month' }).click()
  await said(`Failed to initiate payment. ${later}`)
  await dialog.getByRole('radio', { name: 'Auto-Recurring' }).check()
  await expect(dialog.getByRole('alert')).toHaveCount(0)
  await dialog.getByRole('button', { name: 'Subscribe - ₹4/month' }).click()
  await said(`Failed to initiate subscription. ${later}`)

  const gone = 'The server cannot be reached. Please check your connection and try again.'
  await page.route('**/subscription/create-*', (route) => route.abort())
  await dialog.getByRole('button', { name: 'Subscribe - ₹4/month' }).click()
  await said(`Failed to initiate subscription. ${gone}`)
  await dialog.getByRole('radio', { name: 'One-time Payment' }).check()
  await dialog.getByRole('button', { name: 'Pay Once - ₹4/month' }).click()
  await said(`Failed to initiate payment. ${gone}`)
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
})

test('a forged proof of payment activates nothing and shows an error', full, async ({ page, program, shop }) => {
  const email = 'forged@banyan.example'
  await open(page, program.url, shop, email)
  const dialog = page.getByRole('dialog', { name: 'Subscribe to Pro' })
  // A man in the middle replaces the proof, and no payment is made.
  await page.route('**/v1/checkout/act', async (route) => {
    const { order_id, subscription_id } = route.request().postDataJSON() as Record<string, string>
    const named = order_id ? { razorpay_order_id: order_id } : { razorpay_subscription_id: subscription_id }
    await route.fulfill({ json: { ...named, razorpay_payment_id: 'pay_Forged00000001', razorpay_signature: '0'.repeat(64) } })
  })
  const sentences = [
    ['Pay Once - ₹4/month', 'Payment verification failed. Please contact support.'],
    ['Subscribe - ₹4/month', 'Subscription payment verification failed. Please contact support.'],
  ] as const
  for (const [button, sentence] of sentences) {
    if (button.startsWith('Subscribe')) await dialog.getByRole('radio', { name: 'Auto-Recurring' }).check()
    await dialog.getByRole('button', { name: button }).click()
    await checkoutOf(page).getByRole('button', { name: 'Pay' }).click()
    await expect(dialog.getByRole('alert')).toHaveText(sentence)
    await expect(page.getByRole('alert').filter({ hasText: sentence })).toHaveCount(2)
  }
  expect((await subscriptionOf(program.url, email)).plan).toBe('free')
})

test('a pending payment is awaited, and cannot be paid twice', full, async ({ page, program, shop }) => {
  await open(page, program.url, shop, 'slow@banyan.example')
  const { provider } = shop.razorpay
  const dialog = page.getByRole('dialog', { name: 'Subscribe to Pro' })
  let paid = ''
  await page.route('**/v1/checkout/act', async (route) => {
    const { order_id: orderId } = route.request().postDataJSON() as { order_id: string }
    const payment = provider.payOrder(orderId, { outcome: 'authorized' })
    paid = payment.id
    await route.fulfill({ json: provider.proofOf(payment, { orderId }) })
  })
  await dialog.getByRole('button', { name: 'Pay Once - ₹4/month' }).click()
  await checkoutOf(page).getByRole('button', { name: 'Pay' }).click()
  const waiting = 'Your payment is not complete yet. Your plan starts automatically once it is. Please do not pay again.'
  await expect(dialog.getByRole('alert')).toHaveText(waiting)
  await expect(dialog.getByRole('button', { name: 'Pay Once - ₹4/month' })).toBeDisabled()
  provider.capture(paid)
  await expect(page.getByText('Payment successful! Your subscription is now active.')).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveCount(0)
})

test('a browser that closes after paying finds its plan when it returns', full, async ({ page, program, shop }) => {
  const email = 'dies@banyan.example'
  await open(page, program.url, shop, email)
  await page.getByRole('button', { name: 'Pay Once - ₹4/month' }).click()
  await checkoutOf(page).getByRole('button', { name: 'Pay' }).waitFor()
  await page.goto('about:blank')
  const order = [...shop.razorpay.provider.orders.values()].at(-1)
  shop.razorpay.pay(order?.id ?? '')
  await expect.poll(async () => (await subscriptionOf(program.url, email)).plan).toBe('pro')
  await page.goto('/pricing')
  await expect(page.getByRole('region', { name: 'Pro' }).getByRole('button', { name: 'Current Plan' })).toBeDisabled()
})

test('a subscription started in the trial charges nothing yet and is cancelled in the dialog', full, async ({ page, program, shop }) => {
  const email = 'trial@banyan.example'
  await open(page, program.url, shop, email)
  const dialog = page.getByRole('dialog', { name: 'Subscribe to Pro' })
  await dialog.getByRole('radio', { name: 'Auto-Recurring' }).check()
  const { trialEnd } = await subscriptionOf(program.url, email)
  await expect(dialog.getByText(`No charge today. Next charge: ₹4 on ${inDays(trialEnd ?? '')}, then every month.`)).toBeVisible()
  await dialog.getByRole('button', { name: 'Subscribe - ₹4/month' }).click()
  await checkoutOf(page).getByRole('button', { name: 'Pay' }).click()
  await expect(page.getByText(`Subscription activated successfully! Your first payment is on ${inDays(trialEnd ?? '')}.`)).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  expect((await subscriptionOf(program.url, email)).status).toBe('trialing')
  expect(await paymentsOf(program.url, email)).toEqual([])

  await page.getByRole('button', { name: 'Manage Pro' }).click()
  const own = page.getByRole('dialog', { name: 'Subscribe to Pro' })
  await expect(own.getByText(`First payment: ₹4 on ${inDays(trialEnd ?? '')}, then every month.`)).toBeVisible()
  await own.getByRole('button', { name: 'Cancel Subscription' }).click()
  const asked = page.getByRole('dialog', { name: 'Cancel Subscription' })
  await expect(asked.getByText('Are you sure you want to cancel your subscription?')).toBeVisible()
  const stays = `You won’t be charged. Pro stays active until your free trial ends on ${inDays(trialEnd ?? '')}. Your data is kept.`
  await expect(asked.getByText(stays)).toBeVisible()

  shop.razorpay.answer(() => ({ status: 502, html: 'Bad Gateway' }))
  await asked.getByRole('button', { name: 'Cancel Subscription' }).click()
  const failed = 'Failed to cancel subscription. The payment provider is not responding correctly. Please try again in a few minutes.'
  await expect(asked.getByRole('alert')).toHaveText(failed)
  await expect(page.getByRole('alert').filter({ hasText: failed })).toHaveCount(2)
  expect((await subscriptionOf(program.url, email)).plan).toBe('pro')

  let go = () => {}
  const held = new Promise<void>((done) => (go = done))
  shop.razorpay.answer(async () => {
    await held
    return undefined
  })
  await asked.getByRole('button', { name: 'Cancel Subscription' }).click()
  await expect(asked.getByRole('button', { name: 'Cancelling...' })).toBeVisible()
  go()
  await expect(page.getByText('Subscription cancelled successfully')).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(page.getByRole('button', { name: 'Choose Pro' })).toBeVisible()
  expect((await subscriptionOf(program.url, email)).plan).toBe('free')
  expect([...shop.razorpay.provider.subscriptions.values()].at(-1)?.status).toBe('cancelled')
})

test('a monthly subscription is cancelled on the profile and stays active until the date shown', full, async ({ page, program, shop }) => {
  const email = 'monthly@banyan.example'
  await open(page, program.url, shop, email, 'Enterprise')
  const dialog = page.getByRole('dialog', { name: 'Subscribe to Enterprise' })
  await dialog.getByRole('radio', { name: 'Auto-Recurring' }).check()
  await dialog.getByRole('button', { name: 'Subscribe - ₹9/month' }).click()
  // Without the provider's record there is no date of the next charge to show.
  await page.route('**/subscription', (route) => route.abort())
  await checkoutOf(page).getByRole('button', { name: 'Pay' }).click()
  await expect(page.getByText('Subscription activated successfully! We will contact you for auto-renewal setup.')).toBeVisible()
  await page.unroute('**/subscription')
  const { provider } = shop.razorpay
  // The trial is over: the first charge comes.
  provider.hasten([...provider.subscriptions.values()].at(-1)?.id ?? '')
  await expect.poll(async () => (await subscriptionOf(program.url, email)).status).toBe('active')
  const end = inDays((await subscriptionOf(program.url, email)).currentPeriodEnd ?? '')

  await page.goto('/dashboard/profile?tab=subscription')
  const panel = page.getByRole('tabpanel', { name: 'Subscription' })
  await expect(panel.getByText('₹9 per month')).toBeVisible()
  await expect(panel.getByText('Next payment')).toBeVisible()
  await expect(panel.getByRole('row', { name: /Enterprise, monthly.*₹9\.00.*Paid/ })).toBeVisible()
  await panel.getByRole('button', { name: 'Cancel Subscription' }).click()
  const asked = page.getByRole('dialog', { name: 'Cancel Subscription' })
  await expect(asked.getByText(`Enterprise stays active until ${end}.`)).toBeVisible()
  await asked.getByRole('button', { name: 'Keep Plan' }).click()
  await panel.getByRole('button', { name: 'Cancel Subscription' }).click()
  await asked.getByRole('button', { name: 'Cancel Subscription' }).click()
  await expect(page.getByText('Subscription cancelled successfully')).toBeVisible()
  await expect(panel.getByText('Ends on')).toBeVisible()
  await expect(panel.getByText(end, { exact: true })).toBeVisible()
  await expect(panel.getByRole('button', { name: 'Cancel Subscription' })).toHaveCount(0)
})

test('a failed charge is shown with the plan, and the plan stays active', full, async ({ page, program, shop }) => {
  const email = 'arrears@banyan.example'
  await open(page, program.url, shop, email)
  await page.getByRole('dialog').getByRole('radio', { name: 'Auto-Recurring' }).check()
  await page.getByRole('button', { name: 'Subscribe - ₹4/month' }).click()
  await checkoutOf(page).getByRole('button', { name: 'Pay' }).click()
  await expect(page.getByText(/^Subscription activated successfully!/)).toBeVisible()
  const { provider } = shop.razorpay
  const id = [...provider.subscriptions.values()].at(-1)?.id ?? ''
  const becomes = (status: Subscription['status']) =>
    expect.poll(async () => (await subscriptionOf(program.url, email)).status).toBe(status)
  provider.hasten(id)
  await becomes('active')
  provider.setCard(id, 'bad')
  provider.hasten(id)
  await becomes('past_due')
  const { currentPeriodEnd, entitlements } = await subscriptionOf(program.url, email)
  expect(entitlements.plan).toBe('pro')

  const message = 'Your last payment for Pro failed. We’ll try again over the next few days; your plan stays active until then.'
  await page.goto('/dashboard/profile?tab=subscription')
  await expect(page.getByText(message)).toBeVisible()
  const panel = page.getByRole('tabpanel', { name: 'Subscription' })
  await expect(panel.getByText('Payment overdue', { exact: true })).toBeVisible()
  await expect(panel.getByText('Payment was due on')).toBeVisible()
  await expect(panel.getByText('Next payment')).toHaveCount(0)
  await page.goto('/pricing?plan=pro')
  const due = `The payment of ₹4 for another month, due on ${inDays(currentPeriodEnd ?? '')}, failed. It will be retried over the next few days.`
  await expect(page.getByRole('dialog', { name: 'Subscribe to Pro' }).getByText(due)).toBeVisible()
})

test('changing from Pro to Enterprise shows the credit before paying and charges the exact rest', full, async ({ page, program, shop }) => {
  const email = 'upgrade@banyan.example'
  await open(page, program.url, shop, email)
  await page.getByRole('button', { name: 'Pay Once - ₹4/month' }).click()
  await checkoutOf(page).getByRole('button', { name: 'Pay' }).click()
  await expect(page.getByText('Payment successful! Your subscription is now active.')).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveCount(0)

  await page.getByRole('button', { name: 'Choose Enterprise' }).click()
  const dialog = page.getByRole('dialog', { name: 'Subscribe to Enterprise' })
  // All but the seconds since are left of the ₹4.
  await expect(dialog.getByText('Credit from Pro', { exact: true })).toBeVisible()
  await expect(dialog.getByText('−₹3.99')).toBeVisible()
  await expect(dialog.getByText('₹5.01', { exact: true })).toBeVisible()
  await expect(dialog.getByText(/^Includes a ₹3\.99 credit from your current Pro plan\./)).toBeVisible()
  await dialog.getByRole('button', { name: 'Pay Once - ₹5.01 now' }).click()
  await expect(checkoutOf(page).getByText('₹5.01')).toBeVisible()
  await checkoutOf(page).getByRole('button', { name: 'Pay' }).click()
  await expect(page.getByRole('region', { name: 'Enterprise' }).getByRole('button', { name: 'Current Plan' })).toBeDisabled()
  expect((await paymentsOf(program.url, email)).map(({ amount }) => amount)).toEqual([5.01, 4])
})

test('switching to Free names what ends, asks, and leads to the dashboard', full, async ({ page, program, shop }) => {
  const email = 'free@banyan.example'
  await open(page, program.url, shop, email)
  await page.getByRole('dialog').getByRole('radio', { name: 'Auto-Recurring' }).check()
  await page.getByRole('button', { name: 'Subscribe - ₹4/month' }).click()
  await checkoutOf(page).getByRole('button', { name: 'Pay' }).click()
  await expect(page.getByText(/^Subscription activated successfully!/)).toBeVisible()
  const { provider } = shop.razorpay
  provider.hasten([...provider.subscriptions.values()].at(-1)?.id ?? '')
  await expect.poll(async () => (await subscriptionOf(program.url, email)).status).toBe('active')
  const end = inDays((await subscriptionOf(program.url, email)).currentPeriodEnd ?? '')

  await page.goto('/pricing')
  await page.getByRole('button', { name: 'Get Started Free' }).click()
  const asked = page.getByRole('dialog', { name: 'Switch to Free' })
  await expect(asked.getByText(`Pro is paid until ${end}. Switching now ends it immediately, without a refund.`)).toBeVisible()
  await expect(asked.getByText(/^Your invoices stay\. Your free trial continues until /)).toBeVisible()
  await asked.getByRole('button', { name: 'Keep Pro' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)

  shop.razorpay.answer(() => 'reset')
  await page.getByRole('button', { name: 'Get Started Free' }).click()
  await asked.getByRole('button', { name: 'Switch to Free' }).click()
  const failed = /^Failed to activate free plan: The plan was not ended\. /
  await expect(asked.getByRole('alert')).toHaveText(failed)
  await expect(page.getByRole('alert').filter({ hasText: failed })).toHaveCount(2)
  shop.razorpay.answer(() => undefined)
  await asked.getByRole('button', { name: 'Switch to Free' }).click()
  await expect(page).toHaveURL(/\/dashboard$/)
  await expect(page.getByText('Successfully switched to Free plan!')).toBeVisible()
  expect((await subscriptionOf(program.url, email)).plan).toBe('free')
  // The account is new: its trial continues, and nothing was taken away.
  await expect(page.getByText('Your plan has ended')).toBeHidden()
})

test('a checkout that does not load shows an error and can be retried', full, async ({ page, program, shop }) => {
  const email = 'blocked@banyan.example'
  await signIn(page, program.url, email)
  await page.route('**/v1/checkout.js', (route) => route.abort())
  await page.goto('/pricing?plan=pro')
  const dialog = page.getByRole('dialog', { name: 'Subscribe to Pro' })
  const { host } = new URL(shop.razorpay.settings.checkoutUrl)
  await expect(dialog.getByRole('alert')).toContainText(`Couldn’t load the payment window from ${host}.`)
  await expect(dialog.getByRole('button', { name: 'Pay Once - ₹4/month' })).toBeDisabled()
  await dialog.getByRole('button', { name: 'Try again' }).click()
  await expect(dialog.getByRole('alert')).toContainText('Couldn’t load')
  await page.unroute('**/v1/checkout.js')
  await dialog.getByRole('button', { name: 'Try again' }).click()
  await expect(dialog.getByRole('button', { name: 'Pay Once - ₹4/month' })).toBeEnabled()
  await expect(dialog.getByRole('alert')).toHaveCount(0)
})

test('the recorded payments match what the provider charged', async ({ program, shop }) => {
  let sum = 0
  for (const email of shop.people)
    for (const { amount, status } of await paymentsOf(program.url, email)) if (status === 'captured') sum += Math.round(amount * 100)
  expect(sum).toBeGreaterThan(0)
  expect(sum).toBe(shop.razorpay.provider.taken())
})

test('the limits of Free are shown before they are reached', full, async ({ browser, shop, smtp }) => {
  // It starts the program twice.
  const folder = await mkdtemp(path.join(tmpdir(), 'duely-limits-'))
  const email = 'limits@banyan.example'
  const env = { DATA_DIR: folder, ...settingsFor(shop.razorpay) }
  {
    await using first = await startProgram(env)
    const { send } = await someoneAt(first.url, email)
    await send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
    await send('POST', '/reminder/start')
    await first.end('SIGTERM')
  }
  await makeOlder(folder, { email, days: 14, invoicesThisMonth: 48 })
  await using program = await startProgram(env)
  const someone = await someoneAt(program.url, email)
  const invoice = { clientName: 'Kaveri Foods', clientEmail: 'accounts@kaveri.example', amount: 1200, dueDate: '2026-01-02' }
  const page = await browser.newPage({ baseURL: program.url })
  await signIn(page, program.url, email)
  await page.goto('/dashboard')
  const bell = page.getByRole('button', { name: 'Notifications', exact: true })
  const known = page.getByRole('dialog', { name: 'Notifications' })
  await bell.click()
  await expect(known.getByText('On hold: daily reminders need Pro')).toBeVisible()
  await page.goto('/dashboard/reminder-control')
  await expect(page.getByText('On hold: daily reminders need Pro')).toBeVisible()
  await expect(page.getByRole('main').getByRole('link', { name: 'Choose Pro' })).toBeVisible()
  await page.getByRole('button', { name: 'Stop Reminders' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stop Reminders' }).click()
  await expect(page.getByText('Reminders stopped successfully!')).toBeVisible()
  await page.goto('/dashboard')
  await bell.click()
  await expect(known.getByText('Your free trial has ended', { exact: true })).toBeVisible()
  await expect(known.getByText('48 of 50 invoices this month')).toBeVisible()
  await expect(known.getByText('You can create 2 more invoices this month on Free. Pro has no limit.')).toBeVisible()
  await page.keyboard.press('Escape')
  await someone.send('POST', '/invoice', invoice)
  await someone.send('POST', '/invoice', invoice)
  await page.getByRole('link', { name: 'Create Invoice' }).first().click()
  await bell.click()
  await expect(known.getByText('50 of 50 invoices this month')).toBeVisible()
  await page.keyboard.press('Escape')
  await page.getByLabel('Client Name').fill('Kaveri Foods')
  await page.getByLabel('Client Email').fill('accounts@kaveri.example')
  await page.getByLabel('Amount').fill('1200')
  await page.getByLabel('Due Date').first().fill('02/01/2026')
  await page.getByRole('button', { name: 'Create Invoice' }).click()
  await expect(
    page.getByRole('alert').filter({ hasText: /^Free includes 50 invoices a month, and you have created as many\. Pro has no limit\./ }),
  ).toBeVisible()

  await page.goto('/dashboard/profile?tab=subscription')
  await expect(page.getByText('50 of 50 used')).toBeVisible()
  await expect(page.getByText(/^Ended on /)).toBeVisible()

  await page.goto('/pricing')
  await expect(page.getByText('Your plan: Free')).toBeVisible()
  await page.getByRole('button', { name: 'Start Enterprise Trial' }).click()
  await expect(page.getByText('₹9 today. No further charge.', { exact: true })).toBeVisible()
  await page.getByRole('radio', { name: 'Auto-Recurring' }).check()
  await expect(page.getByText(/^₹9 today\. Next charge: ₹9 on \d\d\/\d\d\/\d{4}, then every month\.$/)).toBeVisible()

  await page.goto('/dashboard/reminder-control')
  await page.getByRole('button', { name: 'Start Reminders' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Start Reminders' }).click()
  await expect(
    page
      .getByRole('alert')
      .filter({ hasText: /^Failed to start reminders: Daily reminders need Pro: choose it under Pricing\./ })
      .first(),
  ).toBeVisible()
  await bell.click()
  await known
    .getByRole('link', { name: /^Choose Pro/ })
    .first()
    .click()
  await expect(page.getByRole('dialog', { name: 'Subscribe to Pro' })).toBeVisible()

  await page.getByRole('button', { name: 'Pay Once - ₹4/month' }).click()
  await checkoutOf(page).getByRole('button', { name: 'Pay' }).click()
  await expect(page.getByText('Payment successful! Your subscription is now active.')).toBeVisible()
  await page.getByRole('button', { name: 'Get Started Free' }).click()
  const asked = page.getByRole('dialog', { name: 'Switch to Free' })
  await expect(
    asked.getByText('Your invoices stay. On Free, daily reminders are on hold and you can create up to 50 invoices a month.'),
  ).toBeVisible()
  await asked.getByRole('button', { name: 'Switch to Free' }).click()
  await expect(page).toHaveURL(/\/dashboard$/)
  await bell.click()
  await known.getByRole('button', { name: 'Dismiss: Your plan has ended' }).click()
  await expect(known.getByText('Your plan has ended')).toBeHidden()
  await page.reload()
  await expect(page.getByRole('heading', { name: 'Dashboard' })).toBeVisible()
  await expect(page.getByText('50 of 50 invoices this month')).toBeVisible()
  await expect(page.getByText('Your plan has ended')).toBeHidden()
  await page.close()
  await program.end('SIGTERM')
  await rm(folder, { recursive: true, force: true })
})
