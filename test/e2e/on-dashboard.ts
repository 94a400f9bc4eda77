import { randomUUID } from 'node:crypto'
import { expect, type Page } from '@playwright/test'

/** Somebody who has just signed up, with these invoices, on the dashboard. */
export async function onDashboard(
  page: Page,
  invoices: { clientName: string; amount: number; status?: string; dueInDays?: number }[],
  at = '',
): Promise<void> {
  await page.goto(`${at}/signup`)
  await page.getByLabel('Full Name').fill('Asha Rao')
  await page.getByLabel('Email').fill(`asha-${randomUUID()}@banyan.example`)
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery')
  await page.getByRole('button', { name: 'Sign Up' }).click()
  await expect(page.getByText('No invoices yet')).toBeVisible()
  const lines = invoices.map(({ clientName, amount, status = 'unpaid', dueInDays = 10 }) => ({
    clientName,
    clientEmail: `billing@${clientName.split(' ')[0]?.toLowerCase()}.example`,
    amount,
    status,
    dueDate: Temporal.Now.plainDateISO('Asia/Kolkata').add({ days: dueInDays }).toString(),
  }))
  if (lines.length === 0) return
  await page.evaluate(
    async (body) => {
      await fetch('/invoices/import', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${localStorage.getItem('accessToken')}` },
        body: JSON.stringify(body),
      })
    },
    { lines },
  )
  await page.reload()
  await expect(page.getByRole('button', { name: `All (${lines.length})` })).toBeVisible()
}
