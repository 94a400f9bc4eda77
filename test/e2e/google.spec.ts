import type { Page } from '@playwright/test'
import { stepOf, totpAt } from '#server/accounts/totp.ts'
import { someoneAt } from '#test/program.ts'
import { full } from './duely.ts'
import { expect, test } from './with-google.ts'

const password = 'correct horse battery'

/** The person at Google's consent page; `sub` is their Google account. */
function person(sub: string, email: string) {
  return { sub, email, email_verified: true, name: 'Asha Rao' }
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account of / }).click()
  await page.getByRole('menuitem', { name: 'Sign Out' }).click()
  await expect(page).toHaveURL(/\/$/)
}

test('Google signs a visitor up, and later in, back to the screen requested', async ({ page, google }) => {
  google.person = person('101', 'asha@gmail.com')
  await page.goto('/signup')
  await page.getByRole('link', { name: 'Sign up with Google' }).click()
  await expect(page).toHaveURL(/\/dashboard$/)
  await expect(page.getByRole('button', { name: 'Account of Asha Rao' })).toBeVisible()

  await page.goto('/dashboard/profile')
  await expect(
    page.getByText('You sign in with Google. Your Duely email stays asha@gmail.com, even if your Google email changes.'),
  ).toBeVisible()
  await expect(page.getByLabel('Email Address')).toBeHidden()
  await page.getByRole('tab', { name: 'Security' }).click()
  await expect(page.getByText(/^You sign in with Google\. You don’t have a password or second/)).toBeVisible()
  await expect(page.getByText('See one you don’t recognize? Sign out of it, then secure your Google account.')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Change Password' })).toHaveCount(0)
  await expect(page.getByText('Signed in with Google.')).toBeVisible()

  await signOut(page)
  // `sub` identifies the person, because the email may change.
  google.person = person('101', 'asha.rao@gmail.com')
  await page.goto('/dashboard/reminder-control')
  await expect(page).toHaveURL(/\/signin$/)
  await page.getByRole('link', { name: 'Sign in with Google' }).click()
  await expect(page).toHaveURL(/\/dashboard\/reminder-control$/)
  expect(await page.evaluate(() => localStorage.getItem('refreshToken'))).toBeNull()
})

test('help and terms lead to the operator’s addresses, in a new window', full, async ({ page }) => {
  await page.goto('/signup')
  const footer = page.getByRole('contentinfo')
  for (const link of [footer.getByRole('link', { name: 'Terms' }), page.getByRole('main').getByRole('link', { name: 'Terms' })])
    await expect(link).toHaveAttribute('href', 'https://duely.example/terms')
  await expect(footer.getByRole('link', { name: 'Support' })).toHaveAttribute('href', 'https://help.duely.example/')
  await expect(footer.getByRole('link', { name: 'Support' })).toHaveAttribute('target', '_blank')
  await expect(footer.getByRole('link', { name: 'Support' })).toHaveAttribute('rel', /noopener/)
  await page.goto('/pricing')
  await expect(page.getByRole('link', { name: 'Contact Sales' })).toHaveAttribute('href', 'https://help.duely.example/')
  await expect(page.getByRole('link', { name: 'Start Enterprise Trial' })).toHaveCount(0)
  await page.getByRole('banner').getByRole('link', { name: 'Contact' }).click()
  await expect(page.getByRole('main').getByRole('link', { name: /^Go to their contact page/ })).toHaveAttribute(
    'href',
    'https://help.duely.example/',
  )
})

test('declining at Google is a cancellation; a forged answer shows an error', async ({ page, google }) => {
  google.answer({ denies: true })
  await page.goto('/signin')
  await page.getByRole('link', { name: 'Sign in with Google' }).click()
  await expect(page.getByRole('main').getByText('You cancelled the Google sign-in.')).toBeVisible()
  await expect(page.getByText('Google sign-in failed. Please try again.')).toHaveCount(0)
  await expect(page).toHaveURL(/\/signin$/)

  google.answer({ signature: 'forged' })
  await page.getByRole('link', { name: 'Sign in with Google' }).click()
  await expect(page.getByRole('main').getByText('Google sign-in failed. Please try again.')).toBeVisible()
  google.answer({})
})

test('a token in the address is refused and removed from it', async ({ page }) => {
  for (const query of ['?success=true&name=Asha&provider=google&token=t&refresh=r', '?accessToken=t&name=Asha', '?code=made-up']) {
    await page.goto(`/signin${query}`)
    await expect(page.getByRole('main').getByText('Google sign-in failed. Please try again.')).toBeVisible()
    await expect(page).toHaveURL(/\/signin$/)
    expect(await page.evaluate(() => localStorage.getItem('accessToken'))).toBeNull()
  }
})

test(
  'Google sign-in does not take over an account with a password, which links Google on the profile',
  full,
  async ({ page, google, program }) => {
    await someoneAt(program.url, 'ravi@banyan.example')
    google.person = person('202', 'ravi@banyan.example')
    await page.goto('/signin')
    await page.getByRole('link', { name: 'Sign in with Google' }).click()
    await expect(page.getByRole('main').getByText(/^An account with this email already exists\./)).toBeVisible()

    await page.getByLabel('Email').fill('ravi@banyan.example')
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('main').getByRole('button', { name: 'Sign In' }).click()
    await expect(page).toHaveURL(/\/dashboard$/)
    await page.goto('/dashboard/profile?tab=security')
    await page.getByRole('button', { name: 'Link Google' }).click()
    const dialog = page.getByRole('dialog')
    const current = dialog.getByLabel('Current Password', { exact: true })
    await current.fill('not it')
    await dialog.getByRole('button', { name: 'Continue to Google' }).click()
    await expect(dialog.getByText('Invalid current password')).toBeVisible()
    await current.fill(password)
    google.answer({ denies: true })
    await dialog.getByRole('button', { name: 'Continue to Google' }).click()
    await expect(page.getByText('You cancelled the Google sign-in.')).toBeVisible()
    await expect(page.getByText('See one you don’t recognize? Sign out of it, then change your password.')).toBeVisible()
    google.answer({})
    await page.getByRole('button', { name: 'Link Google' }).click()
    await current.fill(password)
    await dialog.getByRole('button', { name: 'Continue to Google' }).click()

    await expect(page.getByText('Your Google account is linked!')).toBeVisible()
    await expect(page).toHaveURL(/\/dashboard\/profile\?tab=security$/)
    await expect(page.getByText(/^You sign in with Google\. You don’t have a password or second/)).toBeVisible()
    await signOut(page)
    await page.goto('/signin')
    await page.getByLabel('Email').fill('ravi@banyan.example')
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('main').getByRole('button', { name: 'Sign In' }).click()
    await expect(page.getByText('Wrong email or password. Please check both and try again.')).toBeVisible()
    await page.getByRole('link', { name: 'Sign in with Google' }).click()
    await expect(page).toHaveURL(/\/dashboard$/)

    // Unlinking needs a fresh Google sign-in, then a new password.
    await page.goto('/dashboard/profile?tab=security')
    await page.getByRole('button', { name: 'Unlink Google' }).click()
    await dialog.getByRole('button', { name: 'Continue to Google' }).click()
    await expect(dialog.getByText(/^Google confirmed that it’s you\./)).toBeVisible()
    await dialog.getByLabel('New Password', { exact: true }).fill('lotus staple monsoon')
    await dialog.getByLabel('Confirm New Password', { exact: true }).fill('lotus staple monsoon')
    await dialog.getByRole('button', { name: 'Unlink Google' }).click()
    await expect(page.getByText('Google is unlinked. Sign in with your password from now on.')).toBeVisible()
    await expect(page.getByRole('button', { name: 'Link Google', exact: true })).toBeVisible()
  },
)

test('linking Google requires the second factor', full, async ({ page, google, program }) => {
  const careful = await someoneAt(program.url, 'careful@gmail.com')
  const started = await careful.send('POST', '/user/two-factor/start', { currentPassword: password })
  const { secret } = started as { secret: string }
  const step = stepOf(Temporal.Now.instant())
  const confirmed = await careful.send('POST', '/user/two-factor', { code: totpAt(secret, step) })
  const { recoveryCodes } = confirmed as { recoveryCodes: string[] }
  google.person = person('303', 'careful@gmail.com')
  await page.goto('/signin')
  await page.getByLabel('Email').fill('careful@gmail.com')
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('main').getByRole('button', { name: 'Sign In' }).click()
  await page.getByRole('textbox', { name: 'Code' }).fill(totpAt(secret, step + 1))
  await page.getByRole('main').getByRole('button', { name: 'Sign In' }).click()
  await expect(page).toHaveURL(/\/dashboard$/)

  await page.goto('/dashboard/profile?tab=security')
  await page.getByRole('button', { name: 'Link Google' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Current Password', { exact: true }).fill(password)
  await dialog.getByRole('textbox', { name: 'Code' }).fill(totpAt(secret, step + 1))
  await dialog.getByRole('button', { name: 'Continue to Google' }).click()
  await expect(dialog.getByText('This code is wrong or was already used. Please wait for the next one.')).toBeVisible()
  await dialog.getByRole('textbox', { name: 'Code' }).fill(recoveryCodes[0] ?? '')
  await dialog.getByRole('button', { name: 'Continue to Google' }).click()
  await expect(page.getByText('Your Google account is linked!')).toBeVisible()
  await expect(page.getByText(/Turn on 2-Step Verification/)).toBeVisible()
})
