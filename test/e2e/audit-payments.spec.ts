import type { Page } from '@playwright/test'
import { bankFileCalls } from '#contract/bank-file.ts'
import { banks } from '#test/bank-files.ts'
import { type Audit, auditWalk, closeMessages, dialog, fail, letGo, open } from './audit.ts'
import { expect, full, test } from './duely.ts'
import { type Someone, signIn } from './sign-in.ts'

const password = 'correct horse battery'
const day = (late: number) => Temporal.Now.plainDateISO('Asia/Kolkata').subtract({ days: late }).toString()
const long = 'Sri Venkateshwara Precision Engineering and Allied Industries Pvt Ltd'

async function fill({ send }: Someone): Promise<string[]> {
  await send('PUT', '/payment-settings', {
    upi: { id: 'asha@okaxis', name: 'Asha Traders', merchantCode: null },
    bank: { kind: 'india', accountName: long, accountNumber: '50100012345678', ifsc: 'HDFC0001234' },
    ownLink: { label: 'Pay by card', url: `https://pay.example/${'asha-'.repeat(30)}?amount={amount}` },
    businessName: 'Asha Traders',
    details: '12 MG Road\nBengaluru',
    currentPassword: password,
  })
  const kaveri = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', status: 'overdue' }
  const ids: string[] = []
  for (const draft of [
    ...[3_000, 1_250, 5_000, 700].map((amount, nth) => ({ ...kaveri, amount, dueDate: day(9 - nth) })),
    { clientName: long, clientEmail: `accounts@${'a-very-long-subdomain.'.repeat(3)}example`, amount: 9_999_999.5, dueDate: day(40) },
    ...Array.from({ length: 24 }, (_, nth) => ({
      clientName: `Client ${nth + 1}`,
      clientEmail: `client${nth}@many.example`,
      amount: 500 + nth,
      dueDate: day(-nth),
    })),
  ])
    ids.push(((await send('POST', '/invoice', draft)) as { _id: string })._id)
  return ids
}

/** What a client tells on the pay page of an invoice, in a browser of their own. */
async function tells(page: Page, { send }: Someone, id: string, answer: (client: Page) => Promise<void>): Promise<void> {
  const { url } = (await send('POST', `/invoice/${id}/pay-link`)) as { url: string }
  const client = await page.context().newPage()
  await client.goto(new URL(url).pathname)
  await answer(client)
  await client.close()
}

async function paying(page: Page, audit: Audit, someone: Someone): Promise<void> {
  await open(page, '/dashboard/clients', 'No clients yet')
  await audit.at('clients-empty')
  await open(page, '/dashboard/getting-paid', 'Clients are not told how to pay yet')
  await audit.at('getting-paid-empty')
  const [first = '', second = '', third = '', fourth = ''] = await fill(someone)
  const tell = (client: Page) =>
    client
      .getByRole('button', { name: /^Tell / })
      .filter({ visible: true })
      .first()
      .click()
  await tells(page, someone, first, async (client) => {
    await client.getByText('I have paid').click()
    await client.getByLabel('Payment reference').fill('UTR 412345678901')
    await tell(client)
    await expect(client.getByText(/^You told Asha Traders/)).toBeVisible()
  })
  await tells(page, someone, second, async (client) => {
    await client.getByText('I will pay on a date').click()
    await client.getByLabel('I will pay by').fill(day(-5))
    await tell(client)
    await expect(client.getByText(/knows that you will pay by/)).toBeVisible()
  })
  await tells(page, someone, third, async (client) => {
    await client.getByText('I have a question, or this is wrong').click()
    await client.getByLabel('Your message').fill('The second line is not what we agreed on. '.repeat(12))
    await tell(client)
    await expect(client.getByText(/^Your message was sent/)).toBeVisible()
  })
  await tells(page, someone, fourth, async (client) => {
    await client.getByText('I am the wrong person').click()
    await client.getByLabel('This invoice is not for me').check()
    await client.getByLabel('Their email, if you know it').fill('accounts@kaveri.example')
    await tell(client)
    await expect(client.getByText(/has been told/)).toBeVisible()
  })

  await open(page, '/dashboard/getting-paid', 'Kaveri Foods says INV-0001 is paid')
  await audit.at('getting-paid')
  await page.getByRole('button', { name: 'Record payment: INV-0001' }).click()
  await dialog(page, audit, 'answer-payment')
  await page.getByRole('button', { name: 'Change the contact: INV-0004' }).click()
  await dialog(page, audit, 'answer-contact')
  await page.getByRole('button', { name: 'Change the bank account' }).click()
  await dialog(page, audit, 'bank-account')
  await page.getByRole('button', { name: 'Connect Razorpay' }).click()
  await dialog(page, audit, 'razorpay')
  await page.getByLabel('Business name').fill('Asha Traders and Sons')
  await audit.at('pay-page-changed', page.getByLabel('Your current password'))

  await open(page, '/dashboard/clients', '26 clients owe you')
  await expect(page.getByText(/^Wrong person, until/)).toBeVisible()
  await audit.at('clients')
  await page.getByRole('link', { name: 'Kaveri Foods' }).click()
  await expect(page.getByText('Asks a question for INV-0003')).toBeVisible()
  await audit.at('client')
  await audit.at('client-timeline', page.getByRole('heading', { name: 'Timeline' }))
  await page.getByRole('link', { name: 'INV-0001' }).first().click()
  await expect(page.getByText('The client says that it is paid.')).toBeVisible()
  await audit.at('invoice-says-paid')
  await audit.at('invoice-history-answer', page.getByText('Says paid: ₹3,000.00'))
}

async function importing(page: Page, audit: Audit, someone: Someone): Promise<void> {
  await fill(someone)
  await open(page, '/dashboard/getting-paid', 'Import a bank file')
  await page.getByRole('link', { name: 'Import a bank file' }).click()
  await expect(page.getByText('Nothing is recorded before you press Record.')).toBeVisible()
  await audit.at('bank-file')
  const choose = (content: string | ArrayBuffer, name = 'statement.csv') =>
    page
      .locator('input[type=file]')
      .setInputFiles({ name, mimeType: 'text/csv', buffer: typeof content === 'string' ? Buffer.from(content) : Buffer.from(content) })
  await choose('01/02/2026,NEFT KAVERI,5.00,900.00')
  await expect(page.getByText('2. Please choose the column with the amounts.')).toBeVisible()
  await page.getByText('Columns', { exact: true }).click()
  await audit.at('bank-file-columns')
  await page.getByRole('button', { name: 'Another file' }).click()
  await choose('Date,Details,Amount,Type\n03/02/2026,INW REMIT KAVERI,5.00,INW\n04/02/2026,NEFT,7.00,CR\n05/02/2026,RENT,9.00,DR')
  await expect(page.getByText('1. In the column Type, which words mean money in?')).toBeVisible()
  await audit.at('bank-file-questions')
  await page.getByRole('button', { name: 'Another file' }).click()
  const [hdfc] = banks
  const transfer = (late: number, amount: number, name: string, purpose: string) => ({ date: day(late), amount, name, purpose })
  const file = hdfc?.write([
    transfer(3, 3_000, 'Kaveri Foods', 'INV-0001'),
    transfer(3, 1_950, 'Kaveri Foods', 'INV-0002 INV-0004'),
    transfer(2, 6_000, 'Kaveri Foods', 'INV-0003'),
    transfer(2, 512, 'Client 13', 'our last order'),
    transfer(2, -900, 'Landlord', 'RENT'),
    ...Array.from({ length: 55 }, (_, nth) => transfer(1, 17.25 + nth, `${long} ${nth}`, 'A transfer that pays no invoice of ours')),
  ])
  await choose(file ?? '', 'Every transfer of the year, as the bank exported it on the second of March.csv')
  await expect(page.getByRole('heading', { name: /^No match/ })).toBeVisible()
  await audit.at('bank-file-review')
  await audit.at('bank-file-look', page.getByRole('heading', { name: /^Please look/ }))
  await page
    .getByRole('button', { name: /^Choose an invoice for ₹17.25/ })
    .first()
    .click()
  await dialog(page, audit, 'bank-file-invoice')
  await fail(page, [bankFileCalls.import])
  await page.getByRole('button', { name: /^Record 3 payments/ }).click()
  await expect(page.getByText(/^The payments were not recorded\./)).toBeVisible()
  await audit.at('bank-file-failed', page.getByText(/^The payments were not recorded\./))
  await letGo(page)
  await page.getByRole('button', { name: /^Record 3 payments/ }).click()
  await expect(page.getByText('3 payments recorded, ₹4,950.00. 3 invoices are paid.')).toBeVisible()
  await audit.at('bank-file-recorded')
  await closeMessages(page)
}

test('clients, what they say and ways to pay', async ({ browser, program }) => {
  await auditWalk({ browser, url: program.url }, async (page, audit) => {
    await paying(page, audit, await signIn(page, program.url, 'paid@banyan.example'))
  })
})

test('a bank file', full, async ({ browser, program }) => {
  await auditWalk({ browser, url: program.url }, async (page, audit) => {
    await importing(page, audit, await signIn(page, program.url, 'bank@banyan.example'))
  })
})
