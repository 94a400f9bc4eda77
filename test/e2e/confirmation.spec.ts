import type { Page } from '@playwright/test'
import { someoneAt } from '#test/program.ts'
import { newEmail } from './sign-in.ts'
import { confirmEmail, expect, linkIn, test } from './with-google.ts'

const password = 'correct horse battery'
const newPassword = 'lotus staple monsoon'

async function enterPassword(page: Page, secret: string): Promise<void> {
  await page.getByLabel('Password', { exact: true }).fill(secret)
  await page.getByRole('main').getByRole('button', { name: 'Sign In' }).click()
}

test('on another device someone signs in before they confirm their email, and ends a sign-up that is not theirs', async ({
  page,
  program,
  post,
}) => {
  const [mine, foreign] = [newEmail(), newEmail()]
  for (const email of [mine, foreign]) await someoneAt(program.url, email)
  await page.goto(await linkIn(post, mine, 'Confirm your email for Duely'))
  await expect(page.getByText(`Someone signed up for Duely with ${mine}.`)).toBeVisible()
  await expect(page.getByRole('button', { name: 'Confirm Email' })).toHaveCount(0)
  await page.getByRole('main').getByRole('link', { name: 'Sign In' }).click()
  await expect(page.getByLabel('Email')).toHaveValue(mine)
  await enterPassword(page, password)
  await page.getByRole('button', { name: 'Confirm Email' }).click()
  await expect(page.getByText(`${mine} is confirmed and is the email of your account.`)).toBeVisible()

  // The other email is theirs too, but they did not sign up with it.
  await page.goto(await linkIn(post, foreign, 'Confirm your email for Duely'))
  await expect(page.getByText(`This link is for ${foreign}. You are signed in as ${mine}.`)).toBeVisible()
  await page.getByRole('button', { name: 'This is not mine' }).click()
  await page.getByRole('button', { name: 'End This Sign-Up' }).click()
  await expect(page.getByText('The account is deleted.')).toBeVisible()
  await expect(someoneAt(program.url, foreign, newPassword)).resolves.toBeDefined()
})

test('after a reset password someone sees what has access, and removes what they do not know', async ({ page, program, post, smtp }) => {
  const email = newEmail()
  const someone = await someoneAt(program.url, email)
  await confirmEmail(program.url, post, email)
  const key = (name: string) =>
    someone
      .send('POST', '/api-keys', { name, scopes: ['read'], currentPassword: password })
      .catch(() => someone.send('POST', '/api-keys', { name, scopes: ['read'] }))
  await key('Bookkeeping')
  await key('Someone else’s')
  await someone.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  await page.goto('/forgot-password')
  await page.getByLabel('Email').fill(email)
  await page.getByRole('button', { name: 'Send Link' }).click()
  await page.goto(await linkIn(post, email, 'Reset your Duely password'))
  await page.getByLabel('New Password', { exact: true }).fill(newPassword)
  await page.getByLabel('Confirm New Password', { exact: true }).fill(newPassword)
  await page.getByRole('button', { name: 'Set New Password' }).click()
  await page.getByRole('main').getByRole('link', { name: 'Sign In' }).click()
  await page.getByLabel('Email').fill(email)
  await enterPassword(page, newPassword)
  await expect(page).toHaveURL(/\/dashboard\/access$/)
  await expect(page.getByRole('button', { name: 'Remove 3 Selected' })).toBeVisible()
  await page.getByRole('checkbox', { name: 'Bookkeeping' }).uncheck()
  await page.getByRole('checkbox', { name: smtp.login.user }).uncheck()
  await page.getByRole('button', { name: 'Remove 1 Selected' }).click()
  await expect(page.getByText('1 removed.')).toBeVisible()
  await expect(page).toHaveURL(/\/dashboard$/)
  const there = await someoneAt(program.url, email, newPassword)
  expect(await there.send('GET', '/api-keys')).toMatchObject([{ name: 'Bookkeeping' }])
  expect(await there.send('GET', '/mail-config')).toMatchObject({ configured: true })
  expect(await there.send('GET', '/user/profile')).toMatchObject({ accessToReview: false })
})
