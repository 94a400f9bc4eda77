import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import path from 'node:path'
import { type Browser, chromium, type Page } from '@playwright/test'
import { z } from 'zod'
import { chromiumFlags, findChromium } from '#test/chromium.ts'
import { clientWords, invoiceLines } from '#test/invoice-lines.ts'
import { someoneAt, startProgram } from '#test/program.ts'
import { quantile } from './measure.ts'

/**
 * How fast the dashboard and the list of clients react to typing and scrolling with 10,000 invoices, each of another client, in the real program with the built client, compared with 10
 * invoices in the same run: on a shared machine a ratio is meaningful, a time is not.
 *
 *   npm run bench:ledger
 *
 * A keystroke is measured from the event's timestamp to the frame after it: requestAnimationFrame runs just before a frame, and a message posted
 * from there arrives just after. The browser's Event Timing measures the same in steps of 8 ms, and omits what took less than 16. "letter" is
 * the frame that shows the letter, "found" the frame with matching filter counts and invoices. Of scrolling, "frame" is the longest time between
 * two frames, and "work" the longest task of the page's thread in CPU time, so other load on the machine does not count.
 */
const sizes = [10, 10_000]
const rounds = 6
const screens = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
]
const views = ['Cards', 'List', 'Clients'] as const
type View = (typeof views)[number]
/** Pixels per frame: faster than a person scrolls. */
const scrollStep = 1_200

interface Figures {
  letters: number[]
  found: number[]
  /** Of scrolling; null if the page does not scroll. */
  scrolled: Scrolled | null
  nodes: number
}

interface Scrolled {
  longestFrame: number
  longestWork: number
}

const trace = z.object({
  traceEvents: z.array(
    z.object({
      ph: z.string(),
      pid: z.number(),
      tid: z.number(),
      /** Microseconds of the thread's own time. */
      tdur: z.number().optional(),
      args: z.object({ name: z.unknown().optional() }).optional(),
    }),
  ),
})

const folder = mkdtempSync(path.join(tmpdir(), 'duely-bench-'))
const program = await startProgram({ DATA_DIR: folder, LOG_LEVEL: 'warn' })
const executablePath = findChromium()
const browser = await chromium.launch({ ...(executablePath ? { executablePath } : {}), args: chromiumFlags })
try {
  const heads = ['view', 'width', 'invoices', 'letter ms', 'worst', 'found ms', 'worst', 'ratio', 'aim', 'frame ms', 'work ms', 'DOM nodes']
  const rows: string[][] = [heads]
  for (const size of sizes) await fill(size)
  for (const screen of screens)
    for (const view of views) {
      let few = 0
      for (const size of sizes) {
        const { letters, found, scrolled, nodes } = await measure(browser, { size, view, screen })
        if (size === sizes[0]) few = quantile(found, 0.5)
        rows.push([
          view.toLowerCase(),
          String(screen.width),
          size.toLocaleString('en-IN'),
          quantile(letters, 0.5).toFixed(0),
          Math.max(...letters).toFixed(0),
          quantile(found, 0.5).toFixed(0),
          Math.max(...found).toFixed(0),
          (quantile(found, 0.5) / few).toFixed(1),
          '100 ms',
          scrolled?.longestFrame.toFixed(0) ?? '-',
          scrolled?.longestWork.toFixed(0) ?? '-',
          String(nodes),
        ])
        process.stdout.write(`${rows.at(-1)?.join('\t')}\n`)
      }
    }
  const widths = heads.map((_head, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  process.stdout.write(`\n${cpus().length} cores, Node ${process.versions.node}, Chromium ${browser.version()}\n`)
  for (const row of rows) process.stdout.write(`${row.map((cell, at) => cell.padStart(widths[at] ?? 0)).join('  ')}\n`)
} finally {
  await browser.close()
  await program.end('SIGTERM')
  rmSync(folder, { recursive: true, force: true })
}

async function fill(size: number): Promise<void> {
  const someone = await someoneAt(program.url, ownerOf(size))
  const lines = invoiceLines(size)
  for (let start = 0; start < size; start += 1_000)
    await someone.send('POST', '/invoices/import', { lines: lines.slice(start, start + 1_000), keepDuplicates: true })
}

function ownerOf(size: number): string {
  return `asha${size}@banyan.example`
}

async function measure(
  browser: Browser,
  { size, view, screen }: { size: number; view: View; screen: (typeof screens)[number] },
): Promise<Figures> {
  const page = await browser.newPage({ viewport: screen, locale: 'en-IN', timezoneId: 'Asia/Kolkata' })
  await page.goto(`${program.url}/signin`)
  await page.getByLabel('Email').fill(ownerOf(size))
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery')
  await page.locator('form button[type=submit]').click()
  await page.getByRole('button', { name: `All (${size})` }).waitFor()
  if (view === 'Clients') await page.goto(`${program.url}/dashboard/clients`)
  else await page.getByRole('button', { name: view, exact: true }).click()
  await page.locator('[data-index="0"]').waitFor()
  await page.waitForLoadState('networkidle')
  const nodes = await page.evaluate(() => document.querySelectorAll('*').length)
  const { letters, found } = await typeAndErase(page, size, view)
  const scrolled = size === sizes[0] ? null : await scrollToEnd(browser, page)
  await page.close()
  return { letters, found, scrolled, nodes }
}

/** Types the word and deletes it, letter by letter; each letter changes the results. */
async function typeAndErase(page: Page, size: number, view: View): Promise<{ letters: number[]; found: number[] }> {
  const names = invoiceLines(size).map(({ clientName, clientEmail }) => `${clientName}\n${clientEmail}`.toLowerCase())
  const { searched } = clientWords
  const box = view === 'Clients' ? page.getByRole('searchbox') : page.getByRole('textbox', { name: 'Search' })
  await box.click()
  const all: { letters: number[]; found: number[] } = { letters: [], found: [] }
  const steps = [
    ...Array.from(searched, (letter, at) => ({ key: letter, left: searched.slice(0, at + 1) })),
    ...Array.from(searched, (_letter, at) => ({ key: 'Backspace', left: searched.slice(0, searched.length - at - 1) })),
  ]
  for (let round = 0; round < rounds; round += 1)
    for (const { key, left } of steps) {
      const expected = names.filter((name) => name.includes(left)).length
      const measured = page.evaluate(watchKeystroke, view === 'Clients' ? { rows: expected + 1 } : { button: `All (${expected})` })
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)))
      await page.keyboard.press(key)
      const { letter, found } = await measured
      // The first round lets the browser compile.
      if (round === 0) continue
      all.letters.push(letter)
      all.found.push(found)
    }
  return all
}

/** Runs in the page: milliseconds from the next key to the frame that shows its letter, and to the frame with the expected count: a filter's, or a table's. */
function watchKeystroke({ button, rows }: { button?: string; rows?: number }): Promise<{ letter: number; found: number }> {
  return new Promise((resolve) => {
    const drawn = (then: () => void) =>
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel()
        port1.onmessage = then
        port2.postMessage(null)
      })
    const heard = (event: KeyboardEvent) => {
      const done = { letter: 0, found: 0 }
      const finish = () => {
        if (done.letter > 0 && done.found > 0) resolve(done)
      }
      drawn(() => {
        done.letter = performance.now() - event.timeStamp
        finish()
      })
      const counts = document.querySelector('search') ?? document.querySelector('main') ?? document.body
      const isThere = () =>
        rows === undefined
          ? [...counts.querySelectorAll('button')].some(({ textContent }) => textContent === button)
          : counts.querySelector(`[aria-rowcount="${rows}"]`) !== null
      const watch = new MutationObserver(() => {
        if (!isThere()) return
        watch.disconnect()
        drawn(() => {
          done.found = performance.now() - event.timeStamp
          finish()
        })
      })
      watch.observe(counts, { subtree: true, childList: true, characterData: true, attributeFilter: ['aria-rowcount'] })
    }
    addEventListener('keydown', heard, { capture: true, once: true })
  })
}

/** Scrolls from top to bottom, a fixed number of pixels per frame. */
async function scrollToEnd(browser: Browser, page: Page): Promise<Scrolled> {
  await browser.startTracing(page, { categories: ['toplevel'] })
  const frames = await page.evaluate(
    (step) =>
      new Promise<number[]>((resolve) => {
        window.scrollTo(0, 0)
        const frames: number[] = []
        let before: number | null = null
        let place = -1
        const move = (now: number) => {
          if (before !== null) frames.push(now - before)
          before = now
          if (window.scrollY === place) return resolve(frames)
          place = window.scrollY
          window.scrollBy(0, step)
          requestAnimationFrame(move)
        }
        requestAnimationFrame(move)
      }),
    scrollStep,
  )
  const { traceEvents } = trace.parse(JSON.parse((await browser.stopTracing()).toString()))
  const threadOf = ({ pid, tid }: { pid: number; tid: number }) => `${pid} ${tid}`
  const pages = new Set(traceEvents.filter(({ args }) => args?.name === 'CrRendererMain').map(threadOf))
  const work = traceEvents.filter((event) => event.ph === 'X' && pages.has(threadOf(event))).map(({ tdur = 0 }) => tdur / 1_000)
  return { longestFrame: Math.max(...frames), longestWork: work.reduce((most, one) => Math.max(most, one), 0) }
}
