import type { Page } from '@playwright/test'
import { type FakeSmtp, later } from '#test/fakes/smtp-server.ts'
import { expect, test } from './duely.ts'

/** Somebody with one late invoice and a mailbox; what comes back makes calls in their name. */
async function withLateInvoice(
  page: Page,
  smtp: FakeSmtp,
  email: string,
): Promise<(method: string, path: string, body?: object) => Promise<void>> {
  await page.goto('/signup')
  await page.getByLabel('Full Name').fill('Asha Rao')
  await page.getByLabel('Email').fill(email)
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
  return ask
}

test('a refused start is told once, Send Now lists whom it writes to, and without a mailbox nothing is called on its way', async ({
  page,
  smtp,
}) => {
  test.slow()
  const ask = await withLateInvoice(page, smtp, 'control@banyan.example')
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

test('a reminder that leaves while the dashboard is looked at is seen there without a reload', async ({ page, smtp }) => {
  const ask = await withLateInvoice(page, smtp, 'dashboard@banyan.example')
  const arrived = Promise.withResolvers<void>()
  const looked = Promise.withResolvers<void>()
  smtp.answer({
    dot: () => {
      arrived.resolve()
      return later(looked.promise)
    },
  })
  // Whoever leaves the page does not call the mails off.
  const sending = ask('POST', '/reminder/send-immediate').catch(() => undefined)
  await arrived.promise
  await page.goto('/dashboard')
  await expect(page.getByText('No reminder yet').first()).toBeVisible()
  looked.resolve()
  await expect(page.getByText(/^Reminded today/).first()).toBeVisible()
  await sending
})
