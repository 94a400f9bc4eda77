import type { Page } from '@playwright/test'
import PostalMime from 'postal-mime'
import { expect, test } from './duely.ts'

/* The main flow without a mouse, as a keyboard or screen reader user does it. */

/** The focused element: its accessible role and name, and whether something covers it. */
async function focused(page: Page): Promise<{ read: string; covered: string | null }> {
  const covered = await page.evaluate(() => {
    const here = document.activeElement
    if (!here || here === document.body) return null
    const { left, top, width, height } = here.getBoundingClientRect()
    if (width < 4 || height < 4) return null
    // The middle of what is in the window: the main part of a screen is higher than it.
    const middle = (from: number, size: number, window: number) => (Math.max(from, 0) + Math.min(from + size, window)) / 2
    const above = document.elementFromPoint(middle(left, width, innerWidth), middle(top, height, innerHeight))
    const label = here instanceof HTMLInputElement ? here.labels?.[0] : null
    const same = above && (here.contains(above) || above.contains(here) || label?.contains(above) || here.parentElement?.contains(above))
    return same ? null : `${here.outerHTML.slice(0, 90)} under ${above?.outerHTML.slice(0, 90) ?? 'the edge of the window'}`
  })
  const here = page.locator(':focus')
  let read = ''
  // After the last element the focus leaves to the browser, then returns to the first. An element can also go while it is read.
  await expect(async () => {
    read = (await here.count()) === 0 ? '' : await here.ariaSnapshot({ timeout: 1_000 })
  }).toPass()
  return { read: read.split('\n')[0] ?? '', covered }
}

/** Presses Tab until an element with this role and name has the focus; each one on the way must be visible. */
async function tabTo(page: Page, what: RegExp): Promise<void> {
  const passed: string[] = []
  for (let step = 0; step < 60; step += 1) {
    await page.keyboard.press('Tab')
    const { read, covered } = await focused(page)
    expect(covered, 'what has the focus is in sight').toBeNull()
    if (what.test(read)) return
    passed.push(read)
  }
  throw new Error(`Tab never came to ${what}, only to:\n${passed.join('\n')}`)
}

async function type(page: Page, field: RegExp, text: string): Promise<void> {
  await tabTo(page, field)
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type(text)
}

/** A dialog takes the focus shortly after it is there, and Tab must not be pressed before. */
async function inDialog(page: Page): Promise<void> {
  await expect(page.getByRole('dialog').locator(':focus')).toHaveCount(1)
}

/** Chooses an entry of the palette by its name. */
async function choose(page: Page, name: string): Promise<void> {
  // A dialog that fades returns the focus at its end, later than a person would open the palette.
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.keyboard.press('Control+k')
  await expect(page.getByRole('combobox', { name: 'Search and commands' })).toBeFocused()
  await page.keyboard.type(name)
  await page.keyboard.press('Enter')
  // While the palette fades, it still covers the screen.
  await expect(page.getByRole('dialog')).toHaveCount(0)
}

/** Chooses a screen. It has the focus once it is there, and Tab must not be pressed before. */
async function goTo(page: Page, name: string): Promise<void> {
  await choose(page, name)
  await expect(page.locator('#content')).toBeFocused()
}

test('the keyboard alone signs up, adds an invoice and a mailbox, runs reminders, marks as paid and signs out', async ({ page, smtp }) => {
  const late = Temporal.Now.plainDateISO('Asia/Kolkata').subtract({ days: 8 })
  const [year, month, day] = late.toString().split('-')
  await page.goto('/')
  await page.keyboard.press('Tab')
  expect((await focused(page)).read).toContain('link "Skip to content"')
  await page.keyboard.press('Enter')
  await tabTo(page, /link "Get Started"/)
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/signup$/)
  await type(page, /textbox "Full Name"/, 'Asha Rao')
  await type(page, /textbox "Email"/, `keys-${Date.now()}@banyan.example`)
  await type(page, /textbox "Password"/, 'correct horse battery')
  await tabTo(page, /button "Show password"/)
  await page.keyboard.press('Space')
  expect((await focused(page)).read).toContain('button "Hide password"')
  await tabTo(page, /button "Sign Up"/)
  await page.keyboard.press('Enter')
  await expect(page.getByText('No invoices yet')).toBeVisible()

  await tabTo(page, /link "Create Invoice"/)
  await page.keyboard.press('Enter')
  await expect(page.getByText('Fill in the details to create a new invoice')).toBeVisible()
  await type(page, /combobox "Client Name"/, 'Kaveri Foods')
  await type(page, /combobox "Client Email"/, 'billing@kaveri.example')
  await type(page, /textbox "Amount"/, '184200.50')
  await type(page, /textbox "Due Date"/, `${day}/${month}/${year}`)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('button', { name: 'All (1)' })).toBeVisible()

  await choose(page, 'email settings')
  await expect(page.getByText('No mailbox connected')).toBeVisible()
  await tabTo(page, /button "Configure Custom SMTP"/)
  await page.keyboard.press('Enter')
  await inDialog(page)
  await type(page, /textbox "SMTP Host"/, smtp.host)
  await tabTo(page, /combobox "Security"/)
  await page.keyboard.type('TLS')
  await type(page, /textbox "Port"/, String(smtp.port))
  await type(page, /textbox "Email"/, smtp.login.user)
  await type(page, /textbox "App Password"/, smtp.login.pass)
  await page.keyboard.press('Enter')
  await expect(page.getByText('Mail Configured')).toBeVisible()
  // The dialog must return the focus to the page.
  await expect(page.locator('body')).not.toBeFocused()

  await goTo(page, 'reminder control')
  await tabTo(page, /button "Start Reminders"/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog').getByText('Kaveri Foods')).toBeVisible()
  await inDialog(page)
  await tabTo(page, /button "Start Reminders"/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('status').filter({ hasText: 'Reminders started successfully!' })).toBeVisible()
  await smtp.received(1)
  expect((await PostalMime.parse(smtp.mails[0]?.raw ?? '')).subject).toContain('INV-0001')

  await goTo(page, 'dashboard')
  await expect(page.getByText(/^Reminded today/).first()).toBeVisible()
  // The message would lie over what the focus passes.
  await expect(page.getByText('Reminders started successfully!')).toHaveCount(0)
  await tabTo(page, /button "Actions for INV-0001/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('menuitem', { name: 'Mark as paid' })).toBeVisible()
  while (!(await focused(page)).read.includes('Mark as paid')) await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(page.getByText('INV-0001 is paid. No more reminders go out for it.')).toBeVisible()
  expect((await focused(page)).read).toContain('button "Actions for INV-0001')

  await goTo(page, 'reminder control')
  await tabTo(page, /button "Stop Reminders"/)
  await page.keyboard.press('Enter')
  await inDialog(page)
  await tabTo(page, /button "Stop Reminders"/)
  await page.keyboard.press('Enter')
  await expect(page.getByText('Inactive', { exact: true })).toBeVisible()

  await choose(page, 'sign out')
  await expect(page).toHaveURL(/\/$/)
  expect(await page.evaluate(() => localStorage.getItem('accessToken'))).toBeNull()
})

test('screen readers get the page, the purpose of each field and its error', async ({ page }) => {
  await page.goto('/signup')
  await page.getByLabel('Full Name').fill('Asha Rao')
  await page.getByLabel('Email').fill('ears@banyan.example')
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery')
  await page.getByRole('main').getByRole('button', { name: 'Sign Up', exact: true }).click()
  await expect(page.getByText('No invoices yet')).toBeVisible()
  await expect(page).toHaveTitle(/Dashboard/)
  await page.getByRole('complementary').getByRole('link', { name: 'Create Invoice' }).click()
  await expect(page).toHaveTitle(/Create Invoice/)
  await expect(page.getByRole('complementary')).toMatchAriaSnapshot(`
    - navigation "Dashboard screens":
      - link "Dashboard"
      - link "Create Invoice"
      - link "Email Settings"
      - link "Reminder Control"
      - link "Email Templates"
      - link "Connections"
      - link "My Profile"
    - list "Actions":
      - listitem:
        - button "Trigger Reminder Emails"
      - listitem:
        - button "Subscribe to Zapier"
  `)
  await page.getByRole('main').getByRole('button', { name: 'Create Invoice' }).click()
  const name = page.getByRole('combobox', { name: 'Client Name' })
  await expect(name).toBeFocused()
  await expect(name).toHaveAttribute('aria-invalid', 'true')
  await expect(name).toHaveAccessibleDescription(/.+\.$/)
  await expect(page.getByRole('main')).toMatchAriaSnapshot(`
    - main:
      - heading "Create Invoice" [level=1]
      - combobox "Client Name"
      - combobox "Client Email"
      - textbox "Amount"
      - textbox "Due Date"
      - button "Open the calendar"
      - combobox "Status"
      - textbox "Reference"
      - button "Create Invoice"
  `)
})
