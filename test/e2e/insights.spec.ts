import { readFile } from 'node:fs/promises'
import { expectAccessible } from './audit.ts'
import { expect, test } from './duely.ts'
import { signIn } from './sign-in.ts'

const daysAgo = (days: number) => Temporal.Now.plainDateISO('Asia/Kolkata').subtract({ days }).toString()

// Takes 8 s: 26 invoices are paid one by one, so that there is a forecast.
test('Insights begin empty; each chart has a finding, its formula, a table with the same figures, arrow keys and files', async ({
  page,
  program,
}) => {
  const { send } = await signIn(page, program.url)
  await page.goto('/dashboard')
  await page.getByRole('link', { name: 'Insights' }).click()
  await expect(page.getByText('How you are paid, and what reminders do')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Nothing to show yet' })).toBeVisible()
  await expect(page.getByText('Figures come with your first invoices.')).toBeVisible()

  const names = ['Lotus Dental', 'Kaveri Foods', 'Nila Printers'] as const
  const late = { 'Lotus Dental': -3, 'Kaveri Foods': 4, 'Nila Printers': 23 }
  for (let nth = 0; nth < 26; nth += 1) {
    const clientName = names[nth % 3] ?? names[0]
    const due = 60 + nth * 11
    const draft = { clientName, clientEmail: `${clientName.slice(0, 4).toLowerCase()}@example.com`, amount: 10_000 }
    const { _id } = (await send('POST', '/invoice', { ...draft, issuedOn: daysAgo(due + 14), dueDate: daysAgo(due) })) as { _id: string }
    await send('POST', `/invoice/${_id}/payments`, { amount: 10_000, paidOn: daysAgo(due - late[clientName]) })
  }
  for (const [clientName, amount, days] of [
    ['Nila Printers', 34_500, 40],
    ['Kaveri Foods', 12_250, 8],
    ['Lotus Dental', 182_400, -9],
  ] as const)
    await send('POST', '/invoice', {
      clientName,
      clientEmail: `${clientName.slice(0, 4).toLowerCase()}@example.com`,
      amount,
      issuedOn: daysAgo(days + 14),
      dueDate: daysAgo(days),
    })
  await page.reload()

  const ageing = page.getByRole('region', { name: '₹34,500.00 is more than 30 days late' })
  await expect(ageing.getByText('₹2,29,150.00 is open, ₹46,750.00 of it late. Each part opens its invoices.')).toBeVisible()
  await ageing.getByRole('button', { name: 'How it’s calculated' }).click()
  await expect(ageing.getByText(/^What is left to pay of each invoice/)).toBeVisible()
  await ageing.getByRole('button', { name: 'Not due: ₹1,82,400.00' }).focus()
  await page.keyboard.press('ArrowRight')
  await expect(ageing.getByRole('button', { name: '1–30 days late: ₹12,250.00' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\?age=to30$/)
  const list = ageing.getByRole('table', { name: '1–30 days late: invoices' })
  await expect(list.getByRole('link', { name: 'Kaveri Foods' })).toBeVisible()
  await ageing.getByRole('link', { name: /61–90 days late/ }).click()
  await expect(ageing.getByText('No invoices of this age.')).toBeVisible()

  const days = page.getByRole('region', { name: /^Clients pay 7 days late on average, and 35% of invoices on time$/ })
  await expect(days.getByRole('button', { name: 'Nila Printers: 23 days late, 8 paid invoices' })).toBeVisible()
  await days.getByRole('button', { name: /^As a table/ }).click()
  await expect(days.getByRole('row', { name: 'Nila Printers 8 23' })).toBeVisible()
  await expect(days.getByRole('row', { name: 'Lotus Dental 9 3 early' })).toBeVisible()

  await page.getByRole('button', { name: 'Show all clients' }).click()
  const all = page.getByRole('table', { name: 'All clients' })
  await expect(all.getByRole('row', { name: 'Lotus Dental ₹0.00 ₹1,82,400.00 9 3 early 100%' })).toBeVisible()

  const forecast = page.getByRole('region', { name: /^Expected in the next 8 weeks: ₹[\d,.]+, most likely ₹[\d,.]+ to ₹[\d,.]+$/ })
  await expect(forecast.getByRole('button', { name: /^Week from / })).toHaveCount(8)
  await expect(page.getByText('Many would have paid anyway: this shows what followed, not what it caused.')).toBeVisible()
  await expect(page.getByRole('heading', { name: /^DSO (is|rose|fell)/ })).toBeVisible()
  await expectAccessible(page)

  const download = forecast.getByRole('button', { name: /^Download CSV or PNG/ })
  await download.click()
  await forecast.getByRole('button', { name: 'Download CSV', exact: true }).press('Escape')
  await expect(download).toBeFocused()
  await expect(download).toHaveAttribute('aria-expanded', 'false')
  await download.click()
  const csv = page.waitForEvent('download')
  await forecast.getByRole('button', { name: 'Download CSV', exact: true }).click()
  const file = await csv
  expect(file.suggestedFilename()).toMatch(/^duely-forecast-.*\.csv$/)
  expect((await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n')).toHaveLength(9)
  await expect(download).toBeFocused()
  await download.click()
  const png = page.waitForEvent('download')
  await forecast.getByRole('button', { name: 'Download PNG' }).click()
  const drawn = await png
  expect([...(await readFile(await drawn.path())).subarray(1, 4)].map((byte) => String.fromCharCode(byte)).join('')).toBe('PNG')
})
