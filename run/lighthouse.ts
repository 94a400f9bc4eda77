import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { chromium, type Page } from '@playwright/test'
import { z } from 'zod'
import { chromiumFlags, findChromium } from '#test/chromium.ts'
import { freePort, someoneAt, startProgram } from '#test/program.ts'
import { installPackage } from './install.mjs'

/*
 * npm run lighthouse: Lighthouse with its mobile settings against the built client and the real program, as a table with the median of three
 * runs per page. Fails if a target is missed. Run it on an idle machine. Its hundred packages are installed in bench/lighthouse/ when they are
 * first needed.
 */
const pages = [
  { address: '/', name: 'landing', performance: 95, seo: 100 },
  { address: '/features', name: 'features', performance: 95, seo: 100 },
  { address: '/pricing', name: 'pricing', performance: 95, seo: 100 },
  { address: '/contact', name: 'contact', performance: 95, seo: 100 },
  { address: '/signin', name: 'sign in', performance: 95, seo: 100 },
  { address: '/signup', name: 'sign up', performance: 95, seo: 100 },
  // Search engines are excluded from it.
  { address: '/dashboard', name: 'dashboard, signed in', performance: 90, seo: null },
]
const categories = ['performance', 'accessibility', 'best-practices', 'seo'] as const

if (!(await installPackage('bench/lighthouse'))) process.exit(1)
const cli = path.join(import.meta.dirname, '../bench/lighthouse/node_modules/lighthouse/cli/index.js')
const folder = mkdtempSync(path.join(tmpdir(), 'duely-lighthouse-'))
const [program, port] = [await startProgram({ DATA_DIR: path.join(folder, 'data') }), await freePort()]
const executablePath = findChromium()
// Lighthouse opens its tabs in the browser's default context, so it shares the session.
const browser = await chromium.launchPersistentContext(path.join(folder, 'browser'), {
  ...(executablePath ? { executablePath } : {}),
  args: [...chromiumFlags, `--remote-debugging-port=${port}`],
})
const result = z.object({
  runtimeError: z.object({ message: z.string() }).optional(),
  audits: z.record(z.string(), z.object({ title: z.string(), score: z.number().nullable(), displayValue: z.string().optional() })),
  categories: z.record(
    z.string(),
    z.object({ score: z.number().nullable(), auditRefs: z.array(z.object({ id: z.string(), weight: z.number() })) }),
  ),
})
type Result = z.output<typeof result>
const missed: string[] = []
try {
  const tab = browser.pages()[0] ?? (await browser.newPage())
  print('page', ['performance', 'accessible', 'practices', 'seo', 'first paint', 'largest', 'blocked', 'shift'])
  for (const page of pages) {
    if (page.address === '/dashboard') await signIn(tab)
    await measure(page)
  }
} finally {
  await browser.close()
  await program.end('SIGTERM')
  rmSync(folder, { recursive: true, force: true })
}
process.stdout.write(missed.length === 0 ? '\nAll targets met.\n' : `\nMissed:\n${missed.map((line) => `  ${line}\n`).join('')}`)
process.exit(missed.length === 0 ? 0 : 1)

async function measure({ address, name, performance, seo }: (typeof pages)[number]): Promise<void> {
  // Scores vary between runs; Lighthouse's authors recommend the median.
  const three: Result[] = []
  while (three.length < 3) three.push(await once(address))
  const lhr = three.toSorted((one, other) => performanceOf(one) - performanceOf(other))[1]
  if (!lhr) throw new Error(`Lighthouse returned no result for ${address}.`)
  const score = (category: string) => Math.round((lhr.categories[category]?.score ?? 0) * 100)
  const words = (audit: string) => (lhr.audits[audit]?.displayValue ?? '').replaceAll('\u00a0', ' ')
  print(name, [
    ...categories.map((category) => String(score(category))),
    words('first-contentful-paint'),
    words('largest-contentful-paint'),
    words('total-blocking-time'),
    words('cumulative-layout-shift'),
  ])
  const targets = { performance, accessibility: 100, 'best-practices': 100, seo }
  for (const category of categories) {
    const target = targets[category]
    if (target === null || score(category) >= target) continue
    const wrong = lhr.categories[category]?.auditRefs.filter(({ id, weight }) => weight > 0 && (lhr.audits[id]?.score ?? 1) < 0.9)
    const reasons = (wrong ?? []).map(({ id }) => `${lhr.audits[id]?.title ?? id} ${words(id)}`.trim())
    missed.push(`${name}: ${category} ${score(category)} of ${target}: ${reasons.join('; ')}`)
  }
}

function performanceOf({ categories }: Result): number {
  return categories.performance?.score ?? 0
}

async function once(address: string): Promise<Result> {
  const report = path.join(folder, 'report.json')
  const options = [`--port=${port}`, '--quiet', `--only-categories=${categories.join(',')}`, '--output=json', `--output-path=${report}`]
  const look = async () => {
    const kept = address === '/dashboard' ? ['--disable-storage-reset'] : []
    await promisify(execFile)(process.execPath, [cli, program.url + address, ...options, ...kept])
    return result.parse(JSON.parse(readFileSync(report, 'utf8')))
  }
  let found = await look()
  // A trace that starts too late reports an error and is repeated once.
  if (found.runtimeError) found = await look()
  if (found.runtimeError) throw new Error(`${address}: ${found.runtimeError.message}`)
  return found
}

/** Signs in an account with a few invoices. */
async function signIn(page: Page): Promise<void> {
  const asha = await someoneAt(program.url, 'asha@example.com')
  for (let nth = 1; nth <= 12; nth += 1)
    await asha.send('POST', '/invoice', {
      clientName: `Client ${nth}`,
      clientEmail: `client${nth}@example.org`,
      amount: nth * 1_250,
      dueDate: Temporal.Now.plainDateISO()
        .subtract({ days: nth * 3 - 18 })
        .toString(),
    })
  await page.goto(`${program.url}/signin`)
  await page.getByLabel('Email').fill('asha@example.com')
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery')
  await page.locator('form button[type=submit]').click()
  await page.getByText('Client 12').first().waitFor()
  // Keeps the session but not the cache.
  const session = await page.context().newCDPSession(page)
  await session.send('Network.clearBrowserCache')
  await session.detach()
  await page.goto('about:blank')
}

function print(name: string, columns: string[]): void {
  process.stdout.write(`${name.padEnd(22)}${columns.map((column) => column.padStart(13)).join('')}\n`)
}
