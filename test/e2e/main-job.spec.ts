import PostalMime from 'postal-mime'
import { expect, test } from './duely.ts'

test('from signing up to the first reminder: add an overdue invoice, connect a mailbox, start, and the email arrives', async ({
  page,
  smtp,
}) => {
  await page.goto('/')
  await page.getByRole('link', { name: 'Get Started' }).first().click()
  await expect(page.getByRole('heading', { name: 'Sign up to Duely' })).toBeVisible()
  await page.getByLabel('Full Name').fill('Asha Rao')
  await page.getByLabel('Email').fill('asha@banyan.example')
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery')
  await page.getByRole('button', { name: 'Sign Up' }).click()

  await expect(page.getByRole('heading', { name: 'Dashboard' })).toBeVisible()
  await expect(page.getByText('No invoices yet')).toBeVisible()
  await page.getByRole('link', { name: 'Create Invoice' }).first().click()
  await page.getByRole('combobox', { name: 'Client Name' }).fill('Kaveri Foods')
  await page.getByRole('combobox', { name: 'Client Email' }).fill('billing@kaveri.example')
  await page.getByLabel('Amount').fill('184200.50')
  const late = new Date(Date.now() - 10 * 24 * 3_600_000).toLocaleDateString('en-GB', { timeZone: 'Asia/Kolkata' })
  await page.getByLabel('Due date').fill(late)
  await page.getByRole('button', { name: 'Create Invoice' }).click()
  await expect(page.getByText('₹1,84,200.50').first()).toBeVisible()
  await expect(page.getByText('10 days ago').first()).toBeVisible()

  await page.getByRole('link', { name: 'Reminder Control' }).first().click()
  await expect(page.getByText('Email is not configured')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Start Reminders' })).toBeDisabled()

  await page.getByRole('link', { name: 'Email Settings' }).first().click()
  await page.getByRole('button', { name: 'Configure Custom SMTP' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Host').fill(smtp.host)
  await dialog.getByLabel('Port').fill(String(smtp.port))
  await dialog.getByLabel('Security').selectOption('TLS (Port 587)')
  await dialog.getByLabel('Email', { exact: true }).fill(smtp.login.user)
  await dialog.getByLabel('App Password', { exact: true }).fill('not the password')
  await dialog.getByRole('button', { name: 'Save SMTP Configuration' }).click()
  await expect(page.getByText(/Error configuring SMTP/).first()).toBeVisible()
  await dialog.getByLabel('App Password', { exact: true }).fill(smtp.login.pass)
  await dialog.getByRole('button', { name: 'Save SMTP Configuration' }).click()
  await expect(page.getByText('SMTP configured successfully!')).toBeVisible()
  await expect(page.getByText('Mail Configured')).toBeVisible()

  await page.getByRole('link', { name: 'Reminder Control' }).first().click()
  await page.getByRole('button', { name: 'Start Reminders' }).click()
  const asking = page.getByRole('dialog')
  await expect(asking.getByText('Kaveri Foods')).toBeVisible()
  await expect(asking.getByText('₹1,84,200.50').first()).toBeVisible()
  await asking.getByRole('button', { name: 'Start Reminders' }).click()
  await expect(page.getByText('Reminders started successfully!')).toBeVisible()
  await smtp.received(1)

  const mail = await PostalMime.parse(smtp.mails[0]?.raw ?? '')
  expect(mail.to).toEqual([{ name: 'Kaveri Foods', address: 'billing@kaveri.example' }])
  expect(mail.from).toEqual({ name: 'Asha Rao', address: smtp.login.user })
  expect(mail.subject).toContain('INV-0001')
  expect(mail.text).toContain('₹1,84,200.50')
  expect(mail.text).toContain(late)
  expect(mail.html).toContain('₹1,84,200.50')
  await expect(page.getByText('Active', { exact: true })).toBeVisible()

  await page.getByRole('link', { name: 'Dashboard' }).first().click()
  await expect(page.getByText(/^Reminded today/).first()).toBeVisible()
  await page.getByRole('button', { name: /Actions for INV-0001/ }).click()
  await page.getByRole('menuitem', { name: 'Mark as paid' }).click()
  await expect(page.getByText('INV-0001 is paid. No more reminders go out for it.')).toBeVisible()

  await page.getByRole('link', { name: 'Reminder Control' }).first().click()
  await page.getByRole('button', { name: 'Stop Reminders' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stop Reminders' }).click()
  await expect(page.getByText('Reminders stopped successfully!')).toBeVisible()
  await expect(page.getByText('Inactive', { exact: true })).toBeVisible()
  expect(smtp.mails.length).toBe(1)

  await page.getByRole('button', { name: /Asha Rao/ }).click()
  await page.getByRole('menuitem', { name: 'Sign Out' }).click()
  await expect(page).toHaveURL(/\/$/)
  await page.goto('/dashboard/reminder-control')
  await expect(page).toHaveURL(/\/signin/)
  await page.getByLabel('Email').fill('Asha@Banyan.example')
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery')
  await page.getByRole('button', { name: 'Sign In', exact: true }).last().click()
  await expect(page).toHaveURL(/\/dashboard\/reminder-control$/)
})

test('an expired access token is renewed silently, once for all tabs', async ({ page, context }) => {
  await page.goto('/signup')
  await page.getByLabel('Full Name').fill('Ravi Iyer')
  await page.getByLabel('Email').fill('ravi@iyer.example')
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery')
  await page.getByRole('button', { name: 'Sign Up' }).click()
  await expect(page.getByText('No invoices yet')).toBeVisible()
  let refreshed = 0
  context.on('request', (request) => {
    if (request.url().endsWith('/auth/refresh')) refreshed += 1
  })
  // From a page without scripts: the screen left behind must not send requests meanwhile.
  await page.goto('/robots.txt')
  await page.evaluate(() => localStorage.setItem('accessToken', 'one.that.has-run-out'))
  refreshed = 0
  const other = await context.newPage()
  await Promise.all([page.goto('/dashboard'), other.goto('/dashboard')])
  await expect(page.getByText('No invoices yet')).toBeVisible()
  await expect(other.getByText('No invoices yet')).toBeVisible()
  expect(refreshed).toBe(1)
})
