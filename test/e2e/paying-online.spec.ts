import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type FakeRazorpay, openFakeRazorpay } from '#test/fakes/razorpay/server.ts'
import { startProgram } from '#test/program.ts'
import { expectAccessible } from './audit.ts'
import { test as base, expect } from './duely.ts'
import { signIn } from './sign-in.ts'

const password = 'correct horse battery'

/** A server with pay pages, whose accounts connect a fake Razorpay. */
const test = base.extend<object, { razorpay: FakeRazorpay }>({
  razorpay: [
    async ({}, use) => {
      await using razorpay = await openFakeRazorpay({ keyId: 'rzp_live_FakeFakeFake01' })
      await use(razorpay)
    },
    { scope: 'worker' },
  ],
  program: [
    async ({ razorpay }, use) => {
      const folder = await mkdtemp(path.join(tmpdir(), 'duely-paying-'))
      const program = await startProgram({ DATA_DIR: folder, PAY_LINKS: 'on', RAZORPAY_API_URL: razorpay.settings.apiUrl })
      await use(program)
      await program.end('SIGTERM')
      await rm(folder, { recursive: true, force: true })
    },
    { scope: 'worker', timeout: 300_000 },
  ],
})

test('a client pays online without a script, and the email that waited for it is closed', async ({
  page,
  program,
  browser,
  razorpay,
  smtp,
}) => {
  const { send } = await signIn(page, program.url)
  await send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  const dueDate = Temporal.Now.plainDateISO('Asia/Kolkata').subtract({ days: 5 }).toString()
  const invoice = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 5000, dueDate }
  const { _id } = (await send('POST', '/invoice', invoice)) as { _id: string }

  await page.goto('/dashboard/getting-paid')
  await page.getByRole('button', { name: 'Connect Razorpay' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Key ID').fill(razorpay.settings.keyId)
  await dialog.getByLabel('Key secret').fill('another-secret')
  await dialog.getByLabel('Your current password').fill(password)
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
  await expect(dialog.getByText('Razorpay refused these keys: Authentication failed').first()).toBeVisible()
  await expectAccessible(page)
  await dialog.getByLabel('Key secret').fill(razorpay.settings.keySecret)
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
  await expect(dialog.getByText('Razorpay is connected. Clients can now pay invoices in INR online.')).toBeVisible()
  await expectAccessible(page)
  const [url = '', secret = ''] = await dialog.locator('code').allTextContents()
  razorpay.sendEventsTo(program.url + new URL(url).pathname, secret)
  await dialog.getByRole('button', { name: 'I’ve saved it' }).click()
  await expect(page.getByText('Clients pay online with the key rzp_live_FakeFakeFake01')).toBeVisible()

  const link = (await send('POST', `/invoice/${_id}/pay-link`)) as { url: string }
  const known = () => Promise.all(['/answers', '/user/notices', `/invoice/${_id}/payments`].map((at) => send('GET', at)))
  const before = await known()
  const desk = await (await browser.newContext({ viewport: { width: 1280, height: 860 } })).newPage()
  await desk.goto(program.url + new URL(link.url).pathname)
  await expect(desk.getByRole('heading', { name: 'Pay online' })).toBeVisible()
  await expectAccessible(desk)
  // A browser that presses nothing, as that of a mail scanner, changes nothing.
  expect(await known()).toEqual(before)
  const phone = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 360, height: 780 } })
  const client = await phone.newPage()
  await client.goto(program.url + new URL(link.url).pathname)
  await expect(client.getByText('Asha Rao is told at once.')).toBeVisible()
  await client.getByRole('button', { name: 'Pay ₹5,000.00 online' }).click()
  await expect(client.getByRole('heading', { name: '₹5,000.00' })).toBeVisible()

  await send('POST', '/reminder/send-immediate')
  await page.goto(`/dashboard/edit-invoice/${_id}`)
  await expect(page.getByText('An email is waiting: the client is paying').first()).toBeVisible()

  await client.getByRole('button', { name: 'Pay' }).click()
  await expect(client.getByRole('heading', { name: 'Paid. Thank you.' })).toBeVisible()
  await page.reload()
  await expect(page.getByText(/pay_\w{14}/).first()).toBeVisible()
  expect(await send('GET', `/invoice/${_id}`)).toMatchObject({ status: 'paid', balance: 0 })
  expect(smtp.mails).toEqual([])
  await phone.close()
})
