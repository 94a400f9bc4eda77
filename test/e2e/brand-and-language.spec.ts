import { utils, write } from '@e965/xlsx'
import { readEmail } from '#test/read-email.ts'
import { expect, full, test } from './duely.ts'
import { onDashboard, signIn } from './sign-in.ts'

test(
  'a client is written to in German, below what the business says about itself, and replies to a confirmed address',
  full,
  async ({ page, program, smtp }) => {
    const owner = await signIn(page, program.url)
    await owner.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
    const client = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example' }
    await owner.send('POST', '/invoice', { ...client, amount: 48_500, currency: 'EUR', dueDate: '2026-01-02' })
    await page.goto('/dashboard/business?tab=brand')
    await page.getByLabel('Full name').fill('Neem Studio GmbH')
    await page.getByLabel('Address', { exact: true }).fill('1 Neem Road\nPune')
    const leave = () => page.getByRole('link', { name: 'Clients', exact: true }).click()
    await leave()
    await page.getByRole('dialog').getByRole('button', { name: 'Stay here' }).click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await expect(page.frameLocator('iframe').getByText('Neem Studio GmbH')).toBeVisible()

    await page.getByLabel('Email for replies').fill('office@neem.example')
    await page.getByLabel('Your current password').fill('correct horse battery')
    await page.getByRole('button', { name: 'Send a code' }).click()
    await expect(page.getByText('We sent 6 digits to office@neem.example.', { exact: false })).toBeVisible()
    const code = /\n(\d{6})\n/.exec((await readEmail(smtp.mails[0]?.raw)).text ?? '')?.[1] ?? ''
    await page.getByLabel('Code').fill(code)
    await page.getByRole('button', { name: 'Confirm' }).click()
    await expect(page.getByText('office@neem.example', { exact: false }).first()).toBeVisible()
    await expect(page.getByRole('button', { name: 'Reply to the mailbox again' })).toBeVisible()

    await leave()
    await page.getByRole('link', { name: 'Kaveri Foods' }).click()
    await page.getByLabel('Email language').selectOption('de')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await expect(page.getByText('Saved', { exact: false }).first()).toBeVisible()
    await owner.send('POST', '/reminder/send-immediate')
    await expect.poll(() => smtp.mails.length).toBe(2)
    const { subject, text, replyTo } = await readEmail(smtp.mails[1]?.raw)
    expect(subject).toBe('Zahlungserinnerung: Rechnung INV-0001 war am 2. Januar 2026 fällig')
    expect(text).toContain('\n-- \nNeem Studio GmbH\n1 Neem Road\nPune')
    expect(replyTo?.[0]).toMatchObject({ address: 'office@neem.example' })
  },
)

test('invoices are imported from an Excel file, in its currencies and languages', full, async ({ page, program }) => {
  const owner = await onDashboard(page, [], program.url)
  const book = utils.book_new()
  const rows = [
    ['Invoice No', 'Client', 'Email', 'Amount', 'Currency', 'Due Date', 'Language'],
    ['0007', 'Kaveri Foods', 'billing@kaveri.example', 5000.5, 'INR', '2027-03-01', ''],
    ['0008', 'Lindner', 'post@lindner.example', 1200, 'EUR', '2027-03-02', 'German'],
  ]
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows), 'Invoices')
  const buffer = Buffer.from(write(book, { type: 'array', bookType: 'xlsx' }) as ArrayBuffer)
  await page.getByRole('link', { name: 'Import' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.locator('input[type=file]').first().setInputFiles({ name: 'books.xlsx', mimeType: '', buffer })
  await dialog.getByRole('button', { name: 'Import 2 invoices' }).click()
  await expect(dialog.getByRole('heading', { name: '2 invoices imported' })).toBeVisible()
  expect(await owner.send('GET', '/invoice')).toMatchObject([
    { reference: '0008', amount: 1200, currency: 'EUR', dueDate: '2027-03-02', language: 'de' },
    { reference: '0007', amount: 5000.5, currency: 'INR', dueDate: '2027-03-01', language: null },
  ])
})
