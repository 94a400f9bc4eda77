import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@playwright/test'
import { type FakeRazorpay, openFakeRazorpay } from '#test/fakes/razorpay/server.ts'
import { full } from './duely.ts'

// The fake checkout must behave like the provider's, because other tests pay in it.

/** A page that opens the checkout and records its callbacks. */
async function openPage(razorpay: FakeRazorpay, options: Record<string, unknown>): Promise<{ url: string } & AsyncDisposable> {
  const page = `<!doctype html><title>Shop</title><ol></ol><script src="${razorpay.settings.checkoutUrl}"></script><script>
    const note = (text) => document.querySelector('ol').append(Object.assign(document.createElement('li'), { textContent: text }))
    const checkout = new Razorpay({ ...${JSON.stringify(options)}, handler: (body) => note('paid ' + JSON.stringify(body)), modal: { ondismiss: () => note('dismissed') } })
    checkout.on('payment.failed', ({ error }) => note('failed ' + error.reason + ' ' + error.metadata.order_id))
    checkout.open()</script>`
  const server = http.createServer((_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(page))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const about = (razorpay: FakeRazorpay) => ({
  key: razorpay.settings.keyId,
  name: 'Duely',
  description: 'Pro, monthly',
  prefill: { name: 'Asha Rao', email: 'asha@example.com' },
  theme: { color: '#2563eb' },
})

test('a failed attempt keeps the checkout open; paying closes it and returns the proof', full, async ({ page }) => {
  await using razorpay = await openFakeRazorpay()
  const order = razorpay.provider.createOrder({ amount: 400, currency: 'INR' })
  await using shop = await openPage(razorpay, { ...about(razorpay), order_id: order.id, amount: 400, currency: 'INR' })
  await page.goto(shop.url)
  const checkout = page.frameLocator('iframe[title=Checkout]')
  await expect(checkout.getByRole('heading', { name: 'Duely' })).toBeVisible()
  for (const text of ['Pro, monthly', '₹4', 'Asha Rao', 'asha@example.com'])
    await expect(checkout.getByText(text, { exact: true })).toBeVisible()
  await checkout.getByRole('button', { name: 'Fail' }).click()
  await expect(checkout.getByRole('alert')).toHaveText('Your payment has been cancelled by the bank. Try again or use another method.')
  await checkout.getByRole('button', { name: 'Pay' }).click()
  await expect(page.locator('iframe')).toHaveCount(0)
  const [failed, paid] = await page.getByRole('listitem').allTextContents()
  expect(failed).toBe(`failed payment_failed ${order.id}`)
  const [payment] = [...razorpay.provider.payments.values()].filter(({ status }) => status === 'captured')
  expect(paid).toBe(`paid ${JSON.stringify(razorpay.provider.proofOf(payment ?? razorpay.provider.payOrder(''), { orderId: order.id }))}`)
})

test('closing the checkout notifies the page, by the button and by Escape', full, async ({ page }) => {
  await using razorpay = await openFakeRazorpay()
  const plan = razorpay.provider.createPlan({ period: 'monthly', interval: 1, item: { name: 'Pro', amount: 400, currency: 'INR' } })
  const subscription = razorpay.provider.createSubscription({ plan_id: plan.id, total_count: 12 })
  await using shop = await openPage(razorpay, { ...about(razorpay), subscription_id: subscription.id })
  for (const close of ['button', 'key']) {
    await page.goto(shop.url)
    const button = page.frameLocator('iframe[title=Checkout]').getByRole('button', { name: 'Close' })
    if (close === 'button') await button.click()
    else await button.press('Escape')
    await expect(page.getByRole('listitem')).toHaveText(['dismissed'])
    await expect(page.locator('iframe')).toHaveCount(0)
  }
  expect(subscription.status).toBe('created')
})

test('an amount that differs from the order cannot be paid', full, async ({ page }) => {
  await using razorpay = await openFakeRazorpay()
  const order = razorpay.provider.createOrder({ amount: 400, currency: 'INR' })
  await using shop = await openPage(razorpay, { ...about(razorpay), order_id: order.id, amount: 100, currency: 'INR' })
  await page.goto(shop.url)
  const checkout = page.frameLocator('iframe[title=Checkout]')
  await expect(checkout.getByRole('alert')).toHaveText('The amount does not match the order.')
  await expect(checkout.getByRole('button', { name: 'Pay' })).toHaveCount(0)
})
