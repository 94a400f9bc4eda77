import { readFile } from 'node:fs/promises'
import type { Page } from '@playwright/test'
import type { Notice } from '#contract/notices.ts'
import { expectAccessible } from './audit.ts'
import { expect, full, test } from './duely.ts'
import { onDashboard } from './sign-in.ts'

const three = [
  { clientName: 'Kaveri Foods', amount: 500, status: 'overdue', dueInDays: -8 },
  { clientName: 'Studio Banyan', amount: 9000 },
  { clientName: 'Meridian Textiles', amount: 70, status: 'paid' },
]
const clients = (page: Page) => page.locator('[data-index] [data-open]').allTextContents()

test('the list sorts by its columns, and keeps view and order after a reload', full, async ({ page }) => {
  await onDashboard(page, three)
  await page.getByRole('button', { name: 'List', exact: true }).click()
  await page.getByRole('button', { name: 'Amount' }).click()
  await expect.poll(() => clients(page)).toEqual(['Studio Banyan', 'Kaveri Foods', 'Meridian Textiles'])
  await expect(page.getByRole('columnheader', { name: 'Amount' })).toHaveAttribute('aria-sort', 'descending')
  await expectAccessible(page)
  await page.reload()
  await expect(page.getByRole('columnheader', { name: 'Amount' })).toHaveAttribute('aria-sort', 'descending')
  await page.getByRole('button', { name: 'Client', exact: true }).click()
  await expect.poll(() => clients(page)).toEqual(['Kaveri Foods', 'Meridian Textiles', 'Studio Banyan'])
})

test('the list has the next reminder, and its order works on cards too', full, async ({ page }) => {
  await onDashboard(page, three)
  await expect.poll(() => clients(page)).toEqual(['Kaveri Foods', 'Studio Banyan', 'Meridian Textiles'])
  await page.getByLabel('Sort by').selectOption('Amount, largest first')
  await expect.poll(() => clients(page)).toEqual(['Studio Banyan', 'Kaveri Foods', 'Meridian Textiles'])
  await page.getByRole('button', { name: 'List', exact: true }).click()
  const head = page.getByRole('columnheader')
  await expect(head.filter({ hasText: 'Next' })).toBeVisible()
  await expect(page.getByRole('row', { name: /Kaveri Foods/ }).getByRole('cell', { name: 'Off' })).toBeVisible()
  await page.getByRole('button', { name: 'Next', exact: true }).click()
  await expect(head.filter({ hasText: 'Next' })).toHaveAttribute('aria-sort', 'ascending')
  // No cell of a date is cut, at the width of a laptop and of a tablet.
  for (const width of [1280, 1024]) {
    await page.setViewportSize({ width, height: 800 })
    const cut = page.locator('[data-index] td').filter({ hasText: /\d\d\/\d\d\/\d{4}/ })
    expect(await cut.evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth + 1).length)).toBe(0)
  }
})

test('Mark as paid is on the card, and Undo restores the status', full, async ({ page }) => {
  await onDashboard(page, three)
  await page.getByRole('button', { name: /^Mark as paid: .*, Kaveri Foods$/ }).click()
  await expect(page.getByText('INV-0001 is paid. No more reminders go out for it.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Paid (2)', exact: true })).toBeVisible()
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByText('INV-0001 is overdue again.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Overdue (1)', exact: true })).toBeVisible()
})

test('bulk actions mark as paid, pause and delete, and Undo restores each invoice', async ({ page }) => {
  await onDashboard(page, three)
  await page.getByRole('button', { name: 'List', exact: true }).click()
  const boxes = page.getByRole('checkbox', { name: /^Select/ })
  const bar = page.getByRole('region', { name: 'Selected invoices' })
  await boxes.first().click()
  await boxes.last().click({ modifiers: ['Shift'] })
  await expect(bar).toContainText('3 selected')
  await expectAccessible(page)
  await bar.getByRole('button', { name: 'Mark as paid' }).click()
  await expect(page.getByText('2 invoices marked as paid.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Paid (3)', exact: true })).toBeVisible()
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByText('Change undone for 2 invoices.')).toBeVisible()
  for (const name of ['Paid (1)', 'Unpaid (1)', 'Overdue (1)']) await expect(page.getByRole('button', { name, exact: true })).toBeVisible()

  await boxes.first().click()
  await bar.getByRole('button', { name: 'Select all 3' }).click()
  await bar.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('radio', { name: 'Until I resume them' }).click()
  await page.getByRole('button', { name: 'Pause reminders' }).click()
  await expect(page.getByText('2 invoices paused.')).toBeVisible()
  await expect(page.getByRole('cell', { name: 'Paused', exact: true })).toHaveCount(2)
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByRole('cell', { name: 'Paused', exact: true })).toHaveCount(0)

  await boxes.first().click()
  await boxes.last().click()
  await bar.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect(page.getByRole('button', { name: 'All (1)' })).toBeVisible()
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByRole('button', { name: 'All (3)' })).toBeVisible()
})

test('an import previews each line before it saves, and can be undone', async ({ page }) => {
  await onDashboard(page, [{ clientName: 'Kaveri Foods', amount: 500 }])
  const due = Temporal.Now.plainDateISO('Asia/Kolkata').add({ days: 10 }).toString()
  const csv = [
    'Invoice Number;Customer Name;Email;Total;Due Date',
    'B-1;Studio Banyan;hello@banyan.example;"1.250,50";31/12/2026',
    `B-2;Kaveri Foods;billing@kaveri.example;500;${due}`,
    'B-3;Orbit Logistics;nobody;12;31/12/2026',
    'B-4;Orbit Logistics;pay@orbit.example;12;31/02/2026',
  ].join('\r\n')
  await page.getByRole('link', { name: 'Import' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByText('Drop a CSV or Excel file here, or choose one')).toBeVisible()
  await expectAccessible(page)
  await dialog.locator('input[type=file]').setInputFiles({ name: 'books.xlsx', mimeType: '', buffer: Buffer.from('PK\u0003\u0004') })
  await expect(dialog.getByText("Couldn't read this spreadsheet.", { exact: false })).toBeVisible()
  await dialog.locator('input[type=file]').setInputFiles({ name: 'books.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
  await expect(dialog.getByText('₹1,250.50')).toBeVisible()
  await expect(dialog.getByText('Duplicate: INV-0001 has the same client email, amount and due date.')).toBeVisible()
  await dialog.getByRole('button', { name: 'With problems (2)' }).click()
  await expect(dialog.getByText('Please enter a date such as 31/03/2026.')).toBeVisible()
  await expectAccessible(page)
  // A problem is corrected in its cell.
  await dialog.getByRole('button', { name: 'Due date 31/02/2026' }).click()
  await dialog.getByRole('textbox', { name: 'Due date' }).fill('28/02/2027')
  await page.keyboard.press('Enter')
  await expect(dialog.getByRole('button', { name: 'With problems (1)' })).toBeVisible()
  await dialog.getByRole('button', { name: 'Ready (2)' }).click()
  await expect(dialog.getByText('due 28 Feb 2027')).toBeVisible()
  await dialog.getByRole('checkbox', { name: 'Import duplicates too' }).click()
  await dialog.getByRole('button', { name: 'Import 3 invoices' }).click()
  await expect(dialog.getByRole('heading', { name: '3 invoices imported' })).toBeVisible()
  await expect(page.locator('main').getByText('All (4)')).toBeAttached()
  await dialog.getByRole('button', { name: 'Undo import' }).click()
  await expect(page.getByRole('button', { name: 'All (1)' })).toBeVisible()
})

test('the export has the invoices shown, and can be imported again', async ({ page }) => {
  await onDashboard(page, three)
  const saved = async () => {
    const download = await page.waitForEvent('download')
    expect(download.suggestedFilename()).toMatch(/^duely-invoices-\d{4}-\d\d-\d\d\.csv$/)
    return readFile(await download.path(), 'utf8')
  }
  const all = saved()
  await page.getByRole('button', { name: 'Export' }).click()
  expect((await all).trim().split('\r\n')).toHaveLength(4)
  await page.getByRole('button', { name: 'Paid (1)', exact: true }).click()
  // Until the filter is applied, Export has no choice to offer.
  await page.locator('button[aria-haspopup=menu]', { hasText: 'Export' }).click()
  const paid = saved()
  await page.getByRole('menuitem', { name: 'Only the 1 invoice shown' }).click()
  const text = await paid
  expect(text).toContain('"Meridian Textiles"')
  expect(text.trim().split('\r\n')).toHaveLength(2)
  await page.getByRole('link', { name: 'Import' }).click()
  await page.locator('input[type=file]').setInputFiles({ name: 'again.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
  await expect(page.getByRole('dialog').getByRole('button', { name: /^Duplicates \(1\)|^With problems \(1\)/ })).not.toHaveCount(0)
})

test('the keyboard reaches every part of the dashboard', full, async ({ page }) => {
  await onDashboard(page, three)
  await page.keyboard.press('Control+k')
  await expect(page.getByRole('combobox', { name: 'Search and commands' })).toBeFocused()
  await expectAccessible(page)
  await page.keyboard.type('inv-0002')
  const found = page.getByRole('option', { name: /^Studio Banyan/ })
  await expect(found).toHaveAttribute('data-combobox-selected', 'true')
  const named = (await found.getAttribute('id')) ?? 'nothing'
  await expect(page.getByRole('combobox', { name: 'Search and commands' })).toHaveAttribute('aria-activedescendant', named)
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/edit-invoice/)
  await page.keyboard.press('Control+k')
  await expect(page.getByRole('combobox', { name: 'Search and commands' })).toBeFocused()
  // Typed faster than the list renders: Enter must act on the text.
  await page.keyboard.type('light theme')
  await page.keyboard.press('Enter')
  await expect(page.locator('html')).not.toHaveClass(/dark/)
  await page.goto('/dashboard')
  await expect(page.getByRole('button', { name: 'All (3)' })).toBeVisible()

  await page.keyboard.press('/')
  await page.keyboard.type('n?')
  await expect(page.getByRole('textbox', { name: 'Search' })).toHaveValue('n?')
  await page.keyboard.press('Escape')
  await expect(page.locator('[data-index="2"]')).toBeVisible()
  await page.keyboard.press('ArrowDown')
  await expect(page.locator('[data-index="0"] [data-open]')).toBeFocused()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('x')
  await expect(page.getByRole('region', { name: 'Selected invoices' })).toContainText('1 selected')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/edit-invoice/)
  await page.keyboard.press('?')
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible()
  await expectAccessible(page)
  await page.getByRole('switch', { name: 'Single-key shortcuts' }).click()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.keyboard.press('n')
  await expect(page).toHaveURL(/edit-invoice/)
})

test('the palette shows that the invoices load before it finds none', full, async ({ page }) => {
  await onDashboard(page, three)
  await page.goto('/dashboard/profile')
  await expect(page.getByLabel('Display Name')).toBeVisible()
  const { promise: asked, resolve: answer } = Promise.withResolvers<void>()
  await page.route('**/invoice', async (route) => {
    await asked
    await route.continue()
  })
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search and commands' }).fill('banyan')
  await expect(page.getByRole('dialog').getByText('Loading invoices...')).toHaveCount(2)
  answer()
  await expect(page.getByRole('option', { name: /Studio Banyan/ }).first()).toBeVisible()
})

test('the palette keeps the focus when a screen loads behind it', full, async ({ page }) => {
  await onDashboard(page, three)
  let fetched = () => {}
  const held = new Promise<void>((resolve) => {
    fetched = resolve
  })
  await page.route(/edit-invoice-screen-.*\.js$/, async (route) => {
    await held
    await route.continue()
  })
  const box = page.getByRole('combobox', { name: 'Search and commands' })
  await page.keyboard.press('Control+k')
  await expect(box).toBeFocused()
  await page.keyboard.type('inv-0002')
  await expect(page.getByRole('option', { name: /Studio Banyan INV-0002/ })).toHaveAttribute('data-combobox-selected', 'true')
  await page.keyboard.press('Enter')
  await expect(box).toHaveCount(0)
  await page.keyboard.press('Control+k')
  await expect(box).toBeFocused()
  fetched()
  await expect(page.getByRole('heading', { name: 'Edit Invoice', includeHidden: true })).toBeAttached()
  await expect(box).toBeFocused()
})

test('a client of an earlier invoice is suggested, and leaving asks before it discards the form', full, async ({ page }) => {
  await onDashboard(page, three)
  await page.keyboard.press('n')
  await expect(page).toHaveURL(/new-invoice/)
  await page.getByLabel('Client Name').fill('kav')
  await page.getByRole('option', { name: 'Kaveri Foods' }).click()
  await expect(page.getByRole('combobox', { name: 'Client Email' })).toHaveValue('billing@kaveri.example')
  await page.getByRole('link', { name: 'Cancel' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stay here' }).click()
  await page.getByLabel('Amount').fill('75')
  await page.getByRole('textbox', { name: 'Due Date' }).fill('31/12/2026')
  await page.getByRole('button', { name: 'Create Invoice' }).click()
  await expect(page.getByRole('button', { name: 'All (4)' })).toBeVisible()
})

test('leaving a changed invoice asks first, leaving an unchanged one does not', full, async ({ page }) => {
  await onDashboard(page, three)
  const open = () => page.getByRole('main').getByRole('link', { name: 'Kaveri Foods' }).click()
  const leave = () => page.getByRole('navigation', { name: 'Dashboard screens' }).getByRole('link', { name: 'Reminder Control' }).click()
  await open()
  await expect(page.getByLabel('Amount')).not.toHaveValue('')
  await page.getByRole('link', { name: 'Cancel' }).click()
  await expect(page.getByRole('button', { name: 'All (3)' })).toBeVisible()

  await open()
  await page.getByLabel('Amount').fill('75.25')
  await leave()
  await page.getByRole('dialog').getByRole('button', { name: 'Stay here' }).click()
  await expect(page.getByLabel('Amount')).toHaveValue('75.25')
  await page.getByRole('button', { name: 'Update Invoice' }).click()
  await expect(page.getByText('₹75.25').first()).toBeVisible()

  await open()
  await page.getByLabel('Amount').fill('99')
  await leave()
  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
  await expect(page.getByRole('heading', { name: 'Reminder Control' })).toBeVisible()
})

test('a due date that has passed sets the status to Overdue until a status is chosen', full, async ({ page }) => {
  await onDashboard(page, [])
  await page.getByRole('main').getByRole('link', { name: 'Create Invoice' }).first().click()
  const due = page.getByRole('textbox', { name: 'Due Date' })
  const status = page.getByRole('combobox', { name: 'Status' })
  await expect(status).toHaveValue('unpaid')
  await due.fill('02/01/2026')
  await expect(status).toHaveValue('overdue')
  await expect(status).toHaveAccessibleDescription('Set to Overdue because the due date has passed.')
  await expectAccessible(page)
  await due.fill('31/12/2999')
  await expect(status).toHaveValue('unpaid')
  await expect(status).toHaveAccessibleDescription('')
  await due.fill('02/01/2026')
  await status.selectOption('unpaid')
  await due.fill('03/01/2026')
  await expect(status).toHaveValue('unpaid')
  await status.selectOption('overdue')
  await page.getByRole('combobox', { name: 'Client Name' }).fill('Kaveri Foods')
  await page.getByRole('combobox', { name: 'Client Email' }).fill('billing@kaveri.example')
  await page.getByLabel('Amount').fill('500')
  await page.getByRole('button', { name: 'Create Invoice' }).click()
  await expect(page.getByRole('button', { name: 'Overdue (1)' })).toBeVisible()
  await expect(page.getByRole('button', { name: /^Overdue ₹500\.00 1 invoice of 1 client$/ })).toBeVisible()
})

test('an amount may have commas, and an invalid one stays as typed with the reason below', full, async ({ page }) => {
  await onDashboard(page, [])
  await page.getByRole('main').getByRole('link', { name: 'Create Invoice' }).first().click()
  const amount = page.getByLabel('Amount')
  for (const [typed, says] of [
    ['-5', 'Please enter an amount above 0.'],
    ['1e5', 'Please enter an amount such as 5000.50.'],
    ['1.234', 'Please enter an amount with at most two decimals.'],
    ['1,00', 'Please enter an amount such as 5000.50.'],
  ] as const) {
    await amount.fill('')
    await amount.pressSequentially(typed)
    await amount.blur()
    await expect(amount).toHaveValue(typed)
    await expect(page.getByText(says)).toBeVisible()
  }
  for (const [typed, shown] of [
    ['48,500', '48,500.00'],
    ['99,99,99,999.99', '99,99,99,999.99'],
    ['1,84,200', '1,84,200.00'],
  ] as const) {
    await amount.fill('')
    await amount.pressSequentially(typed)
    await expect(amount).toHaveValue(typed)
    await amount.blur()
    await expect(amount).toHaveValue(shown)
    await expect(amount).not.toHaveAttribute('aria-invalid', 'true')
  }
  await page.getByLabel('Client Name').fill('Kaveri Foods')
  await page.getByRole('combobox', { name: 'Client Email' }).fill('billing@kaveri.example')
  await page.getByRole('textbox', { name: 'Due Date' }).fill('31/12/2026')
  await page.getByRole('button', { name: 'Create Invoice' }).click()
  await expect(page.getByText('₹1,84,200.00').first()).toBeVisible()
  await page.getByRole('link', { name: /Kaveri Foods/ }).click()
  await expect(page.getByLabel('Amount')).toHaveValue('1,84,200.00')
})

test('an invalid date shows the expected format, and a missing invoice links back to the list', full, async ({ page }) => {
  await onDashboard(page, [])
  await page.getByRole('main').getByRole('link', { name: 'Create Invoice' }).first().click()
  await page.getByRole('textbox', { name: 'Due Date' }).fill('31/02/2026')
  await page.getByRole('button', { name: 'Create Invoice' }).click()
  await expect(page.getByText('Please enter a date such as 31/03/2026.')).toBeVisible()
  await page.goto('/dashboard/edit-invoice/0197f0a0-0000-7000-8000-000000000000')
  await expect(page.getByText(/^Failed to load invoice: /)).toBeVisible()
  await page.getByRole('link', { name: 'Go to the dashboard' }).click()
  await expect(page.getByText('No invoices yet')).toBeVisible()
})

test('on a phone the list has a select for its order, and no row is cut', full, async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await onDashboard(page, three)
  await page.getByRole('button', { name: 'List', exact: true }).click()
  await page.getByLabel('Sort by').selectOption('Amount, smallest first')
  await expect.poll(() => clients(page)).toEqual(['Meridian Textiles', 'Kaveri Foods', 'Studio Banyan'])
  await page.reload()
  await expect(page.getByLabel('Sort by')).toHaveValue(JSON.stringify({ by: 'amount', ascending: true }))
  const late = page.getByRole('row', { name: /Kaveri Foods/ }).getByText('8 days ago')
  await expect(late).toBeVisible()
  expect(await late.evaluate(({ parentElement: cell }) => cell !== null && cell.scrollWidth <= cell.clientWidth)).toBe(true)
})

test('the table behind the due line lists every invoice, the most overdue first', full, async ({ page }) => {
  await onDashboard(page, [
    ...three,
    ...[1, 2, 3, 4, 5].map((number) => ({ clientName: `Anand ${number}`, amount: number, dueInDays: number })),
  ])
  await page.getByRole('button', { name: 'As a list' }).click()
  const rows = page.getByRole('table', { name: /the most overdue first/ }).getByRole('row')
  await expect(rows).toHaveCount(7)
  await expect(rows.nth(1)).toHaveText(/Kaveri Foods.*8 days late/)
  await page.getByRole('button', { name: 'Show all 7' }).click()
  await expect(rows).toHaveCount(8)
})

test('navigation moves the focus to the new page', async ({ page }) => {
  await onDashboard(page, [])
  await page.getByRole('main').getByRole('link', { name: 'Create Invoice' }).first().press('Enter')
  await expect(page.getByRole('heading', { name: 'Create Invoice' })).toBeVisible()
  await expect(page.getByRole('main')).toBeFocused()
})

test('the filter counts follow the search, in name or email and any case, until it is cleared', full, async ({ page }) => {
  await onDashboard(page, [...three, { clientName: 'Kaveri Motors', amount: 20, status: 'paid' }])
  const search = page.getByRole('textbox', { name: 'Search', exact: true })
  const counts = () => page.getByRole('group', { name: 'Filter by status' }).getByRole('button').allTextContents()
  await expect(page.getByRole('button', { name: 'Clear search' })).toHaveCount(0)
  await search.fill('KAVERI')
  await expect.poll(counts).toEqual(['All (2)', 'Paid (1)', 'Unpaid (0)', 'Overdue (1)'])
  expect(await clients(page)).toEqual(['Kaveri Foods', 'Kaveri Motors'])
  await page.getByRole('button', { name: 'Paid (1)', exact: true }).click()
  await expect.poll(() => clients(page)).toEqual(['Kaveri Motors'])
  // The address has the search and the filter.
  await expect(page).toHaveURL(/search=KAVERI/)
  await page.reload()
  await expect(search).toHaveValue('KAVERI')
  await expect.poll(() => clients(page)).toEqual(['Kaveri Motors'])
  await page.getByRole('button', { name: 'Clear search' }).click()
  await expect(search).toHaveValue('')
  await expect(search).toBeFocused()
  await expect.poll(counts).toEqual(['All (4)', 'Paid (2)', 'Unpaid (1)', 'Overdue (1)'])
  await expect(page.getByRole('button', { name: 'Paid (2)', exact: true })).toHaveAttribute('aria-pressed', 'true')
  await search.fill('billing@studio')
  await expect.poll(counts).toEqual(['All (1)', 'Paid (0)', 'Unpaid (1)', 'Overdue (0)'])
  await page.keyboard.press('Escape')
  await expect.poll(counts).toEqual(['All (4)', 'Paid (2)', 'Unpaid (1)', 'Overdue (1)'])
})

test('a search without results names its query and filter, and links back to the invoices', full, async ({ page }) => {
  await onDashboard(page, three)
  const main = page.getByRole('main')
  const search = page.getByRole('textbox', { name: 'Search', exact: true })
  await search.fill('orbit')
  await expect(main.getByRole('heading', { name: 'No invoices found' })).toBeVisible()
  await expect(main.getByText('No invoices match your search "orbit"', { exact: true })).toBeVisible()
  await expect(main.getByRole('button', { name: 'View all invoices' })).toHaveCount(0)
  for (const name of ['Paid', 'Unpaid', 'Overdue']) {
    await page.getByRole('button', { name: `${name} (0)`, exact: true }).click()
    await expect(main.getByText(`No invoices match your search "orbit" in ${name.toLowerCase()} status`, { exact: true })).toBeVisible()
  }
  await main.getByRole('button', { name: 'Clear search' }).last().click()
  await expect(search).toHaveValue('')
  await expect.poll(() => clients(page)).toEqual(['Kaveri Foods'])
  await search.fill('orbit')
  await main.getByRole('button', { name: 'View all invoices' }).click()
  await expect(main.getByText('No invoices match your search "orbit"', { exact: true })).toBeVisible()
  await expect(page.getByRole('button', { name: 'All (0)' })).toHaveAttribute('aria-pressed', 'true')
})

for (const [filter, others, says] of [
  ['Unpaid', ['paid', 'overdue'], 'No unpaid invoices at the moment.'],
  ['Paid', ['unpaid', 'overdue'], 'No invoices have been marked as paid yet.'],
  ['Overdue', ['unpaid', 'paid'], 'No overdue invoices found.'],
] as const)
  test(`without ${filter.toLowerCase()} invoices the filter shows that and links back to all`, full, async ({ page }) => {
    await onDashboard(
      page,
      others.map((status, index) => ({ clientName: `Client ${index}`, amount: 5 + index, status })),
    )
    await page.getByRole('button', { name: `${filter} (0)`, exact: true }).click()
    await expect(page.getByText(says, { exact: true })).toBeVisible()
    await expect(page.getByRole('main').getByRole('button', { name: 'Clear search' })).toHaveCount(0)
    await page.getByRole('button', { name: 'View all invoices' }).click()
    await expect(page.locator('[data-index]')).toHaveCount(2)
  })

test('the list shows that it loads, then the error, and loads again on request', full, async ({ page }) => {
  await onDashboard(page, [{ clientName: 'Kaveri Foods', amount: 500, dueInDays: 0 }])
  const list = (url: URL) => url.pathname === '/invoice'
  let refuse = () => {}
  const held = new Promise<void>((resolve) => {
    refuse = resolve
  })
  await page.route(list, async (route) => {
    await held
    await route.fulfill({ status: 500, json: { code: 'fault', message: 'The shelves are being tidied.' } })
  })
  await page.reload()
  await expect(page.getByText('Loading invoices...')).toBeAttached()
  refuse()
  await expect(page.getByText('Error loading invoices: The shelves are being tidied.')).toBeVisible()
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByRole('link', { name: 'Kaveri Foods' })).toBeVisible()
  const today = new Intl.DateTimeFormat('en-GB', { timeZone: 'Asia/Kolkata' }).format(new Date())
  await expect(page.getByText(`Due ${today}`, { exact: false })).toBeVisible()
})

test('an empty dashboard offers to add an invoice or import a file', full, async ({ page }) => {
  await onDashboard(page, [])
  await expect(page.getByRole('heading', { name: 'No invoices yet' })).toBeVisible()
  await expect(page.getByText('Get started by creating your first invoice')).toBeVisible()
  await page.getByRole('link', { name: 'Import from CSV' }).click()
  await expect(page.getByRole('dialog', { name: 'Import invoices' })).toBeVisible()
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.getByRole('main').getByRole('link', { name: 'Create Invoice' }).last().click()
  await expect(page.getByText('Fill in the details to create a new invoice')).toBeVisible()
})

test('the arrow keys move over the cards, also to rows that are not rendered yet', full, async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 700 })
  await onDashboard(
    page,
    Array.from({ length: 60 }, (_, index) => ({ clientName: `Client ${index + 1}`, amount: 100 + index })),
  )
  const columns = await page
    .locator('[data-index]')
    .evaluateAll((cards) => new Set(cards.map((card) => card.getBoundingClientRect().left)).size)
  expect(columns).toBeGreaterThan(1)
  const focused = (index: number) => expect(page.locator(`[data-index="${index}"] [data-open]`)).toBeFocused()
  await page.keyboard.press('/')
  await page.keyboard.press('ArrowDown')
  await focused(0)
  await page.keyboard.press('ArrowLeft')
  await focused(0)
  await page.keyboard.press('ArrowRight')
  await focused(1)
  await page.keyboard.press('ArrowDown')
  await focused(1 + columns)
  await page.keyboard.press('ArrowUp')
  await focused(1)
  await page.keyboard.press('ArrowLeft')
  await focused(0)
  await expect(page.locator('[data-index="59"]')).toHaveCount(0)
  const rows = Math.ceil(60 / columns)
  for (let row = 1; row < rows; row += 1) {
    await page.keyboard.press('ArrowDown')
    await focused(Math.min(59, row * columns))
    await expect(page.locator(`[data-index="${Math.min(59, row * columns)}"]`)).toBeInViewport()
  }
  await page.keyboard.press('End')
  await expect(page.locator('[data-index="59"]')).toBeInViewport()
})

test('leaving the dashboard right after typing a search works, however slow the next screen loads', full, async ({ page }) => {
  await page.clock.install()
  await onDashboard(page, three)
  let arrive = () => {}
  const held = new Promise<void>((resolve) => {
    arrive = resolve
  })
  await page.route(/edit-invoice-screen-.*\.js$/, async (route) => {
    await held
    await route.continue()
  })
  const asked = page.waitForRequest(/edit-invoice-screen-.*\.js$/)
  await page.getByRole('textbox', { name: 'Search', exact: true }).fill('kaveri')
  await page.getByRole('link', { name: 'Kaveri Foods' }).click()
  await asked
  // Longer than the debounce of the search in the address.
  await page.clock.runFor(1_000)
  arrive()
  await expect(page.getByRole('heading', { name: 'Edit Invoice' })).toBeVisible()
})

test('single-letter shortcuts search and create an invoice, and stay letters in a text field', full, async ({ page }) => {
  await onDashboard(page, three)
  const search = page.getByRole('textbox', { name: 'Search', exact: true })
  await page.keyboard.press('/')
  await expect(search).toBeFocused()
  await expect(search).toHaveValue('')
  await page.keyboard.press('n')
  await page.keyboard.press('/')
  await expect(search).toHaveValue('n/')
  await expect(page).toHaveURL(/\/dashboard(\?|$)/)
  await search.fill('')
  await search.blur()
  await page.keyboard.press('n')
  await expect(page.getByRole('heading', { name: 'Create Invoice' })).toBeVisible()
  const client = page.getByRole('combobox', { name: 'Client Name' })
  await client.focus()
  await page.keyboard.type('n/')
  await expect(client).toHaveValue('n/')
  await page.keyboard.press('Control+k')
  await expect(page.getByRole('combobox', { name: 'Search and commands' })).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(client).toHaveValue('n/')
  await expect(client).toBeFocused()
})

test('three tiles and two sums frame the due line, which opens an invoice before the server answers', async ({ page }) => {
  const owner = await onDashboard(page, [
    { clientName: 'Kaveri Foods', amount: 1_200, status: 'overdue', dueInDays: -5 },
    { clientName: 'Studio Banyan', amount: 340.5, dueInDays: 6 },
    { clientName: 'Lotus Dental', amount: 99, dueInDays: 60 },
    { clientName: 'Nila Printers', amount: 700 },
  ])
  // An import does not say when an invoice was paid.
  const invoices = (await owner.send('GET', '/invoice')) as { _id: string; clientName: string }[]
  const paid = invoices.find(({ clientName }) => clientName === 'Nila Printers')
  await owner.send('PATCH', `/invoice/${paid?._id}`, { status: 'paid' })
  await page.reload()
  await expect(page.getByText('Manage your invoices and reminders')).toBeVisible()
  const overview = page.getByRole('region', { name: 'Overview' })
  await expect(overview.getByRole('button', { name: 'Overdue ₹1,200.00 1 invoice of 1 client' })).toBeVisible()
  await expect(overview.getByRole('link', { name: 'Next reminders Off Start daily reminders' })).toBeVisible()
  await expect(overview.getByRole('button', { name: 'Needs attention 0 Nothing right now' })).toBeVisible()
  for (const [label, sum] of [
    ['Due within 14 days', '₹340.50'],
    ['Paid this month', '₹700.00'],
  ] as const)
    await expect(page.locator('dl > div').filter({ hasText: label })).toContainText(sum)
  await expect(overview.getByRole('heading', { name: 'Only Kaveri Foods is overdue' })).toBeVisible()
  await overview.getByRole('button', { name: /^Overdue/ }).click()
  await expect(page.getByRole('button', { name: 'Overdue (1)' })).toHaveAttribute('aria-pressed', 'true')

  const answered = Promise.withResolvers<void>()
  await page.route(/\/invoice\/[^/]+$/, async (route) => {
    if (route.request().isNavigationRequest()) return route.fallback()
    await answered.promise
    await route.fallback()
  })
  await page.getByRole('button', { name: /^Kaveri Foods/ }).click()
  await expect(page.getByRole('combobox', { name: 'Client Name' })).toHaveValue('Kaveri Foods')
  await expect(page.getByLabel('Amount')).toHaveValue('1,200.00')
  answered.resolve()
})

const notices: Notice[] = [
  { kind: 'address_refused', title: 'The Consolidated Weav…’s address doesn’t exist' },
  { kind: 'promise_broken', title: 'Nila Printers has not paid as promised' },
  { kind: 'webhook_failing', title: 'books.example doesn’t answer' },
].map(({ kind, title }, nth) => ({
  _id: String(nth),
  kind: kind as Notice['kind'],
  summary: title,
  title,
  text: 'What happened, and what to do.',
  link: '/dashboard/reminder-control',
  clients: [],
  createdAt: '2026-11-20T03:30:00Z',
  updatedAt: '2026-11-20T03:30:00Z',
}))

for (const [device, viewport] of [
  ['a laptop', { width: 1280, height: 800 }],
  ['a phone', { width: 390, height: 844 }],
] as const)
  test(
    `with three notices, the first invoice and the Overdue filter are in the window of ${device}, and the bell lists all`,
    full,
    async ({ page }) => {
      await page.setViewportSize(viewport)
      await page.route('**/user/notices', (route) => route.fulfill({ json: notices }))
      // The checklist of a new account stays above the tiles until a first reminder was accepted.
      await page.route('**/reminder/status', async (route) => {
        const response = await route.fetch()
        await route.fulfill({ response, json: { ...(await response.json()), lastReminderSent: '2026-11-20T03:30:00Z' } })
      })
      await onDashboard(page, three)
      const line = page.getByRole('status').filter({ hasText: '3 need attention:' })
      if (device === 'a laptop') await expect(line).toContainText('Nila Printers has not paid as promised · 1 more')
      const words = line.locator('p')
      await expect(words).toContainText('address doesn’t exist')
      expect(await words.evaluate((text) => text.scrollHeight <= text.clientHeight && text.scrollWidth <= text.clientWidth)).toBe(true)
      expect((await line.boundingBox())?.height).toBeLessThanOrEqual(48)
      await expect(page.getByRole('link', { name: 'Kaveri Foods' })).toBeInViewport({ ratio: 1 })
      await expect(page.getByRole('button', { name: 'Overdue (1)' })).toBeInViewport({ ratio: 1 })
      // They are above no other screen.
      await line.getByRole('button', { name: 'View' }).click()
      const list = page.getByRole('dialog', { name: '3 need attention' })
      await expect(list.getByRole('listitem')).toHaveCount(3)
      await list.getByRole('link', { name: /^View: Nila Printers/ }).click()
      await expect(page.getByRole('heading', { name: 'Reminder Control' })).toBeVisible()
      await expect(page.getByRole('main').getByText('Nila Printers has not paid as promised')).toHaveCount(0)
      await expect(page.getByRole('button', { name: 'Notifications: 3 need attention' })).toBeVisible()
    },
  )
