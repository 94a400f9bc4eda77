import type { Page } from '@playwright/test'
import { accountCalls } from '#contract/accounts.ts'
import { stepOf, totpAt } from '#server/accounts/totp.ts'
import type { FakeGoogle } from '#test/fakes/google.ts'
import type { FakeSmtp } from '#test/fakes/smtp-server.ts'
import { someoneAt } from '#test/program.ts'
import { type Audit, auditWalk, closeMessages, dialog, fail, letGo, open } from './audit.ts'
import { full } from './duely.ts'
import { type Someone, signIn } from './sign-in.ts'
import { confirmEmail, expect, linkIn, test } from './with-google.ts'

const password = 'correct horse battery'
const other = 'lotus staple monsoon'

async function enter(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('main').getByRole('button', { name: 'Sign In' }).click()
}

/** Turns two-factor authentication on; `code` is valid in the next half minute. */
async function withSecondFactor(someone: Someone): Promise<{ code(): string; recoveryCodes: string[] }> {
  const { secret } = (await someone.send('POST', '/user/two-factor/start', { currentPassword: password })) as { secret: string }
  const step = stepOf(Temporal.Now.instant())
  const { recoveryCodes } = (await someone.send('POST', '/user/two-factor', { code: totpAt(secret, step) })) as { recoveryCodes: string[] }
  return { code: () => totpAt(secret, step + 1), recoveryCodes }
}

async function waysIn(page: Page, audit: Audit, url: string, post: FakeSmtp): Promise<void> {
  const email = 'meena@banyan.example'
  await someoneAt(url, email)
  await open(page, '/contact', 'Open')
  await audit.at('contact-support')
  await open(page, '/signup', 'Sign up with Google')
  await page.getByLabel('Full Name').fill('Nila Rao')
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill('password1')
  await expect(page.getByText('Weak', { exact: true })).toBeVisible()
  await audit.at('sign-up-weak')
  await page.getByLabel('Password', { exact: true }).fill(other)
  await expect(page.getByText('Strong', { exact: true })).toBeVisible()
  await page.getByRole('main').getByRole('button', { name: 'Sign Up' }).click()
  await expect(page.getByText(/^An account with this email already exists/)).toBeVisible()
  await audit.at('sign-up-taken')

  await open(page, '/forgot-password', 'Enter your email')
  await audit.at('forgot-password-asked')
  await page.getByLabel('Email').fill(email)
  await page.getByRole('button', { name: 'Send Link' }).click()
  await expect(page.getByText(/^If an account with this email exists/)).toBeVisible()
  await audit.at('forgot-password-sent')

  await open(page, '/reset-password', 'Request a New Link')
  await audit.at('reset-password-incomplete')
  const link = await linkIn(post, email, 'Reset your Duely password')
  await open(page, link, 'Set New Password')
  const [next, again] = ['New Password', 'Confirm New Password'].map((label) => page.getByLabel(label, { exact: true }))
  await next?.fill('password1')
  await again?.fill('password2')
  await expect(page.getByText(/^This is one of the most common passwords\./)).toBeVisible()
  await page.getByRole('button', { name: 'Set New Password' }).click()
  await expect(page.getByText('New passwords do not match')).toBeVisible()
  await audit.at('reset-password-refused')
  await next?.fill(other)
  await again?.fill(other)
  await page.getByRole('button', { name: 'Set New Password' }).click()
  await expect(page.getByText('Your new password is set. Please sign in with it.')).toBeVisible()
  await audit.at('reset-password-done')
  await page.goto('about:blank')
  await open(page, link, 'Set New Password')
  for (const field of [next, again]) await field?.fill(`${other} too`)
  await page.getByRole('button', { name: 'Set New Password' }).click()
  await expect(page.getByText('This link has expired or was already used. Please request a new one.')).toBeVisible()
  await audit.at('reset-password-over')

  const kavya = await someoneAt(url, 'kavya@banyan.example')
  await kavya.send('POST', '/user/confirm-email')
  await open(page, await linkIn(post, 'kavya@banyan.example', 'Confirm your email for Duely'), 'Someone signed up for Duely')
  await audit.at('confirm-email-signed-out')
  await page.getByRole('button', { name: 'This is not mine' }).click()
  await expect(page.getByRole('button', { name: 'End This Sign-Up' })).toBeVisible()
  await audit.at('confirm-email-rejecting')
  await page.getByRole('button', { name: 'Back' }).click()
  await page.getByRole('main').getByRole('link', { name: 'Sign In' }).click()
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('main').getByRole('button', { name: 'Sign In' }).click()
  await expect(page.getByRole('button', { name: 'Confirm Email' })).toBeVisible()
  await audit.at('confirm-email-asked')
  await page.getByRole('button', { name: 'Confirm Email' }).click()
  await expect(page.getByText('kavya@banyan.example is confirmed and is the email of your account.')).toBeVisible()
  await audit.at('confirm-email-done')
  await page.evaluate(() => localStorage.clear())
  await page.context().clearCookies()
  await page.goto('about:blank')
  await open(page, '/confirm-email#token=made-up', /^This link has expired or was already used/)
  await audit.at('confirm-email-over')

  const factor = await withSecondFactor(kavya)
  await page.goto('/signin?error=google_failed')
  await expect(page.getByRole('main').getByText('Google sign-in failed. Please try again.')).toBeVisible()
  await audit.at('sign-in-google-failed')
  await open(page, '/signin', 'Sign in with Google')
  await page.route('**/auth', (route) =>
    route.fulfill({
      status: 429,
      headers: { 'retry-after': '600' },
      json: { code: 'too_many', message: 'Too many tries. Please try again in 10 minutes.' },
    }),
  )
  await enter(page, 'kavya@banyan.example')
  await expect(page.getByText('Too many tries. Please try again in 10 minutes.')).toBeVisible()
  await audit.at('sign-in-too-often')
  await letGo(page)
  await enter(page, 'kavya@banyan.example')
  await expect(page.getByRole('heading', { name: 'One more step' })).toBeVisible()
  await audit.at('sign-in-code')
  await page.getByRole('textbox', { name: 'Code' }).fill('000000')
  await page.getByRole('main').getByRole('button', { name: 'Sign In' }).click()
  await expect(page.getByText(/^This code is wrong/)).toBeVisible()
  await audit.at('sign-in-code-refused')
  await page.getByRole('button', { name: 'Use a recovery code' }).click()
  await audit.at('sign-in-recovery-code')
  await page.getByLabel('Recovery Code').fill(factor.recoveryCodes[0] ?? '')
  await page.getByRole('main').getByRole('button', { name: 'Sign In' }).click()
  await expect(page).toHaveURL(/\/dashboard$/)
  await expect(page.getByText('No invoices yet')).toBeVisible()
  const elsewhere = await page.context().newPage()
  await elsewhere.goto('/features')
  await elsewhere.evaluate(() => localStorage.clear())
  await elsewhere.close()
  await expect(page.getByText('You were signed out.')).toBeVisible()
  await audit.at('sign-in-signed-out')
}

const devices = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
]

/** Several sessions, and more activity than one page shows. */
async function live(someone: Someone, url: string, email: string): Promise<void> {
  for (const agent of devices) {
    const headers = { 'content-type': 'application/json', 'user-agent': agent }
    await fetch(`${url}/auth`, { method: 'POST', headers, body: JSON.stringify({ email, password }) })
  }
  for (let nth = 0; nth < 50; nth += 1) {
    const draft = { name: `Bookkeeping ${nth}`, scopes: ['read'], expiresInDays: 30, ...someone.proof }
    const { _id } = (await someone.send('POST', '/api-keys', draft)) as { _id: string }
    await someone.send('DELETE', `/api-keys/${_id}`)
  }
}

async function account(page: Page, audit: Audit, someone: Someone, url: string): Promise<void> {
  await open(page, '/dashboard/profile', 'Member since')
  await audit.at('profile-not-confirmed')
  await page.getByLabel('Email Address').fill('moved@banyan.example')
  await page.getByRole('button', { name: 'Save Changes' }).click()
  await expect(page.getByText('Please enter your current password to change your email.')).toBeVisible()
  await audit.at('profile-new-email', page.getByText('Please enter your current password to change your email.'))
  await page.getByLabel('Current Password', { exact: true }).first().fill(password)
  await page.getByRole('button', { name: 'Save Changes' }).click()
  await expect(page.getByText(/^We sent a link to moved@banyan\.example\./)).toBeVisible()
  await audit.at('profile-new-email-sent')

  await live(someone, url, 'thorough@banyan.example')
  await open(page, '/dashboard/profile?tab=security', 'Active sessions')
  await page.getByRole('button', { name: 'Set Up' }).click()
  const asked = page.getByRole('dialog')
  await asked.getByLabel('Current Password', { exact: true }).fill('not it')
  await asked.getByRole('button', { name: 'Continue' }).click()
  await expect(asked.getByText('Invalid current password')).toBeVisible()
  await audit.at('two-factor-refused')
  await asked.getByLabel('Current Password', { exact: true }).fill(password)
  await asked.getByRole('button', { name: 'Continue' }).click()
  await expect(asked.getByRole('img', { name: /^QR code/ })).toBeVisible()
  await audit.at('two-factor-scan')
  const secret = ((await asked.locator('code').textContent()) ?? '').replaceAll(' ', '')
  await asked.getByRole('textbox', { name: 'Code' }).fill('000000')
  await asked.getByRole('button', { name: 'Turn On' }).click()
  await expect(asked.getByText(/^This code is wrong/)).toBeVisible()
  await audit.at('two-factor-code-refused')
  await asked.getByRole('textbox', { name: 'Code' }).fill(totpAt(secret, stepOf(Temporal.Now.instant())))
  await asked.getByRole('button', { name: 'Turn On' }).click()
  await expect(asked.getByText('Your recovery codes')).toBeVisible()
  await audit.at('two-factor-codes')
  await asked.getByRole('button', { name: 'I’ve Saved Them' }).click()
  await expect(page.getByText(/You have 10 recovery codes left/)).toBeVisible()
  await audit.at('security-two-factor', page.getByRole('heading', { name: 'Two-factor authentication' }))
  await closeMessages(page)
  await page.getByRole('button', { name: 'New Recovery Codes' }).click()
  await dialog(page, audit, 'two-factor-renew')
  await page.getByRole('button', { name: 'Turn Off' }).click()
  await asked.getByRole('button', { name: 'Turn Off' }).click()
  await expect(asked.getByText('Please enter your current password.')).toBeVisible()
  await dialog(page, audit, 'two-factor-remove')
  await page.getByRole('button', { name: 'Link Google' }).click()
  await asked.getByLabel('Current Password', { exact: true }).fill('not it')
  await asked.getByRole('textbox', { name: 'Code' }).fill('000000')
  await asked.getByRole('button', { name: 'Continue to Google' }).click()
  await expect(asked.getByText('Invalid current password')).toBeVisible()
  await dialog(page, audit, 'google-link')

  await audit.at('security-browsers', page.getByText('Safari on iPhone'))
  await page.getByRole('button', { name: 'Sign Out All Others' }).click()
  await dialog(page, audit, 'sign-out-others')
  await page.getByRole('button', { name: 'Show More' }).click()
  await audit.at('security-activity', page.getByRole('button', { name: 'Show Older' }))
  await page.getByRole('button', { name: 'Show Older' }).click()
  await expect(page.getByRole('button', { name: 'Show Older' })).toHaveCount(0)
  await audit.at('security-activity-older', page.getByText('Account created.'))
  await fail(page, [accountCalls.endSession])
  await page.getByRole('button', { name: /^Sign out Chrome on Windows/ }).click()
  await expect(page.getByText(/^Couldn’t sign it out: /)).toBeVisible()
  await audit.at('security-sign-out-failed', page.getByText(/^Couldn’t sign it out: /))
  await letGo(page)

  await page.getByLabel('Current Password', { exact: true }).last().fill('not it')
  await page.getByLabel('New Password', { exact: true }).fill('abc')
  await page.getByLabel('Confirm New Password', { exact: true }).fill('abd')
  await page.getByRole('button', { name: 'Change Password' }).click()
  await expect(page.getByText('New passwords do not match')).toBeVisible()
  await audit.at('change-password-refused', page.getByText('New passwords do not match'))
  await page.getByRole('button', { name: 'Delete Account' }).click()
  await asked.getByLabel('Type DELETE to confirm').fill('delete')
  await asked.getByRole('button', { name: 'Delete Account' }).click()
  await expect(asked.getByText('Please type "DELETE" to confirm')).toBeVisible()
  await dialog(page, audit, 'delete-account-refused')

  await open(page, '/dashboard/profile?tab=preferences', 'Member since')
  await page.getByRole('combobox', { name: 'Time zone' }).fill('New')
  await expect(page.getByRole('option').first()).toBeVisible()
  await audit.at('preferences-zones', page.getByRole('option').first())
}

async function google(page: Page, audit: Audit, someone: Someone, far: FakeGoogle): Promise<void> {
  await open(page, '/dashboard/mail-settings', 'No mailbox connected')
  await audit.at('email-settings-gmail')
  far.answer({ grants: (asked) => asked.filter((scope) => !scope.includes('gmail')) })
  await page.getByRole('button', { name: 'Connect Gmail (Recommended)' }).click()
  await expect(page.getByRole('main').getByText(/^Error configuring Gmail: /)).toBeVisible()
  await audit.at('email-settings-gmail-refused')
  await closeMessages(page)
  far.answer({})
  await page.getByRole('button', { name: 'Connect Gmail (Recommended)' }).click()
  await expect(page.getByRole('heading', { name: 'Mail Configured' })).toBeVisible()
  await audit.at('gmail-configured')
  await page.getByRole('button', { name: 'Remove Configuration' }).click()
  await dialog(page, audit, 'gmail-remove')
  const late = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 184_200.5, dueDate: '2026-01-02' }
  await someone.send('POST', '/invoice', late)
  far.takeBack()
  await someone.send('POST', '/reminder/send-immediate').catch(() => undefined)
  await open(page, '/dashboard/mail-settings', 'Reconnect Gmail')
  await audit.at('gmail-paused')
  await open(page, '/dashboard', 'All (1)')
  await expect(page.getByText('Gmail needs to be reconnected')).toBeVisible()
  await audit.at('dashboard-gmail-paused')

  await page.goto('/dashboard/profile?tab=security')
  await page.getByRole('button', { name: 'Link Google' }).click()
  const asked = page.getByRole('dialog')
  await asked.getByLabel('Current Password', { exact: true }).fill(password)
  await asked.getByRole('button', { name: 'Continue to Google' }).click()
  await expect(page.getByText(/^You sign in with Google\. You don’t have a password or second/)).toBeVisible()
  await expect(page.getByText('Your Google account is linked!')).toBeVisible()
  await audit.at('security-google', page.getByRole('heading', { name: 'Sign in with Google' }))
  await closeMessages(page)
  await page.getByRole('button', { name: 'Unlink Google' }).click()
  await dialog(page, audit, 'google-unlink')
  await page.getByRole('tab', { name: 'Profile', exact: true }).click()
  await expect(page.getByText(/^You sign in with Google\. Your Duely email stays/)).toBeVisible()
  await audit.at('profile-google')
  await page.getByRole('tab', { name: 'Security' }).click()
  await page.getByRole('button', { name: 'Unlink Google' }).click()
  await asked.getByRole('button', { name: 'Continue to Google' }).click()
  await expect(asked.getByText(/^Google confirmed that it’s you\./)).toBeVisible()
  await asked.getByLabel('New Password', { exact: true }).fill('password1')
  await asked.getByLabel('Confirm New Password', { exact: true }).fill('password2')
  await asked.getByRole('button', { name: 'Unlink Google' }).click()
  await expect(asked.getByText('New passwords do not match')).toBeVisible()
  await expect(asked.getByText('Weak', { exact: true })).toBeVisible()
  await dialog(page, audit, 'google-unlink-password')
}

test(
  'every way to sign in on a server that sends email: password reset, new email, second factor',
  full,
  async ({ browser, program, post }) => {
    await auditWalk({ browser, url: program.url }, (page, audit) => waysIn(page, audit, program.url, post))
  },
)

test('the account with a second factor, many sessions and much activity', full, async ({ browser, program }) => {
  await auditWalk({ browser, url: program.url }, async (page, audit) => {
    const someone = await signIn(page, program.url, 'thorough@banyan.example')
    await account(page, audit, someone, program.url)
  })
})

test('Google for signing in and Gmail for sending', full, async ({ browser, program, post, google: far }) => {
  far.person = { sub: '401', email: 'meera@gmail.com', email_verified: true, name: 'Meera Rao' }
  await auditWalk({ browser, url: program.url }, async (page, audit) => {
    const someone = await signIn(page, program.url, 'meera@gmail.com')
    await confirmEmail(program.url, post, 'meera@gmail.com')
    await google(page, audit, someone, far)
  })
})
