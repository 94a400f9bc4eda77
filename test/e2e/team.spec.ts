import { expect, test } from './duely.ts'
import { newEmail, signIn } from './sign-in.ts'

test('an owner invites their accountant, who joins and may only look', async ({ page, program, browser }) => {
  const accountant = newEmail()
  await signIn(page, program.url, newEmail())
  await page.goto('/dashboard/business?tab=team')
  await expect(page.getByText('You work alone here. Invite a colleague, or let your accountant look on: a viewer is free.')).toBeVisible()
  await page.getByRole('textbox', { name: 'Email' }).fill(accountant)
  const sent = page.waitForResponse(
    (answered) => answered.url().endsWith('/business/invitations') && answered.request().method() === 'POST',
  )
  await page.getByRole('button', { name: 'Send invitation' }).click()
  const { link } = (await (await sent).json()) as { link: string }
  await expect(page.getByRole('button', { name: 'Copy invitation link' })).toBeVisible()
  await expect(page.getByRole('button', { name: `Revoke the invitation of ${accountant}` })).toBeVisible()

  const context = await browser.newContext({ baseURL: program.url })
  const other = await context.newPage()
  await other.goto(link)
  await expect(other.getByText('Asha Rao invites you to Asha Rao as viewer.')).toBeVisible()
  await expect(other).toHaveURL(/\/join$/)
  await other.getByRole('link', { name: 'Sign Up' }).click()
  await expect(other).toHaveURL(/\/signup$/)
  await signIn(other, program.url, accountant)
  await other.goto(link)
  await other.getByRole('button', { name: 'Join' }).click()
  await other.waitForURL('**/dashboard')
  await other.goto('/dashboard/business?tab=team')
  await expect(other.getByText('Only an admin or the owner of Asha Rao can do this. Ask Asha Rao.')).toBeVisible()
  await expect(other.getByRole('button', { name: 'Leave' })).toBeEnabled()
  await context.close()

  await page.reload()
  await page.getByRole('combobox', { name: 'Role of Asha Rao' }).selectOption('Member: invoices and sending by hand')
  await expect(page.getByRole('combobox', { name: 'Role of Asha Rao' })).toHaveValue('member')
  await page.getByRole('button', { name: 'Remove Asha Rao' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await expect(page.getByText('You work alone here.', { exact: false })).toBeVisible()
})
