import { expect, full, test } from './duely.ts'
import { signIn } from './sign-in.ts'

const alike = ['/features', '/contact', '/privacy', '/signup']
for (const address of ['/', '/pricing', '/signin', ...alike]) {
  test(`${address} is complete before and after hydration`, alike.includes(address) ? full : {}, async ({ page, request }) => {
    const written = await (await request.get(address, { headers: { accept: 'text/html' } })).text()
    expect(written).toContain('<h1')
    expect(written).not.toContain('__DUELY_NONCE__')
    const response = await page.goto(address)
    expect(response?.status()).toBe(200)
    await expect(page.locator('h1').first()).toBeVisible()
    await page.waitForLoadState('networkidle')
    // In the product's own fonts, not in the fallback ones.
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

test('an unknown address answers 404 with a page', async ({ page }) => {
  const response = await page.goto('/no-such-page')
  expect(response?.status()).toBe(404)
  await expect(page).toHaveTitle(/Duely/)
  await expect(page.getByRole('heading', { name: 'Page not found' })).toBeVisible()
  await page.getByRole('link', { name: 'Go to the home page' }).click()
  await expect(page).toHaveURL(/\/$/)
  await expect(page.getByRole('link', { name: 'Get Started' }).first()).toBeVisible()
})

test('every public page has its own title, description, canonical address, share image and icons', async ({ request, baseURL }) => {
  const heads = await Promise.all(
    ['/', '/features', '/pricing', '/contact', '/privacy', '/signin', '/signup'].map(async (address) => {
      const html = await (await request.get(address, { headers: { accept: 'text/html' } })).text()
      const meta = (name: string) => new RegExp(`<meta (?:name|property)="${name}" content="([^"]+)"`).exec(html)?.[1]
      const title = /<title>([^<]+)<\/title>/.exec(html)?.[1]
      expect(/<link rel="canonical" href="([^"]+)"/.exec(html)?.[1], address).toBe(`${baseURL}${address}`)
      expect(meta('og:title'), address).toBe(title)
      expect(meta('og:description'), address).toBe(meta('description'))
      expect(meta('og:image'), address).toBe(`${baseURL}/share.png`)
      for (const [, icon] of html.matchAll(/<link rel="(?:icon|apple-touch-icon|manifest)" href="([^"]+)"/g))
        expect((await request.get(icon ?? '')).status(), icon).toBe(200)
      return { title, description: meta('description') }
    }),
  )
  for (const part of ['title', 'description'] as const) {
    expect(heads.map((head) => head[part] ?? '').filter((words) => words.length < 5)).toEqual([])
    expect(new Set(heads.map((head) => head[part])).size).toBe(heads.length)
  }
})

test('the start page is the dashboard for signed-in visitors', async ({ page, program }) => {
  await signIn(page, program.url, 'at-home@banyan.example')
  await page.goto('/')
  await expect(page).toHaveURL(/\/dashboard$/)
  await expect(page.getByText('No invoices yet')).toBeVisible()
})

test('the footer names the owner; where the operator set no address, nothing leads to one', async ({ page }) => {
  await page.goto('/features')
  const footer = page.getByRole('contentinfo')
  await expect(footer.getByText(`© ${new Date().getFullYear()} Duely`)).toBeVisible()
  await expect(footer.getByText('Made with love for businesses')).toBeVisible()
  for (const name of ['Support', 'Terms']) await expect(footer.getByRole('link', { name })).toHaveCount(0)
  await expect(page.getByRole('banner').getByRole('link', { name: 'Contact' })).toHaveCount(0)
  await footer.getByRole('link', { name: 'Privacy' }).click()
  await expect(page.getByRole('heading', { name: 'Privacy', level: 1 })).toBeVisible()
  await expect(page.getByRole('rowheader', { name: 'payments', exact: true })).toBeVisible()
  await page.goto('/pricing')
  await expect(page.getByRole('link', { name: 'Contact Sales' })).toHaveCount(0)
  await page.goto('/signup')
  await expect(page.getByRole('main').getByRole('link', { name: 'Privacy' })).toBeVisible()
  await expect(page.getByRole('main').getByRole('link', { name: 'Terms' })).toHaveCount(0)
})

test('the public pages show screenshots of the product, in the theme of the page', async ({ page }) => {
  for (const [address, picture] of [
    ['/', /^The dashboard: /],
    ['/features', /^Reminder Control: /],
  ] as const) {
    await page.goto(address)
    const shown = page.getByRole('img', { name: picture })
    await shown.scrollIntoViewIfNeeded()
    await expect.poll(() => shown.evaluate((image: HTMLImageElement) => image.complete && image.naturalWidth)).toBe(1280)
    await expect(shown).toHaveAttribute('src', /-dark-/)
  }
})

test('the dashboard leads signed-out visitors to the sign-in page', async ({ page }) => {
  await page.goto('/dashboard')
  await expect(page).toHaveURL(/\/signin/)
})

test('without a payment provider nothing is sold and nothing is limited', full, async ({ page, program }) => {
  await signIn(page, program.url, 'own-server@banyan.example')
  await page.goto('/pricing')
  await expect(page.getByText('Payments are not set up on this server.')).toBeVisible()
  await expect(page.getByText('Included on this server')).toHaveCount(2)
  await expect(page.getByRole('button', { name: /Trial$/ })).toHaveCount(0)
  await page.goto('/dashboard/profile?tab=subscription')
  await expect(page.getByText(/^Payments are not set up on this server\. Nothing is limited here/)).toBeVisible()
  await expect(page.getByText('Billing history')).toHaveCount(0)
  await page.goto('/dashboard/reminder-control')
  await expect(page.getByRole('button', { name: 'Start Reminders' })).toBeVisible()
  await expect(page.getByText(/\bPro\b/)).toHaveCount(0)
})
