import { randomUUID } from 'node:crypto'
import type { Page } from '@playwright/test'
import { someoneAt } from '#test/program.ts'
import { expect } from './duely.ts'

export type Someone = Awaited<ReturnType<typeof someoneAt>>

/** An email that no other test has an account with. */
export const newEmail = () => `asha-${randomUUID()}@banyan.example`

/**
 * Makes the account if there is none and signs this browser in to it, without the screens: the session is stored as the sign-in screen
 * stores it. The page is on no screen yet.
 */
export async function signIn(page: Page, url: string, email = newEmail()): Promise<Someone> {
  const someone = await someoneAt(url, email)
  const answered = await page.request.post(`${url}/auth`, { data: { email, password: 'correct horse battery' } })
  const { foundUser, accessToken } = (await answered.json()) as { foundUser: object; accessToken: string }
  await page.goto(`${url}/robots.txt`)
  await page.evaluate(
    ([user, token]) => {
      localStorage.setItem('user', user)
      localStorage.setItem('accessToken', token)
    },
    [JSON.stringify(foundUser), accessToken] as const,
  )
  return someone
}

/** Fills in the password that a dialog asks for. */
export async function prove(page: Page): Promise<void> {
  await page.getByRole('dialog').getByLabel('Your current password').fill('correct horse battery')
}

/** Opens the dashboard of a new account with these invoices. */
export async function onDashboard(
  page: Page,
  invoices: { clientName: string; amount: number; status?: string; dueInDays?: number }[],
  at = '',
): Promise<Someone> {
  await page.goto(`${at}/robots.txt`)
  const url = new URL(page.url()).origin
  const someone = await signIn(page, url)
  const lines = invoices.map(({ clientName, amount, status = 'unpaid', dueInDays = 10 }) => ({
    clientName,
    clientEmail: `billing@${clientName.split(' ')[0]?.toLowerCase()}.example`,
    amount,
    status,
    dueDate: Temporal.Now.plainDateISO('Asia/Kolkata').add({ days: dueInDays }).toString(),
  }))
  if (lines.length > 0) await someone.send('POST', '/invoices/import', { lines })
  await page.goto(`${url}/dashboard`)
  const loaded = lines.length > 0 ? page.getByRole('button', { name: `All (${lines.length})` }) : page.getByText('No invoices yet')
  await expect(loaded).toBeVisible()
  return someone
}
