import { openFakeReceiver } from '#test/fakes/receiver.ts'
import { expectAccessible } from './audit.ts'
import { full } from './duely.ts'
import { onDashboard, prove } from './sign-in.ts'
import { expect, test } from './with-programs.ts'

const head = 'Invoice Number,Invoice Status,Customer Name,Due Date,Currency Code,Total,Balance,Primary Contact EmailID'
const line = (number: number, status: string, balance: number, due = '2027-02-04') =>
  `ZB-${number},${status},Client ${number},${due},INR,1000,${balance},pay${number}@client.example`

test('a file again updates invoices, marks missing ones as paid where asked, and is undone', async ({ page, program }) => {
  await onDashboard(page, [], program.url)
  const dialog = page.getByRole('dialog')
  const choose = async (...lines: string[]) => {
    await page.getByRole('link', { name: 'Import' }).first().click()
    const buffer = Buffer.from([head, ...lines].join('\n'))
    await dialog.locator('input[type=file]').first().setInputFiles({ name: 'zoho.csv', mimeType: 'text/csv', buffer })
  }
  await choose(...[1, 2, 3, 4].map((number) => line(number, 'Sent', 1000)))
  await dialog.getByRole('button', { name: 'Import 4 invoices' }).click()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await choose(line(1, 'Closed', 0), line(2, 'Sent', 400), line(3, 'Sent', 1000), line(5, 'Sent', 1000))
  // Off at first: a known number is refused.
  await expect(dialog.getByRole('button', { name: 'Import 1 invoice' })).toBeVisible()
  await dialog.getByLabel('Update 3 invoices that are here already').check()
  await expect(dialog.getByText('₹400.00 to pay, before ₹1,000.00.')).toBeVisible()
  await expect(dialog.getByRole('button', { name: 'Import 1 new, update 2 invoices' })).toBeVisible()
  await dialog.getByLabel('Missing means paid').check()
  await expect(dialog.getByText('ZB-4 is open here and not in the file.')).toBeVisible()
  await dialog.getByRole('button', { name: 'Import 1 new, update 3 invoices' }).click()
  await expect(dialog.getByRole('heading', { name: '1 new, 3 updated, 1 unchanged' })).toBeVisible()
  await dialog.getByRole('button', { name: 'Undo import' }).click()
  await expect(page.getByText('1 invoice deleted, 3 as before.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'All (4)' })).toBeVisible()
})

test('what was answered about a list is kept for the next one, and a credit note is recorded on the invoice that it names', async ({
  page,
  program,
}) => {
  await onDashboard(page, [], program.url)
  const dialog = page.getByRole('dialog')
  const choose = async (...lines: string[]) => {
    await page.getByRole('link', { name: 'Import' }).first().click()
    const buffer = Buffer.from(['Kind,Number,Client,Email,Due Date,Total,State,Return Against', ...lines].join('\n'))
    await dialog.locator('input[type=file]').first().setInputFiles({ name: 'Ledger.csv', mimeType: 'text/csv', buffer })
  }
  const question = dialog.getByRole('group', { name: '1. In the column State, what do these words mean?' })
  await choose('Invoice,K-1,Kaveri Foods,pay@client.example,2027-02-14,1000,Awaiting,')
  await question.getByRole('radio', { name: 'Unpaid' }).click()
  await expect(dialog.getByText('Your answers are kept for files with these headings.')).toBeVisible()
  await dialog.getByRole('button', { name: 'Import 1 invoice' }).click()
  await dialog.getByRole('button', { name: 'Done' }).click()

  await choose('Invoice,K-2,Kaveri Foods,pay@client.example,2027-02-14,500,Awaiting,', 'Credit note,CN-1,Kaveri Foods,,,-300,,K-1')
  await expect(dialog.getByRole('button', { name: 'Import 1 invoice' })).toBeEnabled()
  await expect(question).toBeHidden()
  await dialog.getByRole('button', { name: 'Credit notes (1)' }).click()
  await expect(dialog.getByText('Credit note of ₹300.00 for K-1. It lowers what is to pay from ₹1,000.00 to ₹700.00.')).toBeVisible()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Record on K-1' }).click()
  await expect(dialog.getByText('Recorded on K-1')).toBeVisible()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await expect(page.getByText('of ₹1,000.00, due in')).toBeVisible()
  await expect(page.getByText('₹700.00').first()).toBeVisible()
})

test('a watched address is looked through, applied and undone', full, async ({ page, program }) => {
  await using receiver = await openFakeReceiver()
  receiver.answer({ status: 200, body: [head, line(1, 'Sent', 1000), line(2, 'Sent', 400), 'ZB-9,Sent,,,,,,'].join('\n') })
  await onDashboard(page, [], program.url)
  await page.getByRole('link', { name: 'Import' }).first().click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByText('Anyone who has this link can read the sheet.')).toBeVisible()
  await dialog.getByLabel('Link to a CSV file or Google Sheet').fill(`${receiver.url}/books.csv`)
  await prove(page)
  await dialog.getByRole('button', { name: 'Watch' }).click()
  await expect(dialog.getByText('This update changes 2 invoices. Look through it before it counts.')).toBeVisible()
  await expect(dialog.getByText('ZB-2 Client 2, ₹400.00')).toBeVisible()
  await dialog.getByRole('button', { name: 'Apply to 2 invoices' }).click()
  await expect(dialog.getByText('2 new, 0 updated, 0 unchanged')).toBeVisible()
  // The focus stays on the button while it works, and in the part that it was in.
  for (const [name, working, call] of [
    ['Undo update', 'Undoing...', '**/invoices/import/*/undo'],
    ['Remove', 'Removing...', '**/sources/*'],
  ] as const) {
    const { promise: seen, resolve: go } = Promise.withResolvers<void>()
    await page.route(call, async (route) => {
      await seen
      await route.continue()
    })
    await dialog.getByRole('button', { name }).click()
    await expect(dialog.getByRole('button', { name: working })).toBeFocused()
    go()
    await expect(dialog.getByRole('button', { name: working })).toHaveCount(0)
    await expect(dialog.getByRole('region').locator(':focus').or(dialog.locator('section:focus'))).toHaveCount(1)
    await page.unroute(call)
    if (name === 'Undo update') await expect(dialog.getByRole('button', { name })).toHaveCount(0)
  }
  await expect(page.getByText('2 invoices deleted, 0 as before.')).toBeVisible()
  await expect(dialog.getByRole('button', { name: 'Look now' })).toHaveCount(0)
})
