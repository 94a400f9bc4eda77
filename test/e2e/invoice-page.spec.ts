import { expect, test } from './duely.ts'
import { signIn } from './sign-in.ts'

test("an invoice's page shows the sent reminder, and a pause is shown everywhere until it is resumed", async ({ page, program, smtp }) => {
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
  await expect(page.getByText('Paused until 31/12/2999', { exact: true })).toBeVisible()

  await page.getByRole('button', { name: /Actions for INV-0001/ }).click()
  await page.getByRole('menuitem', { name: 'Resume reminders' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Resume reminders' }).click()
  await expect(page.getByText('Reminders to billing@kaveri.example have resumed.')).toBeVisible()
  await expect(page.getByText('Paused until 31/12/2999', { exact: true })).toBeHidden()
})
