import type { Invoice } from '#contract/invoices.ts'
import { expectAccessible } from './audit.ts'
import { expect, full, test } from './duely.ts'
import { signIn } from './sign-in.ts'

const daysAgo = (days: number) => Temporal.Now.plainDateISO('Asia/Kolkata').subtract({ days }).toString()

test('clients are listed by what is overdue in each currency; a client’s page shows habit and emails, and pauses and reminds all', async ({
  page,
  program,
  smtp,
}) => {
  const { send } = await signIn(page, program.url)
  await page.goto('/dashboard/clients')
  await expect(page.getByRole('heading', { name: 'No clients yet' })).toBeVisible()
  await expect(page.getByText('They appear with your first invoice.')).toBeVisible()

  await send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  const kaveri = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example' }
  for (const draft of [
    { ...kaveri, amount: 5000, dueDate: daysAgo(19), status: 'overdue' },
    { ...kaveri, amount: 120, currency: 'EUR', dueDate: daysAgo(5), status: 'overdue' },
    { ...kaveri, amount: 12250, dueDate: daysAgo(-8) },
    ...[1, 2, 3].map((nth) => ({ ...kaveri, amount: nth * 1000, dueDate: daysAgo(nth), status: 'overdue' })),
    { clientName: 'Arjun & Sons', clientEmail: 'desk@arjun.example', amount: 420000, dueDate: daysAgo(34), status: 'overdue' },
    { clientName: 'Lotus Dental', clientEmail: 'office@lotus.example', amount: 6400, dueDate: daysAgo(-3) },
  ])
    await send('POST', '/invoice', draft)
  const list = (await send('GET', '/invoice')) as Invoice[]
  const paid = list.filter(({ amount }) => [1000, 2000, 3000].includes(amount))
  await send('POST', '/invoices/change', { ids: paid.map(({ _id }) => _id), change: { do: 'mark', status: 'paid' } })
  await page.reload()
  await expect(page.getByText('3 clients owe you ₹4,43,650.00 + €120.00')).toBeVisible()
  const rows = page.getByRole('table', { name: 'Clients' }).getByRole('row')
  await expect(rows).toHaveCount(4)
  await expect(rows.nth(1)).toContainText('Arjun & Sons')
  await expect(rows.nth(2)).toContainText('₹5,000.00 + €120.00')
  await expectAccessible(page)
  await page.getByRole('searchbox', { name: 'Search clients' }).fill('kaveri')
  await expect(rows).toHaveCount(2)
  await page.getByRole('link', { name: 'Kaveri Foods' }).click()

  await expect(page.getByRole('heading', { name: 'Kaveri Foods', level: 1 })).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Usually pays 2 days late' })).toBeVisible()
  await expect(page.getByText('₹1,000.00 received for INV-0004')).toBeVisible()
  await page.getByRole('button', { name: 'Remind now…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: /^Send/ }).click()
  await expect.poll(() => smtp.mails.length).toBe(2)
  await page.reload()
  await expect(page.getByText('Reminder sent for INV-0001')).toBeVisible()
  await expectAccessible(page)

  await page.getByRole('button', { name: 'Pause all' }).click()
  await page.getByRole('dialog').getByRole('radio', { name: 'Until I resume them' }).check()
  await page.getByRole('dialog').getByRole('button', { name: 'Pause reminders' }).click()
  await expect(page.getByText('All reminders to billing@kaveri.example paused.')).toBeVisible()
  await page.getByRole('button', { name: 'Resume reminders' }).click()
  await expect(page.getByText('Reminders to billing@kaveri.example have resumed.')).toBeVisible()
})

test('a client gets further recipients, pasted as a list, each with what it gets', full, async ({ page, program }) => {
  const someone = await signIn(page, program.url)
  await someone.send('POST', '/invoice', {
    clientName: 'Kaveri',
    clientEmail: 'billing@kaveri.example',
    amount: 500,
    dueDate: '2026-02-20',
  })
  const [client] = (await someone.send('GET', '/clients')) as { _id: string }[]
  await page.goto(`/dashboard/clients/${client?._id}`)
  const copies = page.getByRole('group', { name: 'Copies to' })
  await copies.getByRole('button', { name: 'Add a recipient' }).click()
  const first = copies.getByLabel('Recipient 1', { exact: true })
  await first.fill('nothing')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(copies.getByText('Please enter an email address like name@example.com.')).toBeVisible()
  await first.fill('')
  await first.evaluate((field) => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text', 'Accounts <ap@kaveri.example>, boss@kaveri.example')
    field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  })
  await expect(copies.getByLabel('Recipient 2', { exact: true })).toHaveValue('boss@kaveri.example')
  await copies.getByLabel('What recipient 2 gets').selectOption('Never')
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(page.getByText('Client saved.').first()).toBeVisible()
  expect(await someone.send('GET', `/clients/${client?._id}`)).toMatchObject({
    copies: [
      { email: 'ap@kaveri.example', gets: 'every', step: null },
      { email: 'boss@kaveri.example', gets: 'never', step: null },
    ],
  })
})
