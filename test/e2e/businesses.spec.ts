import { expect, test } from './duely.ts'
import { newEmail, signIn } from './sign-in.ts'

test('a person adds a business, and each of two tabs works in its own', async ({ page, program, context }) => {
  await signIn(page, program.url, newEmail())
  await page.goto('/dashboard')
  await page.getByRole('button', { name: /^Account of/ }).click()
  await expect(page.getByText('Switch business')).toBeHidden()
  await page.getByRole('menuitem', { name: 'Business' }).click()
  await expect(page.getByRole('textbox', { name: 'Name of the business' })).toHaveValue('Asha Rao')

  const second = await context.newPage()
  await second.goto('/dashboard/business')
  await second.getByRole('button', { name: 'Add a business' }).click()
  const dialog = second.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Name of the business' }).fill('Banyan Press')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await second.waitForURL('**/dashboard')
  await second.goto('/dashboard/business')
  await expect(second.getByRole('textbox', { name: 'Name of the business' })).toHaveValue('Banyan Press')

  await expect(second.getByRole('banner').getByRole('link', { name: 'Banyan Press Owner' })).toBeVisible()

  // A new tab keeps to its first answer, and asks again where a later one is about the business that another tab chose meanwhile.
  const third = await context.newPage()
  const asked = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  await third.route(
    (url) => url.pathname === '/business',
    async (route) => {
      expect(route.request().headers()).not.toHaveProperty('duely-business')
      asked.resolve()
      await held.promise
      await route.fallback()
    },
    { times: 1 },
  )
  await third.goto('/dashboard/business')
  await expect(third.getByRole('banner').getByRole('link', { name: 'Banyan Press Owner' })).toBeVisible()
  await asked.promise
  await page.reload()
  await expect(page.getByRole('textbox', { name: 'Name of the business' })).toHaveValue('Asha Rao')
  held.resolve()
  await expect(third.getByRole('textbox', { name: 'Name of the business' })).toHaveValue('Banyan Press')
  await third.close()

  // The first tab stays where it is, whatever the second one chose.
  const name = page.getByRole('textbox', { name: 'Name of the business' })
  await expect(name).toHaveValue('Asha Rao')
  await name.fill('Banyan Studio')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('Business saved.')).toBeVisible()
  await second.reload()
  await expect(second.getByRole('textbox', { name: 'Name of the business' })).toHaveValue('Banyan Press')
  await expect(second.getByRole('button', { name: 'Switch to Banyan Studio' })).toBeVisible()

  await second.getByRole('button', { name: 'Delete this business' }).click()
  const confirm = second.getByRole('dialog')
  await confirm.getByRole('textbox', { name: 'Type Banyan Press to confirm' }).fill('Banyan Press')
  await confirm.getByRole('button', { name: 'Delete', exact: true }).click()
  await second.waitForURL('**/dashboard')
  await second.goto('/dashboard/business')
  await expect(second.getByRole('textbox', { name: 'Name of the business' })).toHaveValue('Banyan Studio')
  await expect(second.getByRole('button', { name: 'Delete this business' })).toBeHidden()
})
