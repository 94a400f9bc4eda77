import { readFile } from 'node:fs/promises'
import type { Page } from '@playwright/test'
import { unzipSync } from 'fflate'
import { stepOf, totpAt } from '#server/accounts/totp.ts'
import { someoneAt } from '#test/program.ts'
import { full } from './duely.ts'
import { signIn } from './sign-in.ts'
import { confirmEmail, expect, linkIn, test } from './with-google.ts'

const password = 'correct horse battery'

async function fillIn(page: Page, email: string, secret = password): Promise<void> {
  await page.goto('/signin')
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(secret)
  await submit(page)
}

async function submit(page: Page): Promise<void> {
  await page.getByRole('main').getByRole('button', { name: 'Sign In' }).click()
}

test('the link in a password reset email works once', async ({ page, program, post }) => {
  await someoneAt(program.url, 'nila@banyan.example')
  await page.goto('/signin')
  await page.getByRole('link', { name: 'Forgot password?' }).click()
  // Both pages have a field for the email.
  await expect(page.getByRole('heading', { name: 'Forgot your password?' })).toBeVisible()
  await page.getByLabel('Email').fill('nila@banyan.example')
  await page.getByRole('button', { name: 'Send Link' }).click()
  await expect(page.getByText(/^If an account with this email exists, we sent a password reset link\./)).toBeVisible()
  const link = await linkIn(post, 'nila@banyan.example', 'Reset your Duely password')

  await page.goto(link)
  await expect(page.getByRole('heading', { name: 'Choose a new password' })).toBeVisible()
  await expect(page).toHaveURL(/\/reset-password$/)
  const next = page.getByLabel('New Password', { exact: true })
  await next.fill('password1')
  await expect(page.getByText(/^This is one of the most common passwords\./)).toBeVisible()
  await next.fill('lotus staple monsoon')
  await expect(page.getByText('Strong', { exact: true })).toBeVisible()
  await page.getByLabel('Confirm New Password', { exact: true }).fill('lotus staple monsoon')
  await page.getByRole('button', { name: 'Set New Password' }).click()
  await expect(page.getByText('Your new password is set. Please sign in with it.')).toBeVisible()

  // From about:blank, so that the same link loads a new page.
  await page.goto('about:blank')
  await page.goto(link)
  await next.fill('another staple monsoon')
  await page.getByLabel('Confirm New Password', { exact: true }).fill('another staple monsoon')
  await page.getByRole('button', { name: 'Set New Password' }).click()
  await expect(page.getByText('This link has expired or was already used. Please request a new one.')).toBeVisible()
  await expect(page.getByRole('link', { name: 'Request a New Link' })).toBeVisible()

  await fillIn(page, 'nila@banyan.example', 'lotus staple monsoon')
  await expect(page).toHaveURL(/\/dashboard$/)
})

test('a new email takes effect once its link is opened', full, async ({ page, program, post }) => {
  await someoneAt(program.url, 'old@banyan.example')
  // Only a confirmed address is notified of the change.
  await confirmEmail(program.url, post, 'old@banyan.example')
  await fillIn(page, 'old@banyan.example')
  await expect(page).toHaveURL(/\/dashboard$/)
  await page.goto('/dashboard/profile')
  await page.getByLabel('Email Address').fill('new@banyan.example')
  await page.getByLabel('Current Password', { exact: true }).first().fill(password)
  await page.getByRole('button', { name: 'Save Changes' }).first().click()
  await expect(page.getByText(/^We sent a link to new@banyan\.example\./)).toBeVisible()
  await page.goto(await linkIn(post, 'new@banyan.example', 'Confirm your new email for Duely'))
  await page.getByRole('button', { name: 'Confirm Email' }).click()
  await expect(page.getByText('new@banyan.example is confirmed and is the email of your account.')).toBeVisible()
  await page.getByRole('link', { name: 'Go to the Dashboard' }).click()
  await page.getByRole('link', { name: 'My Profile' }).first().click()
  await expect(page.getByLabel('Email Address')).toHaveValue('new@banyan.example')
  await expect
    .poll(() => post.mails.some(({ envelope, subject }) => envelope.to.includes('old@banyan.example') && subject?.includes('was changed')))
    .toBe(true)
})

test(
  'the checklist and the dialogs ask to confirm the email first, and send once its link was opened in another tab',
  full,
  async ({ page, context, program, post, smtp }) => {
    const email = 'newcomer@banyan.example'
    const { send } = await signIn(page, program.url, email)
    await send('POST', '/invoice', {
      clientName: 'Kaveri Foods',
      clientEmail: 'billing@kaveri.example',
      amount: 500,
      dueDate: '2026-01-02',
    })
    await send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
    const dialog = page.getByRole('dialog')
    const asked = 'Confirm your email to start sending'
    await page.goto('/dashboard')
    await expect(page.getByText(asked)).toBeVisible()
    await page.getByRole('button', { name: /^Actions for .*, Kaveri Foods$/ }).click()
    await page.getByRole('menuitem', { name: 'Remind now…' }).click()
    await expect(dialog.getByText(asked)).toBeVisible()
    await expect(dialog.getByRole('button', { name: 'Send reminder' })).toBeDisabled()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('link', { name: 'Preview the first email' }).click()
    await expect(dialog.getByText(asked)).toBeVisible()
    await expect(dialog.getByRole('button', { name: 'Start Reminders' })).toBeDisabled()

    const other = await context.newPage()
    await other.goto(await linkIn(post, email, 'Confirm your email for Duely'))
    await other.getByRole('button', { name: 'Confirm Email' }).click()
    await expect(other.getByRole('link', { name: 'Go to the Dashboard' })).toBeVisible()
    await other.close()
    // Headless windows are always visible, so that no browser event tells of the return to this tab.
    await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')))
    await expect(dialog.getByText(asked)).toHaveCount(0)
    await dialog.getByRole('button', { name: 'Start Reminders' }).click()
    await expect(page.getByText('The mail server accepted 1 email.').first()).toBeVisible()
  },
)

test('two-factor authentication: set up, sign in with a code and a recovery code, turn off', async ({ page, program }) => {
  await someoneAt(program.url, 'careful@banyan.example')
  await fillIn(page, 'careful@banyan.example')
  await expect(page).toHaveURL(/\/dashboard$/)
  await page.goto('/dashboard/profile?tab=security')
  const setUp = page.getByRole('button', { name: 'Set Up' })
  await setUp.click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Current Password', { exact: true }).press('Escape')
  await expect(setUp).toBeFocused()
  await setUp.click()
  await dialog.getByLabel('Current Password', { exact: true }).fill(password)
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await expect(dialog.getByRole('img', { name: /^QR code/ })).toBeVisible()
  const secret = ((await dialog.locator('code').textContent()) ?? '').replaceAll(' ', '')
  const step = stepOf(Temporal.Now.instant())
  await dialog.getByRole('textbox', { name: 'Code' }).fill('000000')
  await dialog.getByRole('button', { name: 'Turn On' }).click()
  await expect(dialog.getByText(/^This code is wrong/)).toBeVisible()
  await dialog.getByRole('textbox', { name: 'Code' }).fill(totpAt(secret, step))
  await dialog.getByRole('button', { name: 'Turn On' }).click()
  await expect(dialog.getByText('Your recovery codes')).toBeVisible()
  const codes = await dialog.locator('li code').allTextContents()
  expect(codes).toHaveLength(10)
  const [file] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Download' }).click()])
  expect(await readFile(await file.path(), 'utf8')).toContain(codes.join('\n'))
  await dialog.getByRole('button', { name: 'I’ve Saved Them' }).click()
  await expect(page.getByText(/You have 10 recovery codes left/)).toBeVisible()

  await page.evaluate(() => localStorage.clear())
  await fillIn(page, 'careful@banyan.example')
  await expect(page.getByRole('heading', { name: 'One more step' })).toBeVisible()
  const code = page.getByRole('textbox', { name: 'Code' })
  // The code that turned it on cannot be used again.
  await code.fill(totpAt(secret, step))
  await submit(page)
  await expect(page.getByText('This code is wrong or was already used. Please wait for the next one.')).toBeVisible()
  await expect(code).toHaveValue('')
  await expect(code).toHaveAccessibleDescription(/This code is wrong or was already used\./)
  await expect(code).toBeFocused()
  await code.fill(totpAt(secret, step + 1))
  await submit(page)
  await expect(page).toHaveURL(/\/dashboard$/)

  await page.evaluate(() => localStorage.clear())
  await fillIn(page, 'careful@banyan.example')
  await page.getByRole('button', { name: 'Use a recovery code' }).click()
  await page.getByLabel('Recovery Code').fill(codes[0]?.toLowerCase() ?? '')
  await submit(page)
  await expect(page).toHaveURL(/\/dashboard$/)

  await page.goto('/dashboard/profile?tab=security')
  await expect(page.getByText(/You have 9 recovery codes left/)).toBeVisible()
  await page.getByRole('button', { name: 'Turn Off' }).click()
  await dialog.getByLabel('Current Password', { exact: true }).fill(password)
  await dialog.getByLabel('Code').fill(codes[1] ?? '')
  await dialog.getByRole('button', { name: 'Turn Off' }).click()
  await expect(page.getByText('Two-factor authentication is off.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Set Up' })).toBeVisible()
  await expect(page.getByText('Signed in with a recovery code.')).toBeVisible()
})

test('the active sessions: one is signed out, then all others', full, async ({ page, program, browser }) => {
  await someoneAt(program.url, 'watchful@banyan.example')
  const elsewhere = await browser.newContext({
    baseURL: program.url,
    userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  })
  const other = await elsewhere.newPage()
  await fillIn(other, 'watchful@banyan.example')
  await expect(other).toHaveURL(/\/dashboard$/)
  await fillIn(page, 'watchful@banyan.example')
  await expect(page).toHaveURL(/\/dashboard$/)
  await page.goto('/dashboard/profile?tab=security')
  await expect(page.getByText('This browser')).toBeVisible()
  await expect(page.getByText(/Same computer as Duely/).first()).toBeVisible()
  await page.getByRole('button', { name: 'Sign out Chrome on Windows' }).click()
  await expect(page.getByText('Chrome on Windows is signed out.')).toBeVisible()
  await expect(page.getByText('Session ended: Chrome on Windows.')).toBeVisible()
  await other.reload()
  await expect(other).toHaveURL(/\/signin$/)
  await elsewhere.close()

  // The session of the API call that signed up is still active.
  await page.getByRole('button', { name: 'Sign Out All Others' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign Out All Others' }).click()
  await expect(page.getByText('All other sessions are signed out.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Sign Out All Others' })).toBeHidden()
  await expect(page.getByText('This browser')).toBeVisible()
})

test('an account exports all of its data', full, async ({ page, program }) => {
  const asha = await someoneAt(program.url, 'leaving@banyan.example')
  const invoice = { clientName: '=SUM(A1)', clientEmail: 'kaveri@client.example', amount: 10.5, status: 'unpaid', dueDate: '2026-03-02' }
  await asha.send('POST', '/invoice', invoice)
  await fillIn(page, 'leaving@banyan.example')
  await expect(page).toHaveURL(/\/dashboard$/)
  await page.goto('/dashboard/profile?tab=security')
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download Everything' }).click()])
  expect(file.suggestedFilename()).toMatch(/^duely-\d{4}-\d\d-\d\d\.zip$/)
  const parts = unzipSync(await readFile(await file.path()))
  const text = (name: string) => Buffer.from(parts[name] ?? []).toString()
  expect(text('invoices.csv')).toContain(`"'=SUM(A1)"`)
  expect(JSON.parse(text('people.json'))).toMatchObject([{ email: 'leaving@banyan.example' }])
  expect(text('people.json')).not.toContain('argon2')
})
