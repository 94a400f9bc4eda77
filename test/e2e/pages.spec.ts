import { expect, test } from './duely.ts'

for (const address of ['/', '/features', '/pricing', '/contact', '/signin', '/signup']) {
  test(`${address} is whole before and after its scripts have run`, async ({ page, request }) => {
    const written = await (await request.get(address, { headers: { accept: 'text/html' } })).text()
    expect(written).toContain('<h1')
    expect(written).not.toContain('__DUELY_NONCE__')
    const response = await page.goto(address)
    expect(response?.status()).toBe(200)
    await expect(page.locator('h1').first()).toBeVisible()
    await page.waitForLoadState('networkidle')
    // Written in our own letters, not in those that stand in for them.
    const used = await page.evaluate(async () =>
      [...(await document.fonts.ready)].filter(({ status }) => status === 'loaded').map(({ family }) => family),
    )
    expect(used).toEqual(expect.arrayContaining(['Inter Variable', 'Bricolage Grotesque Variable']))
  })
}

test('every page has a nonce of its own', async ({ request }) => {
  const nonceOf = async () => /'nonce-([^']+)'/.exec((await request.get('/signin')).headers()['content-security-policy'] ?? '')?.[1]
  const [one, other] = [await nonceOf(), await nonceOf()]
  expect(one).toMatch(/^[\w+/=]{20,}$/)
  expect(one).not.toBe(other)
})

test('an address where nothing is says so, with status 404', async ({ page }) => {
  const response = await page.goto('/no-such-page')
  expect(response?.status()).toBe(404)
  await expect(page).toHaveTitle(/Duely/)
  await expect(page.getByRole('heading').first()).toBeVisible()
})

test('a stranger on the dashboard is led to the sign-in page', async ({ page }) => {
  await page.goto('/dashboard')
  await expect(page).toHaveURL(/\/signin/)
})
