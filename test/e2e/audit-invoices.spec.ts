import type { Page } from '@playwright/test'
import { invoiceCalls } from '#contract/invoices.ts'
import type { FakeSmtp } from '#test/fakes/smtp-server.ts'
import { type Audit, auditWalk, closeMessages, dialog, fail, hold, letGo, open } from './audit.ts'
import { expect, full, test } from './duely.ts'
import { type Someone, signIn } from './sign-in.ts'

const day = (late: number) => Temporal.Now.plainDateISO('Asia/Kolkata').subtract({ days: late }).toString()

async function choose(page: Page, lines: string[], name = 'books.csv'): Promise<void> {
  const buffer = Buffer.from(`${lines.join('\n')}\n`)
  await page.getByRole('dialog').locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer })
}

async function importing(page: Page, audit: Audit, someone: Someone): Promise<void> {
  const asked = page.getByRole('dialog')
  await page.goto('/dashboard?import')
  await choose(page, ['PK\u0003\u0004 a spreadsheet'], 'books.xlsx')
  await expect(asked.getByText(/^Couldn't read this spreadsheet/).or(asked.getByText(/^This file has no lines/))).toBeVisible()
  await audit.at('import-not-csv')
  // Column names and values that reveal neither amount nor date.
  await choose(page, ['A,B,C,D', 'Kaveri Foods,billing@kaveri.example,much,soon', 'Studio Banyan,hello@banyan.example,little,later'])
  await expect(asked.getByText('1. Which column has the names of clients?')).toBeVisible()
  await audit.at('import-columns-asked')
  await asked.getByRole('button', { name: 'Another file' }).click()

  const late = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 12, dueDate: '2026-01-02', reference: 'K-1' }
  await someone.send('POST', '/invoice', late)
  await page.goto('/dashboard?import')
  const many = Array.from({ length: 420 }, (_, nth) => `Client ${nth},client${nth}@many.example,${nth + 1},31/12/2026,N-${nth}`)
  const wrong = Array.from({ length: 10 }, (_, nth) => `Somebody ${nth},nobody,12,31/02/2026,W-${nth}`)
  const taken = 'Lotus Press,pay@lotus.example,99,31/12/2026,K-1'
  await choose(page, [
    'Client,Email,Amount,Due Date,Reference',
    ...many,
    ...wrong,
    'Kaveri Foods,billing@kaveri.example,12,02/01/2026,K-9',
    taken,
  ])
  await expect(asked.getByRole('button', { name: 'Duplicates (1)' })).toBeVisible()
  await asked.getByRole('button', { name: 'Duplicates (1)' }).click()
  await asked.getByRole('checkbox', { name: 'Import duplicates too' }).check()
  await audit.at('import-duplicates')
  await asked.getByRole('button', { name: /^With problems/ }).click()
  await audit.at('import-problems', asked.getByRole('region', { name: 'Preview' }).or(asked.getByText('Line 422')).first())
  await asked.getByRole('checkbox', { name: 'Import duplicates too' }).uncheck()
  const go = await hold(page, [invoiceCalls.import])
  await asked.getByRole('button', { name: /^Import 42\d invoices/ }).click()
  await expect(asked.getByText(/^0 of 42\d lines processed$/)).toBeVisible()
  await audit.at('import-running')
  await asked.getByRole('button', { name: 'Stop' }).click()
  await expect(asked.getByRole('button', { name: 'Stopping...' })).toBeVisible()
  await audit.at('import-stopping')
  await go()
  await expect(asked.getByText(/^Stopped\. 22\d lines were not imported yet\.$/)).toBeVisible()
  await audit.at('import-stopped')
  await fail(page, [invoiceCalls.import])
  await asked.getByRole('button', { name: 'Continue' }).click()
  await expect(asked.getByText(/^The import was interrupted\./)).toBeVisible()
  await audit.at('import-broken')
  await letGo(page)
  await asked.getByRole('button', { name: 'Continue' }).click()
  await expect(asked.getByRole('heading', { name: /invoices imported$/ })).toBeVisible()
  await expect(asked.getByText(/^Stopped|^The import was interrupted/)).toHaveCount(0)
  await audit.at('import-result')
  await asked.getByRole('button', { name: 'Undo import' }).click()
  await expect(page.getByText(/invoices deleted\.$/)).toBeVisible()
  await audit.at('import-undone')
  await closeMessages(page)
}

/** An export with everything that is asked for or left out, little of it and too much of it; then the question about what is past due. */
async function reviewing(page: Page, audit: Audit, someone: Someone, smtp: FakeSmtp): Promise<void> {
  await someone.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  await someone.send('POST', '/reminder/start')
  const asked = page.getByRole('dialog')
  const head = 'Invoice Number,Status,Customer Name,Due Date,Currency,Total,Balance,Email'
  const line = (nth: number, status: string, currency = 'INR') =>
    `Z-${nth},${status},Kaveri Foods,2026-01-0${1 + (nth % 9)},${currency},${nth}180.00,${nth}80.00,pay@kaveri.example`
  const few = [head, line(1, 'Overdue'), line(2, 'Draft'), line(3, 'Sent', 'XYZ'), line(4, 'On hold'), line(5, 'on-hold')]
  await page.goto('/dashboard?import')
  await choose(page, few, 'Invoice.csv')
  const words = asked.getByRole('radiogroup', { name: 'On hold' })
  await audit.at('import-one-status', words)
  await words.getByRole('radio', { name: 'Unpaid' }).click()
  await asked.getByText('Columns', { exact: true }).click()
  await audit.at('import-columns', asked.getByLabel('Balance', { exact: true }))
  await asked.getByText('Columns', { exact: true }).click()
  await asked.getByRole('button', { name: 'Left out (1)' }).click()
  await audit.at('import-left-out')
  await asked.getByRole('button', { name: 'Import 3 invoices' }).click()
  await expect(asked.getByRole('radio', { name: 'Hold until I review them' })).toBeChecked()
  await audit.at('import-past-due')
  await fail(page, [invoiceCalls.bulkChange])
  await asked.getByRole('radio', { name: 'Mark as paid' }).check()
  await asked.getByRole('button', { name: 'Done' }).click()
  await expect(asked.getByText(/^Your choice could not be saved\./)).toBeVisible()
  await audit.at('import-past-due-failed', asked.getByText(/^Your choice could not be saved\./))
  await letGo(page)
  await asked.getByRole('button', { name: 'Done' }).click()
  await closeMessages(page)

  await page.goto('/dashboard?import')
  const invented = Array.from({ length: 12 }, (_, nth) => `A status of ${nth + 1} words that another product invented for its own reasons`)
  const reasons = ['Draft', 'Void', 'Cancelled', 'Refunded', 'Deleted']
  await choose(
    page,
    [
      head,
      ...Array.from({ length: 120 }, (_, nth) => line(nth + 10, invented[nth % 12] ?? '')),
      ...Array.from({ length: 200 }, (_, nth) => line(nth + 200, reasons[nth % 5] ?? '')),
      ...Array.from({ length: 30 }, (_, nth) => line(nth + 500, 'Sent', ['XYZ', 'QQQ', 'ZZZ'][nth % 3])),
      ...Array.from({ length: 25 }, (_, nth) => line(nth + 600, 'Sent')),
    ],
    'Every invoice of the last ten years, exported on the second of March and corrected by hand.csv',
  )
  await audit.at('import-many-statuses', asked.getByText('1. In the column Status, what do these words mean?'))
  await asked.getByRole('button', { name: 'Import 25 invoices' }).click()
  await expect(asked.getByRole('heading', { name: '350 lines were not imported' })).toBeVisible()
  await audit.at('import-past-due-many')
  await audit.at('import-many-reasons', asked.getByRole('button', { name: 'Save these lines as CSV' }))
}

async function fill(someone: Someone): Promise<void> {
  const lines = [
    // More invoices on one day than fit.
    ...Array.from({ length: 46 }, (_, nth) => ({
      clientName: `Client ${nth + 1} of the eastern branch`,
      clientEmail: `client${nth}@many.example`,
      amount: 1_000 + nth * 777,
      dueDate: day(-5),
      status: 'unpaid',
    })),
    // The newest are shown first.
    { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 184_200, dueDate: day(8), status: 'overdue' },
    { clientName: 'Studio Banyan', clientEmail: 'hello@banyan.example', amount: 96_000, dueDate: day(20), status: 'unpaid' },
  ]
  await someone.send('POST', '/invoices/import', { lines })
}

async function pausing(page: Page, audit: Audit, someone: Someone): Promise<void> {
  await fill(someone)
  const asked = page.getByRole('dialog')
  await open(page, '/dashboard', 'All (48)')
  await audit.at('dashboard-crowded')
  await page.locator('[data-dot]').filter({ hasText: /^46$/ }).click()
  await expect(asked.getByText('and 6 smaller ones')).toBeVisible()
  await dialog(page, audit, 'due-crowd')
  await open(page, '/dashboard?status=overdue', 'Overdue (1)')
  await page.getByRole('button', { name: 'Export' }).click()
  await expect(page.getByRole('menuitem').first()).toBeVisible()
  await audit.at('export-menu')
  await open(page, '/dashboard', 'All (48)')

  const actions = (client: string) => page.getByRole('button', { name: new RegExp(`^Actions for .*, ${client}$`) })
  const press = async (client: string, item: string) => {
    await actions(client).click()
    await page.getByRole('menuitem', { name: item, exact: true }).click()
  }
  await press('Kaveri Foods', 'Pause reminders')
  await asked.getByRole('radio', { name: /^All invoices of/ }).check()
  await asked.getByRole('checkbox', { name: /^Client promised to pay/ }).check()
  await asked.getByLabel('Note').fill('Their accountant is away until Friday.')
  await audit.at('pause-promise')
  await asked.getByLabel('Paused through').first().fill('02/01/2026')
  await asked.getByRole('button', { name: 'Pause reminders' }).click()
  await expect(asked.getByText('Please choose today or a later day.')).toBeVisible()
  await audit.at('pause-refused')
  await asked.getByRole('radio', { name: /^Until I resume/ }).check()
  await audit.at('pause-for-good')
  await asked.getByRole('button', { name: 'Pause reminders' }).click()
  await expect(page.getByText('All reminders to billing@kaveri.example paused.')).toBeVisible()
  await audit.at('paused')
  await closeMessages(page)
  await actions('Kaveri Foods').click()
  await expect(page.getByRole('menuitem', { name: 'Resume reminders' })).toBeVisible()
  await audit.at('invoice-menu-paused')
  await page.getByRole('menuitem', { name: 'Change pause' }).click()
  await dialog(page, audit, 'pause-change')
  await press('Kaveri Foods', 'Resume reminders')
  await dialog(page, audit, 'resume')
  await page.getByRole('main').getByRole('link', { name: 'Kaveri Foods', exact: true }).click()
  await expect(page.getByText('Reminders are paused for all invoices of billing@kaveri.example.')).toBeVisible()
  await audit.at('edit-invoice-paused')
  await page.getByLabel('Due Date').first().focus()
  await audit.at('edit-invoice-day')

  await open(page, '/dashboard', 'All (48)')
  await press('Studio Banyan', 'Delete')
  await asked.getByRole('button', { name: 'Delete' }).click()
  await expect(page.getByRole('button', { name: 'Undo' })).toBeVisible()
  await page.getByRole('button', { name: 'Undo' }).hover()
  await audit.at('undo')
  await closeMessages(page)
  await fail(page, [invoiceCalls.update])
  await press('Kaveri Foods', 'Mark as paid')
  await expect(page.getByText(/^Couldn't update the invoice\./)).toBeVisible()
  await audit.at('mark-failed')
  await letGo(page)
  await closeMessages(page)
  await fail(page, [invoiceCalls.remove])
  await press('Kaveri Foods', 'Delete')
  await asked.getByRole('button', { name: 'Delete' }).click()
  await expect(asked.getByText(/Something went wrong/)).toBeVisible()
  await dialog(page, audit, 'delete-failed')
  await letGo(page)
  await closeMessages(page)

  await page.getByRole('button', { name: 'List', exact: true }).click()
  await page
    .getByRole('checkbox', { name: /^Select/ })
    .first()
    .click()
  const bar = page.getByRole('region', { name: 'Selected invoices' })
  await bar.getByRole('button', { name: /^Select all/ }).click()
  await bar.getByRole('button', { name: 'Mark as paid' }).click()
  await expect(page.getByText('47 invoices marked as paid.')).toBeVisible()
  await page.getByRole('button', { name: 'Undo' }).hover()
  await audit.at('undo-many')
  await closeMessages(page)
  await open(page, '/dashboard', 'All invoices are paid.')
  await audit.at('dashboard-all-paid')
  await open(page, '/dashboard?status=overdue', 'No overdue invoices found.')
  await audit.at('no-overdue')
}

test('an import from the file to its result', full, async ({ browser, program }) => {
  await auditWalk({ browser, url: program.url }, async (page, audit) => {
    await importing(page, audit, await signIn(page, program.url, 'importer@banyan.example'))
  })
})

test('the review of an export, and the question about what is past due', full, async ({ browser, program, smtp }) => {
  await auditWalk({ browser, url: program.url }, async (page, audit) => {
    await reviewing(page, audit, await signIn(page, program.url, 'reviewer@banyan.example'), smtp)
  })
})

test('pauses, undo, and many invoices on one day', full, async ({ browser, program }) => {
  await auditWalk({ browser, url: program.url }, async (page, audit) => {
    await pausing(page, audit, await signIn(page, program.url, 'pauser@banyan.example'))
  })
})
