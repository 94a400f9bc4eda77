import type { Page } from '@playwright/test'
import { expectAccessible } from './audit.ts'
import { expect, full, test } from './duely.ts'
import { newEmail, signIn } from './sign-in.ts'

declare global {
  interface Window {
    countClick: () => void
  }
}

/** Counts what a person presses: typing in a field that the Tab key reaches needs no click. */
async function countClicks(page: Page): Promise<() => number> {
  let clicks = 0
  await page.exposeFunction('countClick', () => {
    clicks += 1
  })
  await page.addInitScript(() => addEventListener('click', ({ isTrusted }) => isTrusted && window.countClick(), { capture: true }))
  return () => clicks
}

const daysAgo = (days: number) => {
  const [year, month, day] = Temporal.Now.plainDateISO('Asia/Kolkata').subtract({ days }).toString().split('-')
  return `${day}/${month}/${year}`
}

for (const viewport of [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
])
  test(
    `a newcomer sends the first reminder with at most 11 clicks, each step leading to the next, at ${viewport.width} px`,
    full,
    async ({ page, smtp }) => {
      await page.setViewportSize(viewport)
      const clicks = await countClicks(page)
      const visited: string[] = []
      page.on('framenavigated', (frame) => {
        const { pathname } = new URL(frame.url())
        if (frame === page.mainFrame() && visited.at(-1) !== pathname) visited.push(pathname)
      })
      const next = (name: string) => page.getByRole('main').getByRole('link', { name, exact: true })

      await page.goto('/')
      await page.getByRole('link', { name: 'Get Started' }).first().click()
      await page.getByLabel('Full Name').fill('Asha Rao')
      await page.getByLabel('Email').fill(newEmail())
      await page.getByLabel('Password', { exact: true }).fill('correct horse battery')
      await page.getByRole('button', { name: 'Sign Up' }).click()

      await expect(page.getByRole('heading', { name: 'Next: add your unpaid invoices' })).toBeVisible()
      await next('Add an invoice').click()
      await page.getByRole('combobox', { name: 'Client Name' }).fill('Kaveri Foods')
      await page.getByRole('combobox', { name: 'Client Email' }).fill('billing@kaveri.example')
      await page.getByLabel('Amount').fill('48500')
      await page.getByLabel('Due date').fill(daysAgo(19))
      await page.getByRole('button', { name: 'Create Invoice' }).click()

      await expect(page.getByRole('heading', { name: 'Next: connect the mailbox your reminders are sent from' })).toBeVisible()
      await expect(page.getByText('1 invoice: Kaveri Foods, ₹48,500.00')).toBeVisible()
      await next('Connect your mailbox').click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Email', { exact: true }).fill(smtp.login.user)
      await dialog.getByLabel('App Password', { exact: true }).fill(smtp.login.pass)
      await dialog.getByLabel('SMTP Host').fill(smtp.host)
      await dialog.getByLabel('Security').selectOption('TLS (Port 587)')
      await dialog.getByLabel('Port', { exact: true }).fill(String(smtp.port))
      await dialog.getByRole('button', { name: 'Save SMTP Configuration' }).click()

      await next('Preview the first email').click()
      await expect(dialog.getByText(/^Invoice INV-0001 from Asha Rao: ₹48,500.00 was due on/)).toBeVisible()
      await dialog.getByRole('button', { name: 'Start Reminders' }).click()
      await expect(page.getByText('The mail server accepted 1 email.').first()).toBeVisible()
      expect(smtp.mails).toHaveLength(1)
      expect(clicks()).toBeLessThanOrEqual(11)
      expect(visited).toEqual([
        '/',
        '/signup',
        '/dashboard',
        '/dashboard/new-invoice',
        '/dashboard',
        '/dashboard/mail-settings',
        '/dashboard/reminder-control',
      ])
    },
  )

test(
  'the checklist names what is missing first, never leads to a disabled button, and closes after the visit of the first reminder',
  full,
  async ({ page, program, smtp }) => {
    const { send, proof } = await signIn(page, program.url)
    const invoice = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 500, dueDate: '2026-01-02' }
    const mailbox = { host: smtp.host, port: smtp.port, secure: false, ...smtp.login }
    const heading = (name: string) => page.getByRole('heading', { name })
    const states = () => page.locator('ol > li[data-state]').evaluateAll((steps) => steps.map((step) => step.getAttribute('data-state')))

    await send('POST', '/mail-config/smtp', mailbox)
    await page.goto('/dashboard')
    await expect(heading('Next: add your unpaid invoices')).toBeVisible()
    expect(await states()).toEqual(['next', 'done', 'later', 'later'])
    await expectAccessible(page)

    await send('DELETE', '/mail-config')
    await send('POST', '/invoice', invoice)
    await page.goto('/dashboard')
    await expect(heading('Next: connect the mailbox your reminders are sent from')).toBeVisible()
    await page.getByRole('link', { name: 'Zoho' }).click()
    await expect(page.getByRole('dialog').getByRole('radio', { name: 'Zoho' })).toBeChecked()

    await send('POST', '/mail-config/smtp', { ...mailbox, ...proof })
    await page.goto('/dashboard/mail-settings')
    await expect(page.getByText('Next: see who gets an email')).toBeVisible()
    await page.getByRole('link', { name: 'Preview the first email' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.goto('/dashboard')
    await expect(heading('Next: start daily reminders')).toBeVisible()
    expect(await states()).toEqual(['done', 'done', 'done', 'next'])
    await page.getByRole('link', { name: 'Start daily reminders', exact: true }).click()
    await expect(page.getByRole('dialog').getByRole('button', { name: 'Start Reminders' })).toBeEnabled()

    // Rejected: the checklist stays, and leads to the invoice.
    smtp.answer({ rcpt: () => '550 5.1.1 No such user here' })
    await page.getByRole('dialog').getByRole('button', { name: 'Start Reminders' }).click()
    await expect(heading('Reminders sent: 0 of 1')).toBeVisible()
    await page.goto('/dashboard')
    await expect(heading('Rejected: the first reminder to Kaveri Foods')).toBeVisible()
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Open INV-0001' }).click()
    await expect(page.getByText('Update invoice details')).toBeVisible()

    // Reminders to a rejected address are on hold until it is corrected.
    smtp.answer({})
    await page.getByLabel('Client Email').fill('accounts@kaveri.example')
    await page.getByRole('button', { name: 'Update Invoice' }).click()
    await expect(page.getByRole('heading', { name: 'Dashboard' })).toBeVisible()
    await page.getByRole('link', { name: 'Reminder Control' }).first().click()
    await page.getByRole('button', { name: 'Send Now' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Send 1 email' }).click()
    await expect(page.getByText('1 reminder emails sent successfully!')).toBeVisible()
    await page.getByRole('link', { name: 'Dashboard', exact: true }).first().click()
    await expect(page.getByText(/^Your first reminder was sent at \d\d:\d\d\.$/)).toBeVisible()
    await page.reload()
    await expect(page.getByText('Kaveri Foods').first()).toBeVisible()
    await expect(page.getByText(/^Your first reminder was sent/)).toHaveCount(0)
  },
)

test('where the first reminder waits for a paused invoice, the checklist names that', full, async ({ page, program, smtp }) => {
  const { send } = await signIn(page, program.url)
  const invoice = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 500, dueDate: '2026-01-02' }
  const { _id } = (await send('POST', '/invoice', invoice)) as { _id: string }
  await send('PATCH', `/invoice/${_id}/pause`, { paused: true })
  await send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  await send('POST', '/reminder/start')
  await page.goto('/dashboard')
  await expect(page.getByRole('heading', { name: 'Everything is set up' })).toBeVisible()
  await expect(page.getByText('Your overdue invoices are paused or on hold.')).toBeVisible()
  expect(smtp.mails).toHaveLength(0)
})
