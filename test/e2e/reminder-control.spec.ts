import { expect, test } from './duely.ts'

test('a refused start is told once, Send Now lists whom it writes to, and without a mailbox nothing is called on its way', async ({
  page,
  smtp,
}) => {
  test.slow()
  await page.goto('/signup')
  await page.getByLabel('Full Name').fill('Asha Rao')
  await page.getByLabel('Email').fill('control@banyan.example')
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery')
  await page.getByRole('button', { name: 'Sign Up' }).click()
  await expect(page.getByText('No invoices yet')).toBeVisible()
  const ask = (method: string, path: string, body?: object) =>
    page.evaluate(
      async ([method, path, body]) => {
        const headers = { authorization: `Bearer ${localStorage.getItem('accessToken')}`, 'content-type': 'application/json' }
        await fetch(
          path,
          body ? { method, headers, body: JSON.stringify(body) } : { method, headers: { authorization: headers.authorization } },
        )
      },
      [method, path, body] as const,
    )
  await ask('POST', '/invoice', { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 500, dueDate: '2026-01-02' })
  await ask('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  await page.goto('/dashboard/reminder-control')

  smtp.answer({ rcpt: () => '550 5.1.1 No such user here' })
  await page.getByRole('button', { name: 'Start Reminders' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Start Reminders' }).click()
  await expect(page.getByRole('heading', { name: 'Start: what happened' })).toBeVisible({ timeout: 30_000 })
  await expect(page.getByText(/Reminders are active, but no email was accepted\./)).toHaveCount(1)

  smtp.answer({})
  await page.getByRole('button', { name: 'Send Now' }).click()
  await expect(page.getByText('1 reminder emails sent successfully!')).toBeVisible({ timeout: 30_000 })
  await page.getByRole('button', { name: 'Send Now' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByText('1 email leaves now.')).toBeVisible()
  await expect(dialog.getByText('Kaveri Foods')).toBeVisible()
  await expect(dialog.getByText('₹500.00')).toBeVisible()
  await dialog.getByRole('button', { name: 'Cancel' }).click()

  await ask('DELETE', '/mail-config')
  await page.reload()
  await expect(page.getByText('Active', { exact: true })).toBeVisible()
  await expect(page.getByText('Waiting for a mailbox: nothing is sent until one is connected.')).toBeVisible()
  await expect(page.getByText('Once a mailbox is connected')).toBeVisible()
})
