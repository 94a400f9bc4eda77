import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Locator, Page } from '@playwright/test'
import { freePort, startProgram } from '#test/program.ts'
import { expect, test } from './duely.ts'
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

test('a dropped file is read, on the drop zone or beside it, and the page stays', async ({ page }) => {
  await onDashboard(page, [])
  const folder = await mkdtemp(path.join(tmpdir(), 'duely-dropped-'))
  const file = path.join(folder, 'books.csv')
  await writeFile(file, books(3))
  const browser = await page.context().newCDPSession(page)
  const data = { items: [], files: [file], dragOperationsMask: 1 }
  const dialog = page.getByRole('dialog')
  for (const place of ['on the frame', 'beside it']) {
    await page.getByRole('link', { name: 'Import' }).first().click()
    const frame = dialog.getByRole('button', { name: 'Drop a CSV file here, or choose one' })
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
  await rm(folder, { recursive: true })
})

test('an unreadable file shows the reason, and another one can be chosen', async ({ page }) => {
  await onDashboard(page, [])
  const shiftJis = Buffer.from([0x83, 0x58, 0x83, 0x5e, 0x81, 0x5b, 0x2c, 0x31])
  for (const [content, says] of [
    ['', 'This file has no rows.'],
    [' \r\n\r\n', 'This file has no rows.'],
    [shiftJis, "Couldn't read the characters in this file. Please save it as “CSV UTF-8” and choose it again."],
    [Buffer.from('a,b', 'utf16le'), "Couldn't read the characters in this file. Please save it as “CSV UTF-8” and choose it again."],
    [Buffer.alloc(10 * 1024 * 1024 + 1, 'a'), 'This file is larger than 10 MB.'],
    ['a,b\n'.repeat(20_001), 'This file has more than 20,000 rows.'],
  ] as const) {
    const dialog = await choose(page, content)
    await expect(dialog.getByRole('alert')).toContainText(says)
  }
  const dialog = await choose(page, Buffer.from(`\uFEFF${books(2)}`, 'utf16le'))
  await expect(dialog.getByRole('button', { name: 'Ready (2)' })).toBeVisible()
})

test('a file of 3,000 lines is imported whole and undone whole', async ({ page }) => {
  await onDashboard(page, [])
  const dialog = await choose(page, books(3_000))
  await dialog.getByRole('button', { name: 'Import 3,000 invoices' }).click()
  await expect(dialog.getByRole('heading', { name: '3,000 invoices imported' })).toBeVisible({ timeout: 90_000 })
  expect(await stored(page)).toBe(3_000)
  await expect(page.getByText('All (3000)')).toBeAttached()
  await dialog.getByRole('button', { name: 'Undo import' }).click()
  await expect(page.getByText('3,000 invoices deleted.')).toBeVisible()
  await expect(page.getByText('No invoices yet')).toBeVisible()
  expect(await stored(page)).toBe(0)
})

test('a stopped import shows its progress, resumes where it stopped, and is undone as one', async ({ page }) => {
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
  await expect(dialog.getByText('200 of 1,000 rows processed')).toBeVisible()
  // The dialog cannot be closed while it runs.
  await page.keyboard.press('Escape')
  await page.goBack()
  await dialog.getByRole('button', { name: 'Stop' }).click()
  await expect(dialog.getByRole('button', { name: 'Stopping...' })).toBeVisible()
  release()
  await expect(dialog.getByRole('heading', { name: '400 invoices imported' })).toBeVisible()
  await expect(dialog.getByText('Stopped. 600 rows were not imported.')).toBeVisible()
  expect(await stored(page)).toBe(400)
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await expect(dialog.getByRole('heading', { name: '1,000 invoices imported' })).toBeVisible()
  expect(await stored(page)).toBe(1_000)
  await dialog.getByRole('button', { name: 'Undo import' }).click()
  await expect(page.getByText('1,000 invoices deleted.')).toBeVisible()
  expect(await stored(page)).toBe(0)
})

test('after a lost answer the import resumes without duplicates, and Undo removes all lines', async ({ page }) => {
  await onDashboard(page, [{ clientName: 'Kaveri Foods', amount: 500 }])
  const line = await loseAnswerOf(page, 2)
  const dialog = await choose(page, books(500))
  await dialog.getByRole('button', { name: 'Import 500 invoices' }).click()
  await expect(dialog.getByRole('heading', { name: '200 invoices imported' })).toBeVisible()
  await expect(
    dialog.getByText('200 rows may already be saved. Continue to import the rest; no row is added twice.', { exact: false }),
  ).toBeVisible()
  expect(await stored(page)).toBe(401)
  await line.back()
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await expect(dialog.getByRole('heading', { name: '500 invoices imported' })).toBeVisible()
  await expect(dialog.getByText('skipped', { exact: false })).toHaveCount(0)
  expect(await stored(page)).toBe(501)
  await dialog.getByRole('button', { name: 'Undo import' }).click()
  await expect(page.getByText('500 invoices deleted.')).toBeVisible()
  expect(await stored(page)).toBe(1)
  await expect(page.getByRole('link', { name: 'Kaveri Foods' })).toBeVisible()
})

test('lines saved before the connection broke can be undone without resuming', async ({ page }) => {
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

test('importing the same file after an interruption loses and repeats no line', async ({ page }) => {
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

test('a refused part shows the reason of the server, and earlier lines stay until they are undone', async ({ page }) => {
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
      'The import was interrupted. That was too much at once. Please wait a minute. Continue to import the rest; no row is added twice.',
    ),
  ).toBeVisible()
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await expect(dialog.getByRole('heading', { name: '500 invoices imported' })).toBeVisible()
  await dialog.getByRole('button', { name: 'Undo import' }).click()
  await expect(page.getByText('500 invoices deleted.')).toBeVisible()
  expect(await stored(page)).toBe(0)
})

test('after a server crash during an import every line is saved once', async ({ page }) => {
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
  await expect(dialog.getByText('skipped', { exact: false })).toHaveCount(0)
  expect(await stored(page)).toBe(600)
  await dialog.getByRole('button', { name: 'Undo import' }).click()
  await expect(page.getByText('600 invoices deleted.')).toBeVisible()
  expect(await stored(page)).toBe(0)
  await page.goto('about:blank')
  await again.end('SIGTERM')
  await rm(folder, { recursive: true })
})
