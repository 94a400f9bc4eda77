import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { chromium, type Page } from '@playwright/test'
import { openCatchingSmtp } from '#dev/catching-smtp.ts'
import { bankFileName } from '#dev/demo-bank.ts'
import { makeYear, paymentKeys, visitor } from '#dev/demo-year.ts'
import { chromiumFlags, findChromium } from '#test/chromium.ts'
import { openFakeRazorpay } from '#test/fakes/razorpay/server.ts'
import { someoneAt, startProgram } from '#test/program.ts'

/**
 * npm run screens: takes the screenshots of the README and of the public pages, of the real program on the year of npm run demo, without its banner.
 * Making the year takes a minute or two; `--data data/demo` takes that of a demo that has been stopped.
 */
const { values: given } = parseArgs({ options: { data: { type: 'string' } } })
const within = mkdtempSync(path.join(tmpdir(), 'duely-pictures-'))
const folder = path.join(within, 'data')
const target = path.join(import.meta.dirname, '../docs/pictures')
mkdirSync(target, { recursive: true })

await using smtp = await openCatchingSmtp({ smtp: 0, web: 0 })
await using provider = await openFakeRazorpay(paymentKeys)
if (given.data === undefined) {
  const about = { smtpPort: smtp.smtpPort, publicUrl: 'https://duely.example.com', paymentsUrl: provider.settings.apiUrl }
  await makeYear(folder, { ...about, progress: () => undefined })
} else cpSync(given.data, folder, { recursive: true, filter: (file) => !file.endsWith('.sock') })
await using program = await startProgram({ DATA_DIR: folder, PAY_LINKS: 'on', RAZORPAY_API_URL: provider.settings.apiUrl })
const mira = await someoneAt(program.url, visitor.email, visitor.password)
await mira.send('PUT', '/mail-config/template', {
  useCustomTemplate: true,
  customSubject: 'Invoice {{invoiceId}}: {{amount}}, due on {{dueDate}}',
  customContent:
    'Hello {{clientName}},\n\na quick note that <b>{{amount}}</b> for invoice {{invoiceId}} was due on {{dueDate}}, {{daysOverdue}} days ago. Could you let me know when to expect it?\n\nThank you,\n{{userName}}',
})
const invoices = (await mira.send('GET', '/invoice')) as { _id: string; status: string; dueDate: string; remindersSent: number }[]
/** The one that is owed longest. */
const late =
  invoices.filter(({ status }) => status === 'overdue').toSorted((one, other) => (one.dueDate < other.dueDate ? -1 : 1))[0]?._id ?? ''

const executablePath = findChromium()
const browser = await chromium.launch({ ...(executablePath ? { executablePath } : {}), args: chromiumFlags })
const wide = { width: 1280, height: 860 }
const phone = { width: 390, height: 844 }
const shots: { name: string; address: string; theme: 'dark' | 'light'; size: typeof wide }[] = [
  { name: 'dashboard', address: '/dashboard', theme: 'dark', size: wide },
  { name: 'invoice', address: `/dashboard/edit-invoice/${late}`, theme: 'light', size: wide },
  { name: 'reminder-control', address: '/dashboard/reminder-control', theme: 'dark', size: wide },
  { name: 'email-templates', address: '/dashboard/email-templates', theme: 'light', size: wide },
  { name: 'dashboard-phone', address: '/dashboard', theme: 'dark', size: phone },
]
const signIn = async (page: Page) => {
  // A busy machine may need minutes.
  page.setDefaultTimeout(300_000)
  await page.goto(`${program.url}/signin`)
  await page.getByLabel('Email').fill(visitor.email)
  await page.getByLabel('Password', { exact: true }).fill(visitor.password)
  await page.locator('form button[type=submit]').click()
  await page.waitForURL(`${program.url}/dashboard`)
}
const open = async (page: Page, address: string, theme: 'dark' | 'light') => {
  await page.evaluate((chosen) => localStorage.setItem('theme', chosen), theme)
  await page.goto(program.url + address)
  // Nothing is loading any more: no placeholder, and no figure without its words.
  await page.waitForFunction(
    () =>
      document.querySelector('#content h1') &&
      !document.querySelector('[class*="Skeleton"]') &&
      [...document.querySelectorAll('#content strong')].every((figure) => figure.textContent.trim() !== ''),
  )
  await page.waitForLoadState('networkidle')
  await page.evaluate(() => document.fonts.ready)
}
const bank = path.join(folder, bankFileName)
const context = await browser.newContext({ locale: 'en-IN', timezoneId: 'Asia/Kolkata' })
const page = await context.newPage()
await signIn(page)
for (const { name, address, theme, size } of shots) {
  await page.setViewportSize(size)
  await open(page, address, theme)
  await page.screenshot({ path: path.join(target, `${name}.png`), animations: 'disabled' })
}
await page.setViewportSize({ width: 1280, height: 1040 })
await open(page, '/dashboard/getting-paid/bank-file', 'dark')
await page.locator('input[type=file]').setInputFiles(bank)
await page.locator('[data-group="sure"]').first().waitFor()
await page.screenshot({ path: path.join(target, 'bank-review.png'), animations: 'disabled' })
// The same screens on the public pages, in both themes and small enough for them.
const drawing = await browser.newPage()
for (const [suffix, size, scale] of [
  ['', wide, 1],
  ['-phone', { width: 390, height: 720 }, 2],
] as const) {
  const sharp = await browser.newContext({ locale: 'en-IN', timezoneId: 'Asia/Kolkata', viewport: size, deviceScaleFactor: scale })
  const screen = await sharp.newPage()
  await signIn(screen)
  for (const name of ['dashboard', 'reminder-control'])
    for (const theme of ['dark', 'light'] as const) {
      await open(screen, name === 'dashboard' ? '/dashboard' : `/dashboard/${name}`, theme)
      const png = (await screen.screenshot({ animations: 'disabled' })).toString('base64')
      const webp = await drawing.evaluate(async (source) => {
        const picture = await createImageBitmap(await (await fetch(`data:image/png;base64,${source}`)).blob())
        const canvas = new OffscreenCanvas(picture.width, picture.height)
        canvas.getContext('2d')?.drawImage(picture, 0, 0)
        const packed = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/webp', quality: 0.8 })).arrayBuffer())
        return packed.toBase64()
      }, png)
      writeFileSync(path.join(target, `${name}${suffix}-${theme}.webp`), Buffer.from(webp, 'base64'))
    }
  await sharp.close()
}
await browser.close()
await program.end('SIGTERM')
rmSync(within, { recursive: true, force: true })
