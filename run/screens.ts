import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { chromium, type Page } from '@playwright/test'
import { chromiumFlags, findChromium } from '#test/chromium.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { someoneAt, startProgram } from '#test/program.ts'

/** npm run screens: takes the screenshots of the README and of the public pages, of the real program. */
const clients: [name: string, mailbox: string, amount: number, daysLate: number, status: string][] = [
  ['Meridian Textiles', 'accounts@meridian.example', 48_500, 19, 'overdue'],
  ['Kaveri Foods', 'billing@kaveri.example', 12_250, -8, 'unpaid'],
  ['Studio Banyan', 'hello@banyan.example', 96_000, 20, 'paid'],
  ['Nila Printers', 'nila@printers.example', 22_300, 6, 'overdue'],
  ['Arjun & Sons', 'desk@arjunandsons.example', 1_13_400, 34, 'overdue'],
  ['Lotus Dental', 'office@lotusdental.example', 7_800, -2, 'unpaid'],
  ['Coastal Logistics', 'pay@coastal.example', 64_900, -15, 'unpaid'],
  ['Blue Door Café', 'owner@bluedoor.example', 4_350, 2, 'overdue'],
  ['Sunrise Schools', 'finance@sunrise.example', 2_10_000, 12, 'paid'],
  ['Greenleaf Farms', 'hello@greenleaf.example', 33_150, -22, 'unpaid'],
]
const folder = mkdtempSync(path.join(tmpdir(), 'duely-pictures-'))
const target = path.join(import.meta.dirname, '../docs/pictures')
mkdirSync(target, { recursive: true })

await using smtp = await openFakeSmtp()
await using program = await startProgram({ DATA_DIR: folder })
const asha = await someoneAt(program.url, 'asha@example.com')
const today = Temporal.Now.plainDateISO('Asia/Kolkata')
for (const [clientName, clientEmail, amount, late, status] of clients.toReversed())
  await asha.send('POST', '/invoice', { clientName, clientEmail, amount, status, dueDate: today.subtract({ days: late }).toString() })
await asha.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
smtp.answer({
  rcpt: (to) => (to.startsWith('nila@') ? '550 5.1.1 No such user here' : to.startsWith('owner@') ? '552 5.2.2 Mailbox full' : undefined),
})
await asha.send('POST', '/reminder/start')

const wording = {
  useCustomTemplate: true,
  customSubject: 'Invoice {{invoiceId}}: {{amount}}, due on {{dueDate}}',
  customContent:
    'Hello {{clientName}},\n\na quick note that <b>{{amount}}</b> for invoice {{invoiceId}} was due on {{dueDate}}, {{daysOverdue}} days ago. Could you let me know when to expect it?\n\nThank you,\n{{userName}}',
}
await asha.send('PUT', '/mail-config/template', wording)
const invoices = (await asha.send('GET', '/invoice')) as { _id: string; clientName: string }[]
const late = invoices.find(({ clientName }) => clientName === 'Arjun & Sons')?._id ?? ''

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
  await page.goto(`${program.url}/signin`)
  await page.getByLabel('Email').fill('asha@example.com')
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery')
  await page.locator('form button[type=submit]').click()
  await page.getByText('Meridian Textiles').first().waitFor()
}
const open = async (page: Page, address: string, theme: 'dark' | 'light') => {
  await page.evaluate((chosen) => localStorage.setItem('theme', chosen), theme)
  await page.goto(program.url + address)
  await page.waitForLoadState('networkidle')
  await page.evaluate(() => document.fonts.ready)
}
const context = await browser.newContext({ locale: 'en-IN', timezoneId: 'Asia/Kolkata' })
const page = await context.newPage()
await signIn(page)
for (const { name, address, theme, size } of shots) {
  await page.setViewportSize(size)
  await open(page, address, theme)
  await page.screenshot({ path: path.join(target, `${name}.png`), animations: 'disabled' })
}
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
rmSync(folder, { recursive: true, force: true })
