import type { Page } from '@playwright/test'
import { expectAccessible } from './audit.ts'
import { expect, full, test } from './duely.ts'
import { prove, type Someone, signIn } from './sign-in.ts'

async function onEmailSettings(page: Page, url: string, email: string): Promise<Someone> {
  const someone = await signIn(page, url, email)
  await page.goto('/dashboard/mail-settings')
  return someone
}

test(
  'a known provider needs only email and app password, and links to where that is made; Cancel and closing discard the input',
  full,
  async ({ page, program }) => {
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

    const mismatch = dialog.getByText('SSL usually uses port 465.')
    await expect(mismatch).not.toHaveAttribute('data-tone')
    await dialog.getByLabel('Port', { exact: true }).fill('2525')
    await expect(mismatch).toHaveCount(0)
    await dialog.getByLabel('Port', { exact: true }).fill('587')
    await expect(dialog.getByLabel('SMTP Host')).toBeVisible()
    await dialog.getByLabel('Security').selectOption('TLS (Port 587)')
    await dialog.getByLabel('Port', { exact: true }).fill('465')
    await expect(dialog.getByText('TLS usually uses port 587.')).toHaveAttribute('data-tone', 'warn')
    await dialog.getByRole('radio', { name: 'Gmail' }).check()
    await expect(dialog.getByText('smtp.gmail.com, port 465, SSL')).toBeVisible()
    await expect(dialog.getByLabel('SMTP Host')).toHaveCount(0)
    await expect(dialog.getByRole('link', { name: 'myaccount.google.com/apppasswords' })).toHaveAttribute('target', '_blank')
    await expectAccessible(page)
    await dialog.getByRole('radio', { name: 'Gmail' }).press('ArrowRight')
    await expect(dialog.getByRole('radio', { name: 'Microsoft 365' })).toBeChecked()
    await expect(dialog.getByText('Outlook.com has refused passwords since 16 September 2024.', { exact: false })).toBeVisible()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Change server' }).click()
    expect(await fields()).toEqual({ ...empty, host: 'smtp.office365.com', secure: 'false' })
    await dialog.getByLabel('SMTP Host').fill('mail.banyan.example')
    await expect(dialog.getByRole('radio', { name: 'Custom' })).toBeChecked()
    await dialog.getByLabel('SMTP Host').fill('smtp.zoho.com')
    await expect(dialog.getByRole('radio', { name: 'Zoho' })).toBeChecked()
    await expect(dialog.getByLabel('SMTP Host')).toBeFocused()

    // The domain of the address chooses the provider, as long as no server was entered.
    await dialog.getByRole('radio', { name: 'Custom' }).check()
    await dialog.getByLabel('Email', { exact: true }).fill('asha@yahoo.co.in')
    await dialog.getByLabel('App Password', { exact: true }).focus()
    await expect(dialog.getByRole('radio', { name: 'Yahoo' })).toBeChecked()
    await dialog.getByRole('radio', { name: 'Custom' }).check()
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
  },
)

test(
  'the password field is in view when the dialog opens, and a refused server unfolds its fields',
  full,
  async ({ page, program, smtp }) => {
    await onEmailSettings(page, program.url, 'in-view@banyan.example')
    const dialog = page.getByRole('dialog')
    for (const size of [
      { width: 1280, height: 600 },
      { width: 390, height: 664 },
    ]) {
      await page.setViewportSize(size)
      await page.getByRole('button', { name: 'Configure Custom SMTP' }).click()
      await expect(dialog.getByLabel('App Password', { exact: true })).toBeInViewport({ ratio: 1 })
      await page.keyboard.press('Escape')
      await expect(dialog).toHaveCount(0)
    }
    await page.getByRole('button', { name: 'Configure Custom SMTP' }).click()
    await dialog.getByRole('radio', { name: 'Fastmail' }).check()
    await dialog.getByLabel('Email', { exact: true }).fill(smtp.login.user)
    await dialog.getByLabel('App Password', { exact: true }).fill(smtp.login.pass)
    const message = 'smtp.fastmail.com does not use SSL on port 2525.'
    await page.route('**/mail-config/smtp', (route) =>
      route.fulfill({ status: 400, json: { message, code: 'mail_test_failed', errors: [{ path: 'secure', message }] } }),
    )
    await dialog.getByRole('button', { name: 'Save SMTP Configuration' }).click()
    await expect(dialog.getByLabel('Security')).toBeFocused()
    await expect(dialog.getByText(message)).toBeVisible()
    await page.unrouteAll()

    await dialog.getByLabel('SMTP Host').fill(smtp.host)
    await dialog.getByLabel('Port', { exact: true }).fill(String(smtp.port))
    await dialog.getByLabel('Security').selectOption('TLS (Port 587)')
    await dialog.getByLabel('Email', { exact: true }).fill('asha@banyan.example')
    await dialog.getByLabel('Username, if it isn’t your email').fill(smtp.login.user)
    await dialog.getByRole('button', { name: 'Save SMTP Configuration' }).click()
    await expect(page.getByText('SMTP configured successfully!')).toBeVisible()
    await expect(page.getByText('asha@banyan.example', { exact: true })).toBeVisible()
  },
)

test('a test email shows the reply of the mail server, whether it was accepted or refused', full, async ({ page, program, smtp }) => {
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

test('a further mailbox is added, chosen for a client, made the default and removed', full, async ({ page, program, smtp, zone }) => {
  zone['banyan.example'] = { MX: ['10 in.banyan.example'], TXT: ['v=spf1 mx -all', 'v=spf1 ip4:192.0.2.7 ~all'] }
  zone['s1._domainkey.banyan.example'] = { TXT: ['v=DKIM1; p=MIIBIjANBgkq'] }
  const someone = await onEmailSettings(page, program.url, 'several@banyan.example')
  await someone.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  await someone.send('POST', '/invoice', {
    clientName: 'Kaveri Foods',
    clientEmail: 'billing@kaveri.example',
    amount: 500,
    dueDate: '2026-02-20',
  })
  await page.reload()
  await page.getByRole('button', { name: 'Add by SMTP' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('SMTP Host').fill(smtp.host)
  await dialog.getByLabel('Port', { exact: true }).fill(String(smtp.port))
  await dialog.getByLabel('Security').selectOption('false')
  await dialog.getByLabel('Email', { exact: true }).fill('exports@banyan.example')
  await dialog.getByLabel(/^Username/).fill(smtp.login.user)
  await dialog.getByLabel('App Password', { exact: true }).fill(smtp.login.pass)
  await prove(page)
  await dialog.getByRole('button', { name: 'Save SMTP Configuration' }).click()
  await expect(page.getByText('SMTP configured successfully!')).toBeVisible()
  const row = page.getByRole('listitem').filter({ hasText: 'exports@banyan.example' })
  await expect(row.getByText('Connected', { exact: true })).toBeVisible()
  // Connecting checks its domain.
  await expect(row.getByText('Replies to banyan.example are received by in.banyan.example.')).toBeVisible()
  await expect(row.getByText('banyan.example has 2 SPF records, so receivers ignore them all. Replace them with one.')).toBeVisible()
  await expect(row.getByText('v=DMARC1; p=none')).toBeVisible()
  await row.getByLabel('DKIM selector').fill('s1')
  await row.getByRole('button', { name: 'Find the key' }).click()
  await expect(row.getByText('A DKIM key is published under s1.')).toBeVisible()
  await expectAccessible(page)

  await page.goto('/dashboard/clients')
  await page.getByRole('link', { name: 'Kaveri Foods' }).first().click()
  await page.getByLabel('Mailbox').selectOption({ label: 'exports@banyan.example' })
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(page.getByText(/saved/i).first()).toBeVisible()

  await page.goto('/dashboard/mail-settings')
  await page.getByRole('button', { name: 'Make Default: exports@banyan.example' }).click()
  await expect(page.getByText('exports@banyan.example is the default mailbox now.')).toBeVisible()
  await page.getByRole('button', { name: `Remove: ${smtp.login.user}` }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove Configuration' }).click()
  await expect(page.getByText('Mail configuration removed successfully!')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Make Default: exports@banyan.example' })).toHaveCount(0)
})

test(
  'a sending limit is set in Email Settings, and the first emails say when the last one leaves',
  full,
  async ({ page, program, smtp }) => {
    const someone = await onEmailSettings(page, program.url, 'limits@banyan.example')
    await someone.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
    const dueDate = Temporal.Now.plainDateISO('Asia/Kolkata').subtract({ days: 3 }).toString()
    const lines = Array.from({ length: 25 }, (_, nth) => ({
      clientName: `Client ${nth}`,
      clientEmail: `client${nth}@kaveri.example`,
      amount: 500,
      dueDate,
    }))
    await someone.send('POST', '/invoices/import', { lines })
    await page.reload()
    await page.getByRole('button', { name: /^Change sending limit/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Emails per hour').fill('5')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await expect(dialog.getByText('from 10 to 10,00,000', { exact: false })).toBeVisible()
    await dialog.getByLabel('Emails per hour').fill('10')
    await dialog.getByLabel('Emails per 24 hours').fill('200')
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await expect(page.getByText('10 an hour, 200 in 24 hours')).toBeVisible()
    await expectAccessible(page)
    await page.goto('/dashboard/reminder-control?start')
    await expect(page.getByText(/^10 emails can leave now, .* The last one leaves at about /)).toBeVisible()
  },
)
