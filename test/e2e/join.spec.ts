import { someoneAt } from '#test/program.ts'
import { newEmail } from './sign-in.ts'
import { confirmEmail, expect, linkIn, test } from './with-google.ts'

test('an invited stranger signs up, confirms their email, comes back to the invitation and joins', async ({ page, program, post }) => {
  const inviting = newEmail()
  const owner = await someoneAt(program.url, inviting)
  await confirmEmail(program.url, post, inviting)
  const invite = async (email: string) => (await owner.send('POST', '/business/invitations', { email, role: 'viewer' })) as { link: string }
  const [email, other] = [newEmail(), newEmail()]
  await page.goto((await invite(email)).link)
  await page.getByRole('link', { name: 'Sign Up' }).click()
  await expect(page.getByLabel('Email')).toHaveValue(email)
  await page.getByLabel('Full Name').fill('Kiran Shah')
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery')
  await page.getByRole('button', { name: 'Sign Up' }).click()
  await expect(page.getByText('Confirm your email, then join')).toBeVisible()
  await page.getByRole('button', { name: 'Join' }).click()
  await expect(page.getByRole('button', { name: 'Join' })).toBeEnabled()
  await expect(page.getByText('Confirm your email, then join')).toBeVisible()

  // The link of an email opens another tab.
  const tab = await page.context().newPage()
  await tab.goto(await linkIn(post, email, 'Confirm your email for Duely'))
  await tab.getByRole('button', { name: 'Confirm Email' }).click()
  await tab.getByRole('link', { name: 'Back to the Invitation' }).click()
  await tab.getByRole('button', { name: 'Join' }).click()
  await tab.waitForURL('**/dashboard')
  await expect(tab.getByRole('banner').getByRole('link', { name: 'Asha Rao Viewer' })).toBeVisible()

  // An invitation for another person: signing out ends the session on the server too.
  await tab.goto((await invite(other)).link)
  await expect(tab.getByText(`This invitation is for ${other}. You are signed in as ${email}.`)).toBeVisible()
  await tab.getByRole('button', { name: 'Sign out' }).click()
  await tab.getByRole('link', { name: 'Sign In' }).last().click()
  await expect(tab.getByLabel('Email')).toHaveValue(other)
  expect((await tab.context().cookies()).filter(({ name }) => name === 'refreshToken')).toEqual([])
})
