import { camt053, camtStatement, mt940, ofx, ownAccount, type StatementTransfer } from '#test/statement-files.ts'
import { expectAccessible } from './audit.ts'
import { expect, test } from './duely.ts'
import { signIn } from './sign-in.ts'

const day = (ago: number) => Temporal.Now.plainDateISO('Asia/Kolkata').subtract({ days: ago }).toString()
const usual = { id: ownAccount, currency: 'INR' }

test('a statement is reviewed by what its format says, and the same month in another format is recorded once', async ({
  page,
  program,
}) => {
  const { send } = await signIn(page, program.url)
  for (const [clientName, amount] of [
    ['Kaveri Foods', 3_000],
    ['Neem Pharma', 450],
    ['Lotus', 80],
  ] as const)
    await send('POST', '/invoice', { clientName, clientEmail: 'pay@example.com', amount, dueDate: day(9) })
  await page.goto('/dashboard/getting-paid/bank-file')
  const choose = (name: string, text: string) =>
    page.locator('input[type=file]').setInputFiles({ name, mimeType: '', buffer: Buffer.from(text) })
  const group = (name: string) => page.locator(`[data-group="${name}"]`)
  const another = () => page.getByRole('button', { name: 'Another file' }).click()

  await choose('old.sta', mt940.write([]).replace(':20:', '{1:F01BANKINBBAXXX0000000000}{2:O9500000}{4:\n:20:'))
  await expect(page.getByText(/^This is an MT950 statement\. Please export/)).toBeVisible()
  await choose('card.ofx', ofx.write([]).replaceAll('BANKMSGSRSV1', 'CREDITCARDMSGSRSV1').replaceAll('STMTRS>', 'CCSTMTRS>'))
  await expect(page.getByText(/No incoming payments were found|statement of a card/)).toBeVisible()
  await another()

  const month: StatementTransfer[] = [
    { date: day(6), amount: 3_000, name: 'Kaveri Foods', purpose: 'Invoice INV-0001' },
    { date: day(4), amount: -900, name: 'Landlord', purpose: 'Rent' },
    { date: day(3), amount: 450, name: 'Neem Pharma', purpose: 'INV-0002', state: 'pending' },
    { date: day(2), amount: 80, name: 'Lotus', purpose: 'INV-0003', id: 'L1' },
    { date: day(1), amount: -80, name: 'Lotus', purpose: 'Return INV-0003', id: 'L2', isReversal: true },
  ]
  const other = camtStatement([{ date: day(1), amount: 9, name: 'Other', purpose: 'Interest' }], {
    id: 'NL91ABNA0417164300',
    currency: 'USD',
  })
  await choose('November.xml', camt053.write(month, usual).replace('</BkToCstmrStmt>', `${other}</BkToCstmrStmt>`))
  const question = page.getByRole('group', { name: '1. Which account do your clients pay into?' })
  await expectAccessible(page)
  await question.getByRole('radio', { name: 'DE89 3704 0044 0532 0130 00 INR' }).click()
  await expect(page.getByText('CAMT.053, 2 accounts')).toBeVisible()
  await expect(group('sure')).toContainText('“INV-0001” and “Kaveri Foods” are in the row.')
  await expect(group('likely')).toContainText('Entry 5 takes this amount back. Record it only if the money stayed.')
  await expect(group('left')).toContainText('Pending, left out')
  await group('sure').getByRole('button', { name: 'Entry 1 as in the file' }).click()
  await expect(group('sure')).toContainText('<CdtDbtInd>CRDT</CdtDbtInd>')
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Record 1 payment, ₹3,000.00' }).click()
  await expect(page.getByText('1 payment recorded, ₹3,000.00. 1 invoice is paid.')).toBeVisible()

  await page.getByRole('button', { name: 'Import another file' }).click()
  await choose('November.sta', mt940.write(month, usual))
  await expect(page.getByText('MT940, DE89 3704 0044 0532 0130 00 INR')).toBeVisible()
  await expect(group('recorded')).toContainText('Kaveri Foods')
  await expect(page.getByRole('button', { name: 'Record 0 payments' })).toBeDisabled()
})

test('what was answered about a file is kept for the next one of the same bank, until it is deleted', async ({ page, program }) => {
  const { send } = await signIn(page, program.url)
  await send('POST', '/invoice', { clientName: 'Kaveri Foods', clientEmail: 'pay@example.com', amount: 500, dueDate: day(9) })
  await page.goto('/dashboard/getting-paid/bank-file')
  const choose = (ago: number, amount: number) =>
    page.locator('input[type=file]').setInputFiles({
      name: 'Kaveri Bank.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(
        `Date,Details,Amount,Type\n${day(ago)},INV-0001 part,${amount},INW\n${day(ago)},Rent,90.00,DR\n${day(ago)},x,1,CR`,
      ),
    })
  const question = page.getByRole('group', { name: '1. In the column Type, which words mean money in?' })
  await choose(3, 200)
  await question.getByRole('radio', { name: 'In', exact: true }).click()
  await expect(page.getByText('Your answers are kept for files with these headings.')).toBeVisible()
  await page.getByRole('button', { name: 'Record 1 payment, ₹200.00' }).click()
  await page.getByRole('button', { name: 'Import another file' }).click()

  await choose(2, 100)
  await expect(page.getByRole('button', { name: 'Record 1 payment, ₹100.00' })).toBeVisible()
  await expect(question).toBeHidden()
  await expect(page.getByText('In or out, “inw”: Money in')).toBeVisible()
  await page.getByRole('button', { name: 'Kept layouts' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByText(/^1 answer, kept on /)).toBeVisible()
  await expectAccessible(page)
  await dialog.getByLabel('Name').fill('Salary account')
  await dialog.getByLabel('Name').press('Enter')
  await dialog.getByRole('button', { name: 'Delete Salary account' }).click()
  await expect(dialog.getByText(/^No layouts are kept yet/)).toBeVisible()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Another file' }).click()
  await choose(2, 100)
  await expect(question).toBeVisible()
})

test('a debit of a later file takes a recorded payment back, where a person ticks it', async ({ page, program }) => {
  const { send } = await signIn(page, program.url)
  const { _id } = (await send('POST', '/invoice', {
    clientName: 'Lotus Dental',
    clientEmail: 'pay@example.com',
    amount: 500,
    dueDate: day(9),
  })) as { _id: string }
  await page.goto('/dashboard/getting-paid/bank-file')
  const choose = (transfers: StatementTransfer[]) =>
    page.locator('input[type=file]').setInputFiles({ name: 'b.xml', mimeType: '', buffer: Buffer.from(camt053.write(transfers, usual)) })
  await choose([{ date: day(8), amount: 500, name: 'Lotus Dental', purpose: 'INV-0001', id: 'X1' }])
  await page.getByRole('button', { name: 'Record 1 payment, ₹500.00' }).click()
  await page.getByRole('button', { name: 'Import another file' }).click()
  await choose([{ date: day(2), amount: -500, name: 'Lotus Dental', purpose: 'Return of INV-0001', id: 'X2', isReversal: true }])
  await expect(page.locator('[data-group=likely]')).toContainText('This debit takes back the payment recorded on')
  await expect(page.getByRole('button', { name: 'Record 0 payments' })).toBeDisabled()
  await expectAccessible(page)
  await page.getByRole('checkbox', { name: /^Take back ₹500.00 of/ }).click()
  await page.getByRole('button', { name: 'Take 1 payment back' }).click()
  await expect(page.getByText('1 payment taken back.')).toBeVisible()
  expect(await send('GET', `/invoice/${_id}`)).toMatchObject({ amountPaid: 0 })
})
