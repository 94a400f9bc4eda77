import { someoneAt } from '#test/program.ts'
import { expect, test } from './duely.ts'

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

test('the keyboard opens, walks and closes a menu, which returns the focus', async ({ page, program }) => {
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
