import { expect, full, test } from './duely.ts'
import { onDashboard, signIn } from './sign-in.ts'

test(
  "an invoice's page shows the sent reminder, and a pause is shown everywhere until it is resumed",
  full,
  async ({ page, program, smtp }) => {
    const { send } = await signIn(page, program.url)
    const dueDate = Temporal.Now.plainDateISO('Asia/Kolkata').subtract({ days: 10 }).toString()
    const invoice = (await send('POST', '/invoice', {
      clientName: 'Kaveri <b>Foods</b>',
      clientEmail: 'billing@kaveri.example',
      amount: 184200.5,
      dueDate,
    })) as { _id: string }
    await page.goto(`/dashboard/edit-invoice/${invoice._id}`)
    await expect(page.getByText('No reminders sent yet.')).toBeVisible()
    await expect(page.getByText('Daily reminders are off')).toBeVisible()

    await send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
    await page.goto('/dashboard/reminder-control')
    await page.getByRole('button', { name: 'Start Reminders' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Start Reminders' }).click()
    await smtp.received(1)

    await page.goto(`/dashboard/edit-invoice/${invoice._id}`)
    const summary = page.getByRole('region', { name: 'Summary' })
    await expect(summary.getByText('10 days late')).toBeVisible()
    await expect(summary.getByText(/^(tomorrow|\d\d\/\d\d\/\d{4}), 09:00$/)).toBeVisible()
    await expect(page.getByText('Reminder sent, by Start Reminders')).toBeVisible()
    // The mail server's words are shown on request.
    await expect(page.getByText('250 2.0.0 Accepted')).toBeHidden()
    await page.getByRole('button', { name: /^Show email/ }).click()
    await expect(page.getByRole('dialog').getByText('250 2.0.0 Accepted')).toBeVisible()
    const mail = page.frameLocator('iframe')
    await expect(mail.getByText('Dear Kaveri <b>Foods</b>')).toBeVisible()
    await page.getByRole('tab', { name: 'Plain text' }).click()
    await expect(page.getByRole('dialog').getByText('₹1,84,200.50', { exact: false }).first()).toBeVisible()
    await page.keyboard.press('Escape')

    await summary.getByRole('button', { name: 'Pause' }).click()
    const asking = page.getByRole('dialog')
    await asking.getByLabel('All invoices of billing@kaveri.example').check()
    await asking.getByLabel('Paused through').fill('01/01/2020')
    await asking.getByRole('button', { name: 'Pause reminders' }).click()
    await expect(asking.getByText('Please choose today or a later day.')).toBeVisible()
    await asking.getByLabel('Paused through').fill('31/12/2999')
    await asking.getByLabel('Client promised to pay by this date').check()
    await asking.getByLabel('Note').fill('The transfer is with their bank.')
    await asking.getByRole('button', { name: 'Pause reminders' }).click()
    await expect(asking).toBeHidden()
    await expect(page.getByText('Client promised to pay by 31/12/2999.')).toBeVisible()
    await expect(page.getByText('The transfer is with their bank.')).toBeVisible()
    await page.getByRole('link', { name: 'Dashboard' }).first().click()
    // The invoice has the same sentence; the card has the button.
    await expect(page.getByRole('button', { name: /^Resume reminders: INV-0001/ })).toBeVisible()
    await expect(page.getByText('Client promised to pay by 31/12/2999.')).toBeVisible()

    await page.getByRole('button', { name: /Actions for INV-0001/ }).click()
    await page.getByRole('menuitem', { name: 'Resume reminders' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resume reminders' }).click()
    await expect(page.getByText('Reminders to billing@kaveri.example have resumed.')).toBeVisible()
    await expect(page.getByText('Client promised to pay by 31/12/2999.')).toBeHidden()

    await page.goto(`/dashboard/edit-invoice/${invoice._id}`)
    await page.getByRole('button', { name: /^Show email/ }).click()
    // Until the email is there, what is below it moves.
    await expect(page.getByRole('dialog').locator('iframe').contentFrame().getByText('₹1,84,200.50').first()).toBeVisible()
    await page.getByRole('dialog').getByRole('button', { name: 'It came back' }).click()
    await expect(page.getByText('Reminders to billing@kaveri.example are on hold.')).toBeVisible()
    await expect(page.getByRole('dialog').getByText(/^Reported as returned on/)).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(page.getByText('Reminder came back')).toBeVisible()
    await expect(page.getByText('The last email came back. Correct the address to resume.').first()).toBeVisible()
  },
)

test(
  'the summary of an invoice marks it as paid, duplicates and deletes it, and a saved one does not wait for the list',
  full,
  async ({ page }) => {
    await onDashboard(page, [{ clientName: 'Kaveri Foods', amount: 5_000, status: 'overdue', dueInDays: -5 }])
    await page.getByRole('link', { name: 'Kaveri Foods' }).click()
    const summary = page.getByRole('region', { name: 'Summary' })
    await expect(summary.getByText('5 days late')).toBeVisible()
    await summary.getByRole('button', { name: 'Mark as paid' }).click()
    await expect(page.getByText('INV-0001 is paid. No more reminders go out for it.')).toBeVisible()
    await expect(summary.getByText(/^paid \d\d\/\d\d\/\d{4}$/).first()).toBeVisible()
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect(summary.getByText('5 days late')).toBeVisible()

    await summary.getByRole('link', { name: 'Duplicate' }).click()
    await expect(page.getByRole('combobox', { name: 'Client Name' })).toHaveValue('Kaveri Foods')
    await expect(page.getByRole('combobox', { name: 'Client Email' })).toHaveValue('billing@kaveri.example')
    await expect(page.getByLabel('Amount')).toHaveValue('5,000.00')
    await expect(page.getByRole('textbox', { name: 'Due Date' })).toHaveValue('')
    await page.getByRole('textbox', { name: 'Due Date' }).fill('31/12/2999')
    const answered = Promise.withResolvers<void>()
    await page.route(/\/invoice$/, async (route) => {
      if (route.request().method() === 'GET') await answered.promise
      await route.fallback()
    })
    await page.getByRole('button', { name: 'Create Invoice' }).click()
    await expect(page.getByRole('button', { name: 'All (2)' })).toBeVisible()
    await page.getByRole('link', { name: 'Kaveri Foods' }).first().click()
    answered.resolve()

    // A status that follows a typed due date is no choice: saving the form takes no payment back.
    await page.getByRole('textbox', { name: 'Due Date' }).fill('02/01/2026')
    await expect(page.getByRole('combobox', { name: 'Status' })).toHaveValue('overdue')
    await summary.getByRole('button', { name: 'Mark as paid' }).click()
    await expect(page.getByRole('combobox', { name: 'Status' })).toHaveValue('paid')
    await page.getByRole('button', { name: 'Update Invoice' }).click()
    await expect(page.getByRole('button', { name: 'Paid (1)', exact: true })).toBeVisible()
    await page.getByRole('link', { name: 'Kaveri Foods' }).first().click()

    await summary.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await expect(page.getByRole('button', { name: 'All (1)' })).toBeVisible()
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await expect(page.getByRole('button', { name: 'All (2)' })).toBeVisible()
  },
)
