import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Locator, Page } from '@playwright/test'
import { freePort, startProgram } from '#test/program.ts'
import { expect, full, test } from './duely.ts'
import { onDashboard } from './sign-in.ts'

const due = Temporal.Now.plainDateISO('Asia/Kolkata').add({ days: 10 }).toString()

/** A file of this many different invoices. */
function books(count: number): string {
  const lines = Array.from({ length: count }, (_, index) => `Client ${index + 1},client${index + 1}@example.com,${100 + index},${due}`)
  return ['Client Name,Client Email,Amount,Due Date', ...lines].join('\r\n')
}

async function choose(page: Page, content: string | Buffer, name = 'books.csv'): Promise<Locator> {
  const dialog = page.getByRole('dialog')
  if ((await dialog.count()) === 0) await page.getByRole('link', { name: 'Import' }).first().click()
  await dialog.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content) })
  return dialog
}

/** The number of invoices on the server. */
async function stored(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const answered = await fetch('/invoice', { headers: { authorization: `Bearer ${localStorage.getItem('accessToken')}` } })
    const list: unknown = await answered.json()
    return Array.isArray(list) ? list.length : -1
  })
}

const importCall = (url: URL) => url.pathname === '/invoices/import'
const lookCall = (url: URL) => url.pathname.startsWith('/invoices/import/')

/** Drops the answer to one part of an import, counted from 1, after the server saved it. */
async function loseAnswerOf(page: Page, lost: number): Promise<{ back: () => Promise<void> }> {
  let part = 0
  await page.route(importCall, async (route) => {
    part += 1
    if (part !== lost) return route.continue()
    await route.fetch()
    await page.route(lookCall, (look) => look.abort('connectionfailed'))
    return route.abort('connectionreset')
  })
  return { back: () => page.unrouteAll() }
}

test('a dropped file is read, on the drop zone or beside it, and the page stays', full, async ({ page }) => {
  await onDashboard(page, [])
  const folder = await mkdtemp(path.join(tmpdir(), 'duely-dropped-'))
  const file = path.join(folder, 'books.csv')
  await writeFile(file, books(3))
  const browser = await page.context().newCDPSession(page)
  const data = { items: [], files: [file], dragOperationsMask: 1 }
  const dialog = page.getByRole('dialog')
  for (const place of ['on the frame', 'beside it']) {
    await page.getByRole('link', { name: 'Import' }).first().click()
    const frame = dialog.getByRole('button', { name: 'Drop a CSV or Excel file here, or choose one' })
    await expect(frame).toBeFocused()
    const box = await frame.boundingBox()
    if (!box) throw new Error('There is no frame.')
    const at = place === 'on the frame' ? { x: box.x + 40, y: box.y + 40 } : { x: 10, y: 300 }
    await browser.send('Input.dispatchDragEvent', { type: 'dragEnter', ...at, data })
    await browser.send('Input.dispatchDragEvent', { type: 'dragOver', ...at, data })
    await expect(frame).toHaveAttribute('data-over', 'true')
    await browser.send('Input.dispatchDragEvent', { type: 'drop', ...at, data })
    await expect(dialog.getByText('books.csv')).toBeVisible()
    await expect(dialog.getByRole('button', { name: 'Ready (3)' })).toBeVisible()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await expect(dialog).toHaveCount(0)
  }

  // Of two files the last one is read, also where the first one takes longer.
  await page.evaluate(() => {
    const { arrayBuffer } = Blob.prototype
    Blob.prototype.arrayBuffer = async function read(this: File) {
      if (this.name === 'slow.csv') await new Promise((resolve) => document.addEventListener('slow', resolve, { once: true }))
      return arrayBuffer.call(this)
    }
  })
  await choose(page, books(2), 'slow.csv')
  await expect(dialog.getByRole('button', { name: 'Reading the file...' })).toBeVisible()
  await choose(page, books(3))
  await expect(dialog.getByText('books.csv')).toBeVisible()
  await page.evaluate(() => document.dispatchEvent(new Event('slow')))
  await expect(dialog.getByRole('button', { name: 'Ready (3)' })).toBeVisible()
  await rm(folder, { recursive: true })
})

test('an unreadable file shows the reason, and another one can be chosen', full, async ({ page }) => {
  await onDashboard(page, [])
  const unknown = Buffer.from([0x81, 0x20, 0x9d, 0x2c, 0x31])
  for (const [content, says] of [
    ['', 'This file has no lines.'],
    [' \r\n\r\n', 'This file has no lines.'],
    [unknown, "Couldn't read the characters in this file. Please save it as “CSV UTF-8” and choose it again."],
    [Buffer.from('a,b', 'utf16le'), "Couldn't read the characters in this file. Please save it as “CSV UTF-8” and choose it again."],
    [Buffer.alloc(10 * 1024 * 1024 + 1, 'a'), 'This file is larger than 10 MB.'],
    ['a,b\n'.repeat(20_001), 'This file has more than 20,000 lines.'],
  ] as const) {
    const dialog = await choose(page, content)
    await expect(dialog.getByRole('alert').filter({ hasText: says })).toBeVisible()
  }
  const dialog = await choose(page, Buffer.from(`\uFEFF${books(2)}`, 'utf16le'))
  await expect(dialog.getByRole('button', { name: 'Ready (2)' })).toBeVisible()
})

test('a file of 3,000 lines is imported whole and undone whole', full, async ({ page }) => {
  await onDashboard(page, [])
  const dialog = await choose(page, books(3_000))
  await dialog.getByRole('button', { name: 'Import 3,000 invoices' }).click()
  await expect(dialog.getByRole('heading', { name: '3,000 invoices imported' })).toBeVisible({ timeout: 240_000 })
  expect(await stored(page)).toBe(3_000)
  await expect(page.getByText('All (3000)')).toBeAttached()
  await dialog.getByRole('button', { name: 'Undo import' }).click()
  await expect(page.getByText('3,000 invoices deleted.')).toBeVisible()
  await expect(page.getByText('No invoices yet')).toBeVisible()
  expect(await stored(page)).toBe(0)
})

test('a stopped import shows its progress, resumes where it stopped, and is undone as one', full, async ({ page }) => {
  await onDashboard(page, [])
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  let part = 0
  await page.route(importCall, async (route) => {
    part += 1
    if (part === 2) await held
    await route.continue()
  })
  const dialog = await choose(page, books(1_000))
  await dialog.getByRole('button', { name: 'Import 1,000 invoices' }).click()
  await expect(dialog.getByText('200 of 1,000 lines processed')).toBeVisible()
  // The dialog cannot be closed while it runs.
  await page.keyboard.press('Escape')
  await page.goBack()
  await dialog.getByRole('button', { name: 'Stop' }).click()
  await expect(dialog.getByRole('button', { name: 'Stopping...' })).toBeVisible()
  release()
  await expect(dialog.getByRole('heading', { name: '400 invoices imported' })).toBeVisible()
  await expect(dialog.getByText('Stopped. 600 lines were not imported yet.')).toBeVisible()
  expect(await stored(page)).toBe(400)
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await expect(dialog.getByRole('heading', { name: '1,000 invoices imported' })).toBeVisible()
  expect(await stored(page)).toBe(1_000)
  await dialog.getByRole('button', { name: 'Undo import' }).click()
  await expect(page.getByText('1,000 invoices deleted.')).toBeVisible()
  expect(await stored(page)).toBe(0)
})

test('after a lost answer the import resumes without duplicates, and Undo removes all lines', full, async ({ page }) => {
  await onDashboard(page, [{ clientName: 'Kaveri Foods', amount: 500 }])
  const line = await loseAnswerOf(page, 2)
  const dialog = await choose(page, books(500))
  await dialog.getByRole('button', { name: 'Import 500 invoices' }).click()
  await expect(dialog.getByRole('heading', { name: '200 invoices imported' })).toBeVisible()
  await expect(
    dialog.getByText('200 lines may already be saved. Continue to import the rest; no line is added twice.', { exact: false }),
  ).toBeVisible()
  expect(await stored(page)).toBe(401)
  await line.back()
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await expect(dialog.getByRole('heading', { name: '500 invoices imported' })).toBeVisible()
  await expect(dialog.getByText('not imported', { exact: false })).toHaveCount(0)
  expect(await stored(page)).toBe(501)
  await dialog.getByRole('button', { name: 'Undo import' }).click()
  await expect(page.getByText('500 invoices deleted.')).toBeVisible()
  expect(await stored(page)).toBe(1)
  await expect(page.getByRole('link', { name: 'Kaveri Foods' })).toBeVisible()
})

test('lines saved before the connection broke can be undone without resuming', full, async ({ page }) => {
  await onDashboard(page, [])
  const line = await loseAnswerOf(page, 1)
  const dialog = await choose(page, books(300))
  await dialog.getByRole('button', { name: 'Import 300 invoices' }).click()
  await expect(dialog.getByRole('heading', { name: 'Import interrupted' })).toBeVisible()
  await dialog.getByRole('button', { name: 'Undo import' }).click()
  await expect(page.getByText("Couldn't undo this. The server cannot be reached.", { exact: false })).toBeVisible()
  expect(await stored(page)).toBe(200)
  await line.back()
  await dialog.getByRole('button', { name: 'Undo import' }).click()
  await expect(page.getByText('200 invoices deleted.')).toBeVisible()
  expect(await stored(page)).toBe(0)
})

test('importing the same file after an interruption loses and repeats no line', full, async ({ page }) => {
  await onDashboard(page, [])
  const line = await loseAnswerOf(page, 2)
  const dialog = await choose(page, books(500))
  await dialog.getByRole('button', { name: 'Import 500 invoices' }).click()
  await expect(dialog.getByRole('heading', { name: '200 invoices imported' })).toBeVisible()
  await line.back()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await expect(dialog).toHaveCount(0)
  await page.reload()
  await choose(page, books(500))
  await expect(dialog.getByRole('button', { name: 'Duplicates (400)' })).toBeVisible()
  await dialog.getByRole('button', { name: 'Import 100 invoices' }).click()
  await expect(dialog.getByRole('heading', { name: '100 invoices imported' })).toBeVisible()
  expect(await stored(page)).toBe(500)
})

test('a refused part shows the reason of the server, and earlier lines stay until they are undone', full, async ({ page }) => {
  await onDashboard(page, [])
  let part = 0
  await page.route(importCall, (route) => {
    part += 1
    if (part !== 2) return route.continue()
    return route.fulfill({ status: 429, json: { code: 'too_many', message: 'That was too much at once. Please wait a minute.' } })
  })
  const dialog = await choose(page, books(500))
  await dialog.getByRole('button', { name: 'Import 500 invoices' }).click()
  await expect(dialog.getByRole('heading', { name: '200 invoices imported' })).toBeVisible()
  await expect(
    dialog.getByText(
      'The import was interrupted. That was too much at once. Please wait a minute. Continue to import the rest; no line is added twice.',
    ),
  ).toBeVisible()
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await expect(dialog.getByRole('heading', { name: '500 invoices imported' })).toBeVisible()
  await dialog.getByRole('button', { name: 'Undo import' }).click()
  await expect(page.getByText('500 invoices deleted.')).toBeVisible()
  expect(await stored(page)).toBe(0)
})

test('after a server crash during an import every line is saved once', full, async ({ page }) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'duely-killed-'))
  const env = { DATA_DIR: folder, PORT: String(await freePort()) }
  const first = await startProgram(env)
  await onDashboard(page, [], first.url)
  const dialog = await choose(page, books(600))
  // The second part is in flight when the server is killed.
  const second = page.waitForRequest((request) => importCall(new URL(request.url())) && (request.postData() ?? '').includes('client201@'))
  await dialog.getByRole('button', { name: 'Import 600 invoices' }).click()
  await second
  await first.end('SIGKILL')
  await expect(dialog.getByText('The import was interrupted.', { exact: false })).toBeVisible()
  await using again = await startProgram(env)
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await expect(dialog.getByRole('heading', { name: '600 invoices imported' })).toBeVisible()
  await expect(dialog.getByText('not imported', { exact: false })).toHaveCount(0)
  expect(await stored(page)).toBe(600)
  await dialog.getByRole('button', { name: 'Undo import' }).click()
  await expect(page.getByText('600 invoices deleted.')).toBeVisible()
  expect(await stored(page)).toBe(0)
  await page.goto('about:blank')
  await again.end('SIGTERM')
  await rm(folder, { recursive: true })
})

const exported = [
  'Invoice Number,Invoice Status,Customer Name,Due Date,Currency Code,Total,Balance,Primary Contact EmailID',
  'Z-1,Overdue,Kaveri Foods,2026-01-04,INR,1180.00,180.00,pay@kaveri.example',
  'Z-2,Closed,Kaveri Foods,2026-01-05,INR,5000.00,0.00,pay@kaveri.example',
  'Z-3,Draft,Kaveri Foods,2026-01-06,INR,700.00,700.00,pay@kaveri.example',
  'Z-4,Sent,Nila Printers,2026-01-07,XYZ,1200.00,1200.00,pay@nila.example',
  'Z-5,PartiallyPaid,Nila Printers,2026-01-08,INR,900.00,300.00,pay@nila.example',
  'Z-6,Void,Nila Printers,2026-01-09,INR,10.00,0.00,pay@nila.example',
  'Z-7,On hold,Zenith Labs,2026-01-10,INR,70.00,70.00,pay@zenith.example',
  'Z-8,on-hold,Zenith Labs,2026-01-11,INR,80.00,80.00,pay@zenith.example',
].join('\n')

test('an export with balances, currencies, drafts and unknown statuses: what is owed is imported, every other line has its reason', async ({
  page,
}) => {
  const { send } = await onDashboard(page, [])
  const dialog = await choose(page, exported, 'Invoice.csv')
  await expect(dialog.getByText('This looks like Zoho.')).toBeVisible()
  await expect(dialog.getByText('of ₹1,180.00')).toBeVisible()
  await expect(dialog.getByRole('button', { name: 'Ready (3)' })).toBeVisible()
  const question = dialog.getByRole('group', { name: '1. In the column Invoice Status, what do these words mean?' })
  await expect(question.getByText('2 rows, such as “Z-7, Zenith Labs”')).toBeVisible()
  // Read by its words, a closed invoice is asked about too.
  await dialog.getByLabel('Exported from').selectOption('Another program')
  await expect(question.getByRole('radiogroup', { name: 'Closed' })).toBeVisible()
  await dialog.getByLabel('Exported from').selectOption('Zoho')
  await expect(question.getByRole('radiogroup', { name: 'Closed' })).toHaveCount(0)
  await question.getByRole('radiogroup', { name: 'On hold' }).getByRole('radio', { name: 'Unpaid' }).click()
  await expect(dialog.getByText('Status, “on hold”: Unpaid')).toBeVisible()
  await expect(question).toHaveCount(0)
  await expect(dialog.getByRole('button', { name: 'With problems (1)' })).toBeVisible()
  await dialog.getByRole('button', { name: 'Left out (2)' }).click()
  await expect(dialog.getByText('A draft: your client has not received this invoice.')).toBeVisible()

  await dialog.getByRole('button', { name: 'Import 5 invoices' }).click()
  await expect(dialog.getByRole('heading', { name: '3 lines were not imported' })).toBeVisible()
  await expect(dialog.getByRole('listitem')).toHaveText([
    'A draft: your client has not received this invoice. Line 4',
    'Duely does not know the currency XYZ. Please enter a currency code such as INR. Line 5',
    'This invoice is void. Line 7',
  ])
  const [file] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Save these lines as CSV' }).click()])
  const saved = (await readFile(await file.path(), 'utf8')).split('\r\n')
  expect(saved).toHaveLength(4)
  expect(saved[0]).toContain('"Line","Invoice Number","Invoice Status"')
  expect(saved[2]).toContain('"5","Z-4","Sent","Nila Printers","2026-01-07","XYZ","1200.00"')
  await dialog.getByRole('button', { name: 'Done' }).click()
  const list = (await send('GET', '/invoice')) as { reference: string; balance: number; status: string; pause: object | null }[]
  expect(list.map(({ reference, balance, status, pause }) => [reference, balance, status, pause])).toEqual([
    ['Z-8', 80, 'unpaid', null],
    ['Z-7', 70, 'unpaid', null],
    ['Z-5', 300, 'overdue', null],
    ['Z-2', 0, 'paid', null],
    ['Z-1', 180, 'overdue', null],
  ])
})

test('an export of Xero: what was paid of an invoice is imported, and each line keeps its currency', full, async ({ page }) => {
  const { send } = await onDashboard(page, [])
  const line = (number: string, owed: string, currency: string, type: string, status: string) =>
    `Zenith Labs,ap@zenith.example,${number},13/01/2026,28/02/2026,1180.0000,180.0000,${owed},Design,1.0000,${currency},${type},Sent,${status}`
  const dialog = await choose(
    page,
    [
      'ContactName,EmailAddress,InvoiceNumber,InvoiceDate,DueDate,Total,TaxTotal,InvoiceAmountDue,Description,Quantity,Currency,Type,Sent,Status',
      line('INV-1', '1000.0000', 'INR', 'Sales invoice', 'Awaiting Payment'),
      line('INV-1', '1000.0000', 'INR', 'Sales invoice', 'Awaiting Payment'),
      line('INV-2', '0.0000', 'INR', 'Sales invoice', 'Paid'),
      line('CN-1', '-1180.0000', 'INR', 'Sales credit note', 'Awaiting Payment'),
      line('INV-3', '1180.0000', 'GBP', 'Sales invoice', 'Awaiting Payment'),
    ].join('\n'),
    'SalesInvoices.csv',
  )
  await expect(dialog.getByText('We don', { exact: false })).toHaveCount(0)
  await dialog.getByRole('button', { name: 'Import 3 invoices' }).click()
  await expect(dialog.getByRole('listitem')).toHaveText(['This line is not an invoice: its type is “Sales credit note”. Line 5'])
  const list = (await send('GET', '/invoice')) as { reference: string; balance: number; currency: string; status: string }[]
  expect(list.map(({ reference, balance, currency, status }) => [reference, balance, currency, status])).toEqual([
    ['INV-3', 1180, 'GBP', 'overdue'],
    ['INV-2', 0, 'INR', 'paid'],
    ['INV-1', 1000, 'INR', 'overdue'],
  ])
})

test('an export of Wave has no due dates and no addresses: days to pay and a list of clients complete it', full, async ({ page }) => {
  const { send } = await onDashboard(page, [])
  const head = 'Transaction ID,Transaction Date,Account Name,Amount (One column),Customer,Invoice Number,Account Type'
  const line = (date: string, amount: string, customer: string, number: string, type = 'System Receivable Invoice') =>
    `1,${date},Accounts Receivable,${amount},${customer},${number},${type}`
  const dialog = await choose(
    page,
    [
      head,
      line('2026-01-10', '1500.00', 'Acme', '7'),
      line('2026-01-10', '1500.00', 'Acme', '7', 'Income'),
      line('2026-01-20', '-500.00', 'Acme', '7'),
      line('2026-01-21', '80.00', 'Nila Printers', '8'),
    ].join('\n'),
    'accounting.csv',
  )
  await expect(dialog.getByText('This looks like Wave.')).toBeVisible()
  await expect(dialog.getByRole('button', { name: 'Waiting for an answer (2)' })).toBeVisible()
  await dialog.getByRole('textbox', { name: 'How many days to pay?' }).fill('30')
  await page.keyboard.press('Enter')
  await expect(dialog.getByRole('button', { name: 'With problems (2)' })).toBeVisible()
  await expect(dialog.getByText('This file has no email addresses. Add a list of your clients.')).toBeVisible()
  const clients = (content: string) =>
    dialog.locator('input[type=file]').setInputFiles({ name: 'clients.csv', mimeType: 'text/csv', buffer: Buffer.from(content) })
  await clients('Name,Phone\nAcme,1')
  await expect(dialog.getByText('This file has no column of names with one of emails. Please choose another.')).toBeVisible()
  await clients('customer_name,email\nAcme,ap@acme.example')
  await expect(dialog.getByRole('button', { name: 'Ready (1)' })).toBeVisible()
  await expect(dialog.getByText('Please enter an email address like name@example.com.')).toBeVisible()
  await dialog.getByRole('button', { name: 'Import 1 invoice' }).click()
  await expect(dialog.getByRole('heading', { name: '1 invoice imported' })).toBeVisible()
  expect(await send('GET', '/invoice')).toMatchObject([
    { reference: '7', clientEmail: 'ap@acme.example', amount: 1000, dueDate: '2026-02-09', issuedOn: '2026-01-10' },
  ])
})

test('invoices past due are held from the first line, and the last step asks what happens to them', full, async ({ page, smtp }) => {
  const { send } = await onDashboard(page, [])
  await send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  await send('POST', '/reminder/start')
  const late = (client: string, count: number) =>
    [
      'Client,Email,Amount,Due Date',
      ...Array.from({ length: count }, (_, nth) => `${client},pay@${client}.example,${nth + 1},2026-01-02`),
      `${client},pay@${client}.example,9,${due}`,
    ].join('\n')
  const held = async () => {
    const list = (await send('GET', '/invoice')) as { clientName: string; status: string; pause: { until: string | null } | null }[]
    const states = new Map<string, number>()
    for (const { clientName, status, pause } of list) {
      const state = `${clientName} ${status} ${pause ? (pause.until ?? 'held') : 'reminded'}`
      states.set(state, (states.get(state) ?? 0) + 1)
    }
    return Object.fromEntries(states)
  }

  // The browser goes away after the first part.
  let parts = 0
  await page.route(importCall, (route) => {
    parts += 1
    return parts === 1 ? route.continue() : undefined
  })
  const dialog = await choose(page, late('Away', 250))
  await dialog.getByRole('button', { name: 'Import 251 invoices' }).click()
  await expect.poll(held).toEqual({ 'Away overdue held': 200 })
  await expect(dialog.getByText('200 of 251 lines processed')).toBeVisible()
  await page.goto('/robots.txt')
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.goto('/dashboard')

  const answers = [
    ['Waits', null, '2 invoices are held until you resume reminders.', 'overdue held'],
    ['Later', 'Remind from tomorrow', 'Reminders for 2 invoices begin tomorrow.', `overdue ${Temporal.Now.plainDateISO('Asia/Kolkata')}`],
    ['Settled', 'Mark as paid', '2 invoices are marked as paid.', 'paid reminded'],
  ] as const
  for (const [client, choice, message, state] of answers) {
    await choose(page, late(client, 2))
    await dialog.getByRole('button', { name: 'Import 3 invoices' }).click()
    const question = dialog.getByRole('radiogroup', { name: '2 invoices are past due, and daily reminders are on. What should happen?' })
    await expect(question.getByLabel('Hold until I review them')).toBeChecked()
    expect(await held()).toMatchObject({ [`${client} overdue held`]: 2 })
    if (choice) await question.getByLabel(choice).check()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await expect(page.getByText(message)).toBeVisible()
    await expect(dialog).toHaveCount(0)
    expect(await held()).toMatchObject({ [`${client} ${state}`]: 2, [`${client} unpaid reminded`]: 1 })
  }
  expect(smtp.mails).toEqual([])

  await expect(page.getByText('202 imported invoices are on hold.')).toBeVisible()
  await page.getByRole('main').getByRole('link', { name: 'View' }).click()
  await expect(page.getByRole('button', { name: 'All (202)' })).toBeVisible()
})
