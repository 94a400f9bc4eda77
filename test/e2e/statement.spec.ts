import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Download } from '@playwright/test'
import { freePort, type Program, startProgram } from '#test/program.ts'
import { closeMessages, expectAccessible } from './audit.ts'
import { test as base, expect } from './duely.ts'
import { signIn } from './sign-in.ts'

/** Clients can reach this program, which costs a start of its own: 20 s in all. */
const test = base.extend<object, { program: Program }>({
  program: [
    async ({}, use) => {
      const folder = await mkdtemp(path.join(tmpdir(), 'duely-browser-'))
      const port = String(await freePort())
      const program = await startProgram({ DATA_DIR: folder, PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}`, PAY_LINKS: 'on' })
      await use(program)
      await program.end('SIGTERM')
      await rm(folder, { recursive: true, force: true })
    },
    { scope: 'worker', timeout: 300_000 },
  ],
})
test.use({ permissions: ['clipboard-read', 'clipboard-write'] })

const pdf = Buffer.from('%PDF-1.7\nan invoice\n%%EOF\n')
const bytesOf = async (download: Download) => readFile(await download.path())

test('an owner adds a PDF and copies links; the client opens the statement, its invoices and their PDF', async ({
  page,
  program,
  browser,
}) => {
  const { send } = await signIn(page, program.url)
  const day = (days: number) => Temporal.Now.plainDateISO('Asia/Kolkata').subtract({ days }).toString()
  const kaveri = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example' }
  const { _id: id } = (await send('POST', '/invoice', { ...kaveri, amount: 5000, dueDate: day(19) })) as { _id: string }
  await send('POST', '/invoice', { ...kaveri, amount: 12250, dueDate: day(-8) })
  await send('POST', '/invoice', { ...kaveri, amount: 700, dueDate: day(40), status: 'paid' })
  await send('POST', '/invoice', { ...kaveri, clientEmail: 'other@kaveri.example', amount: 111, dueDate: day(3) })
  await send('PUT', '/payment-settings', { upi: { id: 'asha@okaxis', name: 'Asha Traders' }, currentPassword: 'correct horse battery' })
  const copied = () => page.evaluate(() => navigator.clipboard.readText())

  await page.goto(`/dashboard/edit-invoice/${id}`)
  const panel = page.locator('section', { has: page.getByRole('heading', { name: 'Payments' }) })
  const picker = panel.locator('input[type=file]')
  await expect(panel.getByRole('button', { name: 'Add PDF' })).toBeVisible()
  await picker.setInputFiles({ name: 'photo.pdf', mimeType: 'application/pdf', buffer: Buffer.from('a photo') })
  await expect(page.getByText('Please choose a PDF.')).toBeVisible()
  await picker.setInputFiles({ name: 'INV 0001.pdf', mimeType: 'application/pdf', buffer: pdf })
  await expect(page.getByText('INV 0001.pdf added.')).toBeVisible()
  const [own] = await Promise.all([page.waitForEvent('download'), panel.getByRole('button', { name: 'Download PDF' }).click()])
  expect(own.suggestedFilename()).toBe('INV 0001.pdf')
  await closeMessages(page)
  await expectAccessible(page)

  await panel.getByRole('button', { name: 'Copy pay link' }).click()
  await expect(page.getByText('Pay link copied.')).toBeVisible()
  const first = await copied()
  expect(first).toMatch(new RegExp(`^${program.url}/pay/[\\w-]{43}$`))
  await panel.getByRole('button', { name: 'Replace the link' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click()
  await expect(page.getByText('The old link stops working.', { exact: true })).toBeVisible()
  expect((await page.request.get(first)).status()).toBe(404)

  const clients = (await send('GET', '/clients')) as { _id: string; email: string }[]
  await page.goto(`/dashboard/clients/${clients.find(({ email }) => email === kaveri.clientEmail)?._id}`)
  await page.getByRole('button', { name: 'Copy statement link' }).click()
  await expect(page.getByText('Statement link copied.')).toBeVisible()
  const [statement] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Statement (PDF)' }).click()])
  expect((await bytesOf(statement)).subarray(0, 5).toString()).toBe('%PDF-')
  await closeMessages(page)
  await expectAccessible(page)

  const phone = await browser.newContext({ viewport: { width: 360, height: 780 } })
  const client = await phone.newPage()
  await client.goto(await copied())
  await expect(client.getByRole('heading', { name: '₹17,250.00 to pay' })).toBeVisible()
  await expect(client.getByRole('listitem')).toHaveText([/INV-0001.*19 days overdue.*₹5,000\.00/s, /INV-0002.*₹12,250\.00/s])
  expect(await client.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)
  await expectAccessible(client)
  const [theirs] = await Promise.all([
    client.waitForEvent('download'),
    client.getByRole('link', { name: 'Download this statement (PDF)' }).click(),
  ])
  expect(theirs.suggestedFilename()).toMatch(/^Statement Kaveri Foods \d{4}-\d\d-\d\d\.pdf$/)
  await client.emulateMedia({ media: 'print' })
  await expect(client.getByRole('link', { name: 'Open a UPI app' })).toBeHidden()
  await expect(client.getByRole('heading', { name: '₹17,250.00 to pay' })).toBeVisible()
  await client.emulateMedia({ media: 'screen' })
  await client.getByRole('link', { name: /INV-0001/ }).click()
  await expect(client.getByRole('heading', { name: '₹5,000.00 to pay' })).toBeVisible()
  const [invoice] = await Promise.all([
    client.waitForEvent('download'),
    client.getByRole('link', { name: 'Download the invoice (PDF)' }).click(),
  ])
  expect((await bytesOf(invoice)).equals(pdf)).toBe(true)
  await phone.close()

  await page.goto(`/dashboard/edit-invoice/${id}`)
  await panel.getByRole('button', { name: 'Remove PDF' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove PDF' }).click()
  await expect(page.getByText('PDF removed.')).toBeVisible()
  await expect(panel.getByRole('button', { name: 'Add PDF' })).toBeVisible()
})
