import { closeMessages, expectAccessible } from './audit.ts'
import { expect, full, test } from './duely.ts'
import { signIn } from './sign-in.ts'

const sizes = [
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
]

for (const viewport of sizes)
  test(
    `at ${viewport.width} px: a part is recorded, the next email asks for the rest, and the rest closes the invoice`,
    viewport.width === 390 ? full : {},
    async ({ page, program, smtp }) => {
      await page.setViewportSize(viewport)
      const { send } = await signIn(page, program.url)
      await send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
      const today = Temporal.Now.plainDateISO('Asia/Kolkata')
      const dueDate = today.subtract({ days: 10 }).toString()
      const draft = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 5000, dueDate }
      const invoice = (await send('POST', '/invoice', draft)) as { _id: string }
      await page.goto(`/dashboard/edit-invoice/${invoice._id}`)
      const panel = page.locator('section', { has: page.getByRole('heading', { name: 'Payments' }) })
      await expect(panel.getByText('No payment yet.')).toBeVisible()

      await panel.getByRole('button', { name: 'Record payment' }).click()
      const dialog = page.getByRole('dialog', { name: 'Record payment' })
      await expect(dialog.getByLabel('Amount')).toHaveValue('5,000.00')
      await dialog.getByLabel('Amount').fill('2,000')
      await dialog.getByLabel('Paid on').fill('31/12/2999')
      await dialog.getByRole('button', { name: 'Record', exact: true }).click()
      await expect(dialog.getByText('Please choose today or an earlier day.')).toBeVisible()
      await expectAccessible(page)
      await dialog.getByLabel('Paid on').fill(today.subtract({ days: 1 }).toString())
      await dialog.getByLabel('How').selectOption('UPI')
      await dialog.getByLabel('Reference').fill('632418907755')
      await dialog.getByRole('button', { name: 'Record', exact: true }).click()
      await expect(page.getByText('₹2,000.00 recorded. ₹3,000.00 still to pay.')).toBeVisible()
      await expect(dialog).toBeHidden()

      const summary = page.getByRole('region', { name: 'Summary' })
      await expect(summary.getByText('Part paid')).toBeVisible()
      await expect(summary.getByText('still to pay of ₹5,000.00')).toBeVisible()
      await expect(panel.getByText('₹3,000.00 of ₹5,000.00 still to pay')).toBeVisible()
      await expect(panel.getByText('UPI · 632418907755')).toBeVisible()
      await expect(page.getByText('₹2,000.00 received')).toBeVisible()
      await closeMessages(page)
      await expectAccessible(page)

      await summary.getByRole('button', { name: 'Remind now…' }).click()
      await page.getByRole('dialog').getByRole('button', { name: /^Send/ }).click()
      await smtp.received(1)
      await expect(page.getByRole('dialog')).toBeHidden()
      const subject = (await send('GET', `/invoice/${invoice._id}/history`)) as { mails: { subject: string }[] }
      expect(subject.mails[0]?.subject).toContain('₹3,000.00')

      await panel.getByRole('button', { name: /^Take back ₹2,000.00/ }).click()
      const asking = page.getByRole('dialog', { name: 'Take this payment back?' })
      await expect(asking.getByText('₹5,000.00 of INV-0001 is then still to pay.')).toBeVisible()
      await asking.getByRole('button', { name: 'Take back' }).click()
      await expect(page.getByText('₹2,000.00 taken back. ₹5,000.00 still to pay.')).toBeVisible()
      await expect(panel.getByText(/taken back on/)).toBeVisible()

      await closeMessages(page)
      await panel.getByRole('button', { name: 'Record payment' }).click()
      await dialog.getByRole('button', { name: 'Record', exact: true }).click()
      await expect(page.getByText('INV-0001 is paid. No more reminders go out for it.')).toBeVisible()
      await expect(summary.getByText(/^paid /).first()).toBeVisible()

      await closeMessages(page)
      await panel.getByRole('button', { name: 'Record refund' }).click()
      const refund = page.getByRole('dialog', { name: 'Record refund' })
      await refund.getByLabel('Amount').fill('6000')
      await refund.getByRole('button', { name: 'Record', exact: true }).click()
      await expect(refund.getByText('At most ₹5,000.00 can be refunded.')).toBeVisible()
      await refund.getByRole('button', { name: 'Cancel' }).click()
    },
  )

test(
  'the dashboard shows what is left of an invoice and what was received, and records a payment from the menu',
  full,
  async ({ page, program }) => {
    const { send } = await signIn(page, program.url)
    const draft = {
      clientName: 'Kaveri Foods',
      clientEmail: 'billing@kaveri.example',
      amount: 5000,
      dueDate: '2026-01-02',
      amountPaid: 2000,
    }
    await send('POST', '/invoice', { ...draft, status: 'overdue' })
    await page.goto('/dashboard')
    const overview = page.getByRole('region', { name: 'Overview' })
    await expect(page.getByText(/^of ₹5,000.00, due/)).toBeVisible()
    await expect(overview.getByText('₹2,000.00')).toBeVisible()
    // The checklist moves the card once it is loaded, and a menu whose button leaves the window is hidden.
    await expect(page.getByRole('heading', { name: /^Next:/ })).toBeVisible()
    await page.getByRole('button', { name: /Actions for INV-0001/ }).click()
    await page.getByRole('menuitem', { name: 'Record payment' }).click()
    const dialog = page.getByRole('dialog', { name: 'Record payment' })
    await expect(dialog.getByLabel('Amount')).toHaveValue('3,000.00')
    await dialog.getByRole('button', { name: 'Record', exact: true }).click()
    await expect(page.getByText('INV-0001 is paid. No more reminders go out for it.')).toBeVisible()
    await expect(overview.getByText('₹5,000.00')).toBeVisible()
  },
)
