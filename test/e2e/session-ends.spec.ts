import { someoneAt } from '#test/program.ts'
import { expect, full, test } from './duely.ts'
import { signIn } from './sign-in.ts'

test('signing out in one window leads all others to the sign-in page, even from an unsaved form', async ({ page, context, program }) => {
  await someoneAt(program.url, 'two-windows@banyan.example')
  await page.goto('/signin')
  await page.getByLabel('Email').fill('two-windows@banyan.example')
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery')
  await page.getByRole('main').getByRole('button', { name: 'Sign In' }).click()
  await expect(page.getByText('No invoices yet')).toBeVisible()
  await page.getByRole('link', { name: 'Create Invoice' }).first().click()
  await page.getByRole('combobox', { name: 'Client Name' }).fill('Kaveri Foods')

  const other = await context.newPage()
  await other.goto('/dashboard')
  await other.getByRole('button', { name: /^Account of/ }).click()
  await other.getByRole('menuitem', { name: 'Sign Out' }).click()
  await expect(other).toHaveURL(/\/$/)
  await expect(page).toHaveURL(/\/signin$/)
  await expect(page.getByRole('heading', { name: 'Sign in to Duely' })).toBeVisible()
})

test(
  'loading a page renews the access token in the background, at most once a minute in all tabs',
  full,
  async ({ page, context, program }) => {
    const asked: string[] = []
    context.on('request', (request) => {
      if (new URL(request.url()).pathname === '/auth/refresh') asked.push(request.method())
    })
    await signIn(page, program.url)
    // Two tokens made within one second are equal, so the time of the renewal shows it.
    const renewedAt = () => page.evaluate(() => Number(localStorage.getItem('duely-renewed')))
    await page.goto('/dashboard')
    await expect.poll(renewedAt).toBeGreaterThan(0)
    const other = await context.newPage()
    await other.goto('/features')
    await expect(other.getByRole('button', { name: /^Account of/ })).toBeVisible()
    await page.reload()
    await expect(page.getByText('No invoices yet')).toBeVisible()
    expect(asked).toHaveLength(1)
    // More than a minute later.
    const earlier = await page.evaluate(() => Date.now() - 61_000)
    await page.evaluate((at) => localStorage.setItem('duely-renewed', String(at)), earlier)
    await page.reload()
    await expect.poll(renewedAt).toBeGreaterThan(earlier)
    expect(asked).toHaveLength(2)
    await expect(page.getByText('No invoices yet')).toBeVisible()
  },
)

test('an answer with a new access token that breaks off, as when its page is left, ends no session', full, async ({ page, program }) => {
  await signIn(page, program.url)
  await page.addInitScript(() => {
    const send = window.fetch
    window.fetch = (input, init) =>
      input === '/auth/refresh'
        ? Promise.resolve(new Response(new ReadableStream({ start: (body) => body.error(new TypeError('Failed to fetch')) })))
        : send(input, init)
  })
  await page.goto('/dashboard')
  await expect(page.getByText('No invoices yet')).toBeVisible()
  await page.reload()
  await expect(page.getByText('No invoices yet')).toBeVisible()
})

test('on a phone a message appears at the bottom of the window', full, async ({ page, program }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  const someone = await signIn(page, program.url)
  const late = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 500, dueDate: '2026-01-02' }
  await someone.send('POST', '/invoice', late)
  await page.goto('/dashboard')
  await page.getByRole('button', { name: /^Mark as paid: INV-0001/ }).click()
  const message = page.getByRole('status').filter({ hasText: 'INV-0001 is paid.' })
  await expect(message).toBeVisible()
  const box = await message.boundingBox()
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeGreaterThan(800)
  await message.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByRole('button', { name: 'Paid (0)', exact: true })).toBeVisible()
})

test('the keyboard opens, walks and closes a menu, which returns the focus', full, async ({ page, program }) => {
  await someoneAt(program.url, 'keys@banyan.example')
  await page.goto('/signin')
  await page.getByLabel('Email').fill('keys@banyan.example')
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery')
  await page.getByRole('main').getByRole('button', { name: 'Sign In' }).click()
  await expect(page.getByText('No invoices yet')).toBeVisible()
  const circle = page.getByRole('button', { name: /^Account of/ })
  for (const nth of ['first', 'second']) {
    await circle.focus()
    await page.keyboard.press('Enter')
    await expect(page.getByRole('menu'), `the ${nth} time`).toBeVisible()
    await page.keyboard.press('ArrowDown')
    await expect(page.locator('[role=menuitem]:focus'), `the ${nth} time`).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(page.getByRole('menu')).toBeHidden()
    await expect(circle).toBeFocused()
  }
})
