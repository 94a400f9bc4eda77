import type { Page } from '@playwright/test'
import { expectAccessible } from './audit.ts'
import { expect, test } from './duely.ts'
import { type Someone, signIn } from './sign-in.ts'

async function onEmailSettings(page: Page, url: string, email: string): Promise<Someone> {
  const someone = await signIn(page, url, email)
  await page.goto('/dashboard/mail-settings')
  return someone
}

test('choosing a provider fills in host, port and security and links to its app password; Cancel and closing discard the input', async ({
  page,
  program,
}) => {
  await onEmailSettings(page, program.url, 'presets@banyan.example')
  const open = page.getByRole('button', { name: 'Configure Custom SMTP' })
  const dialog = page.getByRole('dialog')
  const fields = async () => ({
    host: await dialog.getByLabel('SMTP Host').inputValue(),
    port: await dialog.getByLabel('Port', { exact: true }).inputValue(),
    secure: await dialog.getByLabel('Security').inputValue(),
    user: await dialog.getByLabel('Email', { exact: true }).inputValue(),
    pass: await dialog.getByLabel('App Password', { exact: true }).inputValue(),
  })
  const empty = { host: '', port: '587', secure: 'true', user: '', pass: '' }

  await open.click()
  await expect(dialog.getByRole('radio', { name: 'Custom' })).toBeChecked()
  expect(await fields()).toEqual(empty)

  await dialog.getByLabel('Port', { exact: true }).fill('2525')
  await dialog.getByRole('radio', { name: 'Gmail' }).check()
  expect(await fields()).toEqual({ ...empty, host: 'smtp.gmail.com', port: '465' })
  await expect(dialog.getByRole('link', { name: 'myaccount.google.com/apppasswords' })).toHaveAttribute('target', '_blank')
  await expectAccessible(page)
  await dialog.getByRole('radio', { name: 'Gmail' }).press('ArrowRight')
  await expect(dialog.getByRole('radio', { name: 'Outlook' })).toBeChecked()
  expect(await fields()).toEqual({ ...empty, host: 'smtp-mail.outlook.com', secure: 'false' })
  await expect(dialog.getByText('Microsoft no longer accepts passwords for sending', { exact: false })).toBeVisible()
  await expectAccessible(page)
  await dialog.getByLabel('SMTP Host').fill('mail.banyan.example')
  await expect(dialog.getByRole('radio', { name: 'Custom' })).toBeChecked()
  await dialog.getByLabel('SMTP Host').fill('smtp.zoho.com')
  await expect(dialog.getByRole('radio', { name: 'Zoho' })).toBeChecked()

  await dialog.getByLabel('Email', { exact: true }).fill('asha@example.com')
  await dialog.getByLabel('App Password', { exact: true }).fill('secret')
  for (const leave of ['Cancel', 'Close', 'Escape']) {
    if (leave === 'Escape') await page.keyboard.press(leave)
    else await dialog.getByRole('button', { name: leave, exact: true }).click()
    await expect(dialog).toBeHidden()
    await open.click()
    expect(await fields()).toEqual(empty)
    await dialog.getByRole('radio', { name: 'Yahoo' }).check()
  }
})

test('a test email shows the reply of the mail server, whether it was accepted or refused', async ({ page, program, smtp }) => {
  const someone = await onEmailSettings(page, program.url, 'tester@banyan.example')
  await someone.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  await page.reload()
  const send = page.getByRole('button', { name: 'Send Test Email' })

  smtp.answer({ rcpt: () => '550 5.7.1 Not from here' })
  await send.click()
  await expect(
    page.getByText('Error sending test email: The test email was not sent. 127.0.0.1 refused. It said: “550 5.7.1 Not from here”'),
  ).toBeVisible()
  await expectAccessible(page)

  smtp.answer({ dot: () => '250 2.0.0 Queued as 4711' })
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route('**/mail-config/test', async (route) => {
    await held
    await route.continue()
  })
  await send.click()
  await expect(page.getByRole('button', { name: 'Sending Test Email...' })).toBeVisible()
  await expect(page.getByText('Error sending test email', { exact: false })).toBeHidden()
  release()
  await expect(page.getByText('Test email sent to tester@banyan.example.')).toBeVisible()
  await expect(page.getByText('250 2.0.0 Queued as 4711')).toBeVisible()
  await expectAccessible(page)
  expect(smtp.mails.map(({ envelope, subject }) => ({ to: envelope.to, subject }))).toEqual([
    { to: ['tester@banyan.example'], subject: 'Test email from Duely' },
  ])
  expect(await someone.send('GET', '/reminder/status')).toMatchObject({ lastReminderSent: null })

  await page.unroute('**/mail-config/test')
  await page.route('**/mail-config/test', (route) => route.abort())
  await send.click()
  await expect(page.getByText('Test email sent to', { exact: false })).toBeHidden()
  await expect(page.getByText(/^Error sending test email: /)).toBeVisible()
})
