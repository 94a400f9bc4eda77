import type { Page } from '@playwright/test'
import { formatMoney } from '#contract/money.ts'
import { invoiceLines } from '#test/invoice-lines.ts'
import { someoneAt } from '#test/program.ts'
import { expect, full, test } from './duely.ts'
import { newEmail, signIn } from './sign-in.ts'

const size = 10_000
const needle = { clientName: 'Zenith Orchards', clientEmail: 'accounts@zenith.example', place: 4_711 }
const lines = invoiceLines(size).map((line, index) =>
  index === needle.place ? { ...line, clientName: needle.clientName, clientEmail: needle.clientEmail, status: 'overdue' as const } : line,
)
const open = lines.filter(({ status }) => status !== 'paid')

// All tests read one account, so one worker must run them all: the import costs more than a test.
test.describe.configure({ mode: 'default' })
let owner: Promise<string> | null = null

async function withManyInvoices(url: string): Promise<string> {
  const email = newEmail()
  const asha = await someoneAt(url, email)
  for (let start = 0; start < size; start += 1_000)
    await asha.send('POST', '/invoices/import', { lines: lines.slice(start, start + 1_000), keepDuplicates: true })
  return email
}

async function openList(page: Page, url: string, view: 'Cards' | 'List'): Promise<void> {
  owner ??= withManyInvoices(url)
  await signIn(page, url, await owner)
  await page.goto('/dashboard')
  await expect(page.getByRole('button', { name: `All (${size})` })).toBeVisible()
  await page.getByRole('button', { name: view, exact: true }).click()
  await page.getByLabel('Sort by').selectOption('Newest first')
  await expect(page.locator('[data-index="0"]')).toBeVisible()
}

const search = (page: Page) => page.getByRole('textbox', { name: 'Search', exact: true })
const nodesOf = (page: Page) => page.evaluate(() => document.querySelectorAll('*').length)

/** Scrolls to a fraction of the page and returns the list positions rendered between a third of the window and its foot. */
async function lookAt(page: Page, part: number): Promise<(number | null)[]> {
  return page.evaluate(async (part) => {
    const { scrollHeight } = document.documentElement
    window.scrollTo(0, Math.round((scrollHeight - innerHeight) * part))
    for (let frames = 0; frames < 3; frames += 1) await new Promise((resolve) => requestAnimationFrame(resolve))
    const list = document.querySelector('[data-invoices]')?.getBoundingClientRect()
    if (!list) return []
    // Between two cards there is a gap, so each height is probed at two points that are further apart.
    return [0.35, 0.5, 0.65, 0.8].map((height) => {
      const found = [-10, 10].flatMap((off) => document.elementsFromPoint(list.left + list.width * 0.2, innerHeight * height + off))
      const item = found.map((element) => element.closest('[data-index]')).find((one) => one !== null)
      return item ? Number(item.getAttribute('data-index')) : null
    })
  }, part)
}

for (const viewport of [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
])
  for (const view of ['Cards', 'List'] as const)
    test(
      `of 10,000 invoices as ${view.toLowerCase()}, ${viewport.width} wide, only those near the window are rendered, down to the last`,
      full,
      async ({ page, program }) => {
        await page.setViewportSize(viewport)
        await openList(page, program.url, view)
        expect(await nodesOf(page)).toBeLessThan(3_000)
        for (const part of [0.1, 0.5, 0.9]) {
          await expect.poll(async () => (await lookAt(page, part)).includes(null), `nothing is blank ${part} of the way down`).toBe(false)
          const places = (await lookAt(page, part)).map(Number)
          expect(places).toEqual(places.toSorted((one, other) => one - other))
          expect(Math.abs((places[0] ?? 0) / size - part)).toBeLessThan(0.01)
          expect(await nodesOf(page)).toBeLessThan(3_000)
        }
        const last = page.locator(`[data-index="${size - 1}"]`)
        // Heights measured on the way can end the browser's scroll early: press again, as a person does.
        await expect(async () => {
          await page.keyboard.press('End')
          await expect(last).toBeInViewport({ timeout: 2_000 })
        }).toPass()
        await expect(last).toContainText('INV-0001')
        await expect(last).toContainText(lines[0]?.clientName ?? '')
        expect(await nodesOf(page)).toBeLessThan(3_000)
      },
    )

test(
  'a search finds one invoice among 10,000, the counts follow, and clearing it shows all again from the top',
  full,
  async ({ page, program }) => {
    await openList(page, program.url, 'Cards')
    await lookAt(page, 0.5)
    await expect(page.locator('[data-index="0"]')).toHaveCount(0)
    await page.keyboard.press('/')
    await page.keyboard.type('zenith')
    for (const name of ['All (1)', 'Paid (0)', 'Unpaid (0)', 'Overdue (1)'])
      await expect(page.getByRole('button', { name, exact: true })).toBeInViewport()
    await expect(page.getByRole('link', { name: needle.clientName })).toBeInViewport()
    await expect(page.locator('[data-index]')).toHaveCount(1)
    await page.getByRole('button', { name: 'Clear search' }).click()
    await expect(page.getByRole('button', { name: `All (${size})` })).toBeInViewport()
    await expect(page.locator('[data-index="0"]')).toBeInViewport()
    await expect(search(page)).toBeFocused()
    const counts = { Paid: size - open.length, Overdue: open.filter(({ status }) => status === 'overdue').length }
    for (const [name, count] of Object.entries(counts))
      await expect(page.getByRole('button', { name: `${name} (${count})`, exact: true })).toBeVisible()
    // Many clients have this name: the search finds all of them.
    await page.keyboard.type('KAVERI foods')
    const kaveri = lines.filter(({ clientName }) => clientName === 'Kaveri Foods').length
    await expect(page.getByRole('button', { name: `All (${kaveri})` })).toBeVisible()
  },
)

test('10,000 invoices are selected and marked as paid, and one Undo restores them', full, async ({ page, program }) => {
  await openList(page, program.url, 'List')
  const bar = page.getByRole('region', { name: 'Selected invoices' })
  await page
    .getByRole('checkbox', { name: /^Select/ })
    .first()
    .click()
  await bar.getByRole('button', { name: 'Select all 10,000' }).click()
  await expect(bar).toContainText('10,000 selected')
  expect(await nodesOf(page)).toBeLessThan(3_000)
  await page.keyboard.press('End')
  await expect(page.locator(`[data-index="${size - 1}"]`).getByRole('checkbox')).toBeChecked()
  await bar.getByRole('button', { name: 'Mark as paid' }).click()
  await expect(page.getByText(`${open.length.toLocaleString('en-IN')} invoices marked as paid.`)).toBeVisible({ timeout: 240_000 })
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByText(`Change undone for ${open.length.toLocaleString('en-IN')} invoices.`)).toBeVisible({ timeout: 240_000 })
  await expect(page.getByRole('button', { name: `Paid (${size - open.length})`, exact: true })).toBeAttached()
})

test('sorting 10,000 invoices shows the first of all of them', full, async ({ page, program }) => {
  await openList(page, program.url, 'List')
  const amounts = lines.map(({ amount }) => amount).toSorted((one, other) => one - other)
  const first = page.locator('[data-index="0"]')
  await page.getByRole('button', { name: 'Amount' }).click()
  await expect(first).toContainText(formatMoney(amounts.at(-1) ?? 0, 'INR'))
  await page.getByRole('button', { name: 'Amount' }).click()
  await expect(first).toContainText(formatMoney(amounts[0] ?? 0, 'INR'))
  await page.getByRole('button', { name: 'Client', exact: true }).click()
  await expect(first).toContainText('Anand Dental')
  await page.keyboard.press('End')
  await expect(page.locator(`[data-index="${size - 1}"]`)).toContainText('Zenith Orchards')
})

test('the due line shows every open invoice, however many', full, async ({ page, program }) => {
  await openList(page, program.url, 'Cards')
  const dots = page.locator('[data-dot]')
  await expect(dots.first()).toBeVisible()
  const words = await dots.evaluateAll((all) => all.map((dot) => dot.getAttribute('aria-label') ?? ''))
  expect(words.length).toBeLessThan(60)
  const stoodFor = words.reduce((sum, word) => sum + Number(/^([\d,]+) invoices/.exec(word)?.[1]?.replaceAll(',', '') ?? 1), 0)
  expect(stoodFor).toBe(open.length)
  const many = words.findIndex((word) => /^\d,\d{3} invoices/.test(word))
  await dots.nth(many).click()
  await expect(page.getByRole('dialog').getByRole('listitem')).toHaveCount(40)
  expect(await nodesOf(page)).toBeLessThan(3_000)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'As a list' }).click()
  await page.getByRole('button', { name: 'Show the first 200' }).click()
  await expect(page.getByRole('table', { name: /the most overdue first/ }).getByRole('row')).toHaveCount(201)
  expect(await nodesOf(page)).toBeLessThan(3_000)
})
