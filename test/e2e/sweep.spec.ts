import path from 'node:path'
import AxeBuilder from '@axe-core/playwright'
import type { Browser, Page } from '@playwright/test'
import type { FakeReceiver } from '#test/fakes/receiver.ts'
import type { FakeSmtp } from '#test/fakes/smtp-server.ts'
import { someoneAt } from '#test/program.ts'
import { expect, test } from './with-programs.ts'

/*
 * Every screen and dialog in both themes, on a wide screen and on a phone: nothing for axe to find, nothing on the console, nothing that
 * sticks out. The pictures are kept in test-results/sweep.
 */

// A trace runs a script of its own in every frame, and a mail's frame lets none run.
test.use({ trace: 'off' })
test.describe.configure({ mode: 'parallel' })

const pictures = path.join(import.meta.dirname, '../../test-results/sweep')
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const sizes = { wide: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } }
type Size = keyof typeof sizes

/** Looks at what is on the screen now, in the dark and in the light theme, and keeps what is wrong with it. */
interface Looking {
  at(name: string): Promise<void>
}

function looking(page: Page, size: Size): Looking {
  const inTheme = async (theme: 'dark' | 'light') => {
    await page.evaluate((wanted) => {
      document.documentElement.classList.toggle('dark', wanted === 'dark')
      document.documentElement.setAttribute('data-mantine-color-scheme', wanted)
    }, theme)
    // While something fades, its colours are not yet what they will be.
    await page.waitForFunction(() => document.getAnimations().every(({ playState }) => playState !== 'running'))
  }
  return {
    async at(name) {
      await page.evaluate(() => document.fonts.ready)
      const out = await page.evaluate(sticksOut)
      expect.soft(out, `${name}: what sticks out`).toBeNull()
      for (const theme of ['dark', 'light'] as const) {
        await inTheme(theme)
        await page.screenshot({ path: path.join(pictures, size, theme, `${name}.png`), animations: 'disabled' })
        // A mail's frame lets no script run; what is in it is tested with the mail.
        await page.evaluate(() => {
          for (const frame of document.querySelectorAll('iframe')) frame.remove()
        })
        const axe = new AxeBuilder({ page })
        // The themes differ in nothing but their colours.
        const { violations } = await (theme === 'dark' ? axe.withTags(rules) : axe.withRules(['color-contrast'])).analyze()
        expect
          .soft(
            violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`),
            `${name}, ${theme}`,
          )
          .toEqual([])
      }
      await inTheme('dark')
    },
  }
}

/** The first thing that is wider than its window, in words; null where nothing is. */
function sticksOut(): string | null {
  const wide = (element: Element) => element.scrollWidth > element.clientWidth + 1
  if (wide(document.documentElement)) return `the page (${document.documentElement.scrollWidth} px)`
  const dialog = [...document.querySelectorAll('[role=dialog], dialog[open]')].find(wide)
  return dialog ? `the dialog (${dialog.scrollWidth} of ${dialog.clientWidth} px)` : null
}

/** A window in which this person is signed in already. */
async function signIn(page: Page, url: string, email: string): Promise<Awaited<ReturnType<typeof someoneAt>>> {
  const someone = await someoneAt(url, email)
  const answered = await page.request.post('/auth', { data: { email, password: 'correct horse battery' } })
  const { foundUser, accessToken } = (await answered.json()) as { foundUser: object; accessToken: string }
  await page.addInitScript(
    ([user, token]) => {
      // A mail's frame has no storage.
      if (window !== window.top || localStorage.getItem('accessToken')) return
      localStorage.setItem('user', user)
      localStorage.setItem('accessToken', token)
    },
    [JSON.stringify(foundUser), accessToken] as const,
  )
  return someone
}

/** Opens an address and waits for what tells that it is all there. */
async function open(page: Page, address: string, sign: string | RegExp): Promise<void> {
  await page.goto(address)
  await expect(page.getByRole('main').getByText(sign).filter({ visible: true }).first()).toBeVisible({ timeout: 15_000 })
  await expect(page.locator('.mantine-Skeleton-root').filter({ visible: true })).toHaveCount(0, { timeout: 15_000 })
}

/** A dialog that somebody opened, seen whole; closed again by Escape. */
async function dialog(page: Page, look: Looking, name: string): Promise<void> {
  await expect(page.getByRole('dialog').filter({ visible: true }).first()).toBeVisible()
  await look.at(name)
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog').filter({ visible: true })).toHaveCount(0)
}

async function sweep(
  { browser, url, size }: { browser: Browser; url: string; size: Size },
  walk: (page: Page, look: Looking) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({ viewport: sizes[size], baseURL: url, locale: 'en-IN', timezoneId: 'Asia/Kolkata' })
  const page = await context.newPage()
  const look = looking(page, size)
  const complain = (what: string) => expect.soft(what, page.url()).toBe('')
  page.on('pageerror', (error) => complain(String(error)))
  page.on('console', (message) => {
    // A call that is refused is no complaint: what the person sees of it is what counts.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) complain(message.text())
  })
  await walk(page, look)
  await context.close()
}

async function signedOut(page: Page, look: Looking, size: Size): Promise<void> {
  const pages: [name: string, address: string, sign: string | RegExp][] = [
    ['landing', '/', 'Get Started'],
    ['features', '/features', 'Automated Reminders'],
    ['pricing', '/pricing', 'Most Popular'],
    ['contact', '/contact', /./],
    ['sign-up', '/signup', 'Sign up to Duely'],
    ['forgot-password', '/forgot-password', 'Forgot your password?'],
    ['reset-password', '/reset-password', /This link is not complete/],
    ['confirm-email', '/confirm-email', /This link is not complete/],
    ['not-found', '/no-such-page', 'Page not found'],
    ['sign-in', '/signin', 'Sign in to Duely'],
  ]
  for (const [name, address, sign] of pages) {
    await open(page, address, sign)
    await look.at(name)
  }
  await page.getByLabel('Email').fill('nobody@example.com')
  await page.getByLabel('Password', { exact: true }).fill('wrong')
  await page.getByRole('main').getByRole('button', { name: 'Sign In' }).click()
  await expect(page.getByRole('alert').filter({ hasText: /\w/ }).first()).toBeVisible()
  await look.at('sign-in-refused')
  if (size === 'wide') return
  await page.getByRole('button', { name: 'Open the menu' }).click()
  await dialog(page, look, 'menu')
}

async function withNothing(page: Page, look: Looking, size: Size): Promise<void> {
  await open(page, '/dashboard', 'No invoices yet')
  await look.at('dashboard-empty')
  await page.getByRole('button', { name: /^Account of/ }).click()
  await expect(page.getByRole('menuitem', { name: 'Sign Out' })).toBeVisible()
  await look.at('account-menu')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Search and commands' }).click()
  await dialog(page, look, 'palette')
  await page.keyboard.press('?')
  await dialog(page, look, 'shortcuts')
  if (size === 'phone') {
    await page.getByRole('button', { name: 'Open the menu' }).click()
    await dialog(page, look, 'drawer')
  }
  await page.getByRole('link', { name: 'Import', exact: true }).click()
  await dialog(page, look, 'import')

  await open(page, '/dashboard/new-invoice', 'Fill in the details to create a new invoice')
  await look.at('new-invoice')
  await page.getByRole('main').getByRole('button', { name: 'Create Invoice' }).click()
  await look.at('new-invoice-refused')
  await page.getByRole('combobox', { name: 'Client Name' }).fill('Kaveri Foods')
  await page.getByRole('banner').getByRole('link', { name: 'Duely' }).click()
  await dialog(page, look, 'unsaved')

  await open(page, '/dashboard/mail-settings', 'No mailbox connected')
  await look.at('email-settings-empty')
  await page.getByRole('button', { name: 'Configure Custom SMTP' }).click()
  await page.getByRole('radio', { name: 'Outlook' }).check()
  await page.getByRole('button', { name: 'Save SMTP Configuration' }).click()
  await dialog(page, look, 'smtp')

  await open(page, '/dashboard/reminder-control', 'Not Configured')
  await look.at('reminder-control-empty')
  await open(page, '/dashboard/email-templates', 'Current Template')
  await look.at('email-templates')
  for (const tab of ['profile', 'security', 'subscription', 'preferences']) {
    await open(page, `/dashboard/profile?tab=${tab}`, 'Member since')
    await look.at(`profile-${tab}`)
  }
  await open(page, '/dashboard/profile?tab=security', 'Member since')
  await page.getByRole('button', { name: 'Delete Account' }).click()
  await dialog(page, look, 'delete-account')
  await page.getByRole('button', { name: 'Set Up' }).click()
  await dialog(page, look, 'two-factor')
  await open(page, '/dashboard/oauth-consent', 'Missing redirect URI information.')
  await look.at('consent-missing')
  await open(page, '/dashboard/oauth-consent?redirect_uri=https%3A%2F%2Fzapier.com%2Fback&state=x', /Do you allow Zapier/i)
  await look.at('consent-invalid')
}

type Zapier = { clientId: string; redirectUri: string }

async function connectionsWithNothing(page: Page, look: Looking, { clientId, redirectUri }: Zapier): Promise<void> {
  await page.goto(
    `/oauth/authorize?${new URLSearchParams({ response_type: 'code', client_id: clientId, redirect_uri: redirectUri, state: 'x' })}`,
  )
  await expect(page.getByText('Zapier may')).toBeVisible()
  await look.at('consent')
  await open(page, '/dashboard/connections', 'No application is connected')
  await look.at('connections-empty')
  await page.getByRole('button', { name: 'Add Webhook' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Add Webhook' }).click()
  await dialog(page, look, 'webhook-add')
  await page.getByRole('button', { name: 'Create API Key' }).click()
  await page.getByLabel('Name').fill('Bookkeeping')
  await look.at('api-key-create')
  await page.getByRole('dialog').getByRole('button', { name: 'Create API Key' }).click()
  await expect(page.getByRole('button', { name: 'I Have Kept It' })).toBeVisible()
  await look.at('api-key-once')
  await page.getByRole('button', { name: 'I Have Kept It' }).click()
  await page.getByRole('button', { name: 'Revoke Bookkeeping' }).click()
  await dialog(page, look, 'api-key-revoke')
  await open(page, '/dashboard/connections/webhooks/0199a000-0000-7000-8000-000000000000', 'There is no such webhook')
  await look.at('webhook-missing')
  await page.goto('/dashboard?trigger')
  await expect(page.getByText('Duely may')).toBeVisible()
  await look.at('consent-own')
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect(page.getByText('Please configure your email settings first before sending reminders.')).toBeVisible()
  await dialog(page, look, 'trigger-mailbox')
}

type Someone = Awaited<ReturnType<typeof signIn>>

/** What a year of business leaves behind, and what no layout was made for. */
async function fill(someone: Someone, smtp: FakeSmtp): Promise<string> {
  const day = (late: number) => Temporal.Now.plainDateISO('Asia/Kolkata').subtract({ days: late }).toString()
  const lines = [
    { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 0.01, dueDate: day(8), status: 'overdue' },
    { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 184_200, dueDate: day(8), status: 'overdue' },
    {
      clientName: `${'Sri Venkateshwara Precision Engineering and Allied Industries '.repeat(3)}Pvt Ltd`.slice(0, 190),
      clientEmail: `${'accounts.payable.department'.repeat(2)}@${'a-very-long-subdomain-of-a-company.'.repeat(4)}example`,
      amount: 9_999_999_999.99,
      dueDate: day(3),
      status: 'unpaid',
    },
    { clientName: 'Studio Banyan', clientEmail: 'hello@banyan.example', amount: 96_000, dueDate: day(20), status: 'paid' },
    ...Array.from({ length: 40 }, (_, nth) => ({
      clientName: `Client ${nth + 1}`,
      clientEmail: `client${nth}@many.example`,
      amount: 1_000 + nth * 777,
      dueDate: day(-1 - (nth % 12)),
      status: 'unpaid',
    })),
  ]
  await someone.send('POST', '/invoices/import', { lines })
  await someone.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  smtp.answer({ rcpt: (to) => (to.includes('accounts.payable') ? '550 5.1.1 No such user here' : undefined) })
  await someone.send('POST', '/reminder/start')
  const list = (await someone.send('GET', '/invoice')) as { _id: string; amount: number }[]
  return list.find(({ amount }) => amount === 184_200)?._id ?? ''
}

async function withMuch(page: Page, look: Looking, someone: Someone, smtp: FakeSmtp): Promise<void> {
  const id = await fill(someone, smtp)
  await open(page, '/dashboard', 'All (44)')
  await look.at('dashboard')
  await page.getByRole('button', { name: 'Show as a table' }).click()
  await look.at('due-table')
  await page.getByRole('button', { name: 'Show as a line' }).click()
  const dots = page.locator('[data-dot]')
  await dots.first().focus()
  await look.at('due-line-named')
  await page
    .getByRole('button', { name: /^Actions/ })
    .first()
    .click()
  await expect(page.getByRole('menuitem', { name: 'Delete' })).toBeVisible()
  await look.at('invoice-menu')
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await dialog(page, look, 'delete-invoice')
  await page.getByRole('button', { name: 'List', exact: true }).click()
  await expect(page.getByRole('table').first()).toBeVisible()
  await look.at('dashboard-list')
  await page
    .getByRole('checkbox', { name: /^Select/ })
    .first()
    .click()
  const bar = page.getByRole('region', { name: 'Selected invoices' })
  await bar.getByRole('button', { name: /^Select all/ }).click()
  await look.at('bulk-bar')
  await bar.getByRole('button', { name: 'Pause' }).click()
  await dialog(page, look, 'bulk-pause')
  await bar.getByRole('button', { name: 'Delete' }).click()
  await dialog(page, look, 'bulk-delete')
  await open(page, '/dashboard?search=nobody&status=paid', /No invoices match your search/)
  await look.at('no-match')
  await open(page, '/dashboard?import', 'All (44)')
  const csv = 'Client,Email,Amount,Due Date\nOrbit,pay@orbit.example,12,31/12/2026\nKaveri,nobody,12,31/12/2026\n'
  const file = { name: 'books.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) }
  await page.getByRole('dialog').locator('input[type=file]').setInputFiles(file)
  await expect(page.getByRole('dialog').getByText('Ready').first()).toBeVisible()
  await dialog(page, look, 'import-preview')

  await open(page, `/dashboard/edit-invoice/${id}`, /Update invoice details/)
  await expect(page.getByRole('button', { name: /^Show email/ }).first()).toBeVisible()
  await look.at('edit-invoice')
  await page.getByRole('button', { name: 'Pause reminders' }).first().click()
  await dialog(page, look, 'pause-invoice')
  await page
    .getByRole('button', { name: /^Show email/ })
    .first()
    .click()
  await expect(page.getByRole('dialog').getByRole('tab').first()).toBeVisible()
  await look.at('sent-email')
  await open(page, '/dashboard/edit-invoice/0199a000-0000-7000-8000-000000000000', /Failed to load invoice/)
  await look.at('edit-invoice-missing')

  await open(page, '/dashboard/mail-settings', 'Mail Configured')
  await page.getByRole('button', { name: 'Send Test Mail' }).click()
  await expect(page.getByText(/^Test mail sent to/)).toBeVisible()
  await look.at('email-settings')
  await page.getByRole('button', { name: 'Remove Configuration' }).click()
  await dialog(page, look, 'remove-configuration')
  await page.getByRole('button', { name: 'Change Configuration' }).click()
  await dialog(page, look, 'smtp-change')

  await open(page, '/dashboard/reminder-control', 'Last runs')
  await expect(page.getByRole('button', { name: 'Stop Reminders' })).toBeVisible()
  await look.at('reminder-control')
  await page.getByRole('button', { name: 'Stop Reminders' }).click()
  await dialog(page, look, 'stop-reminders')
  await page.getByRole('button', { name: 'Send Now' }).click()
  await dialog(page, look, 'send-again')
  await someone.send('POST', '/reminder/stop')
  await open(page, '/dashboard/reminder-control', 'Last runs')
  await page.getByRole('button', { name: 'Start Reminders' }).click()
  await dialog(page, look, 'start-reminders')

  const wording = { useCustomTemplate: true, customSubject: 'You owe {{amount}}', customContent: 'Dear {{clientName}}, <b>please</b>.' }
  await someone.send('PUT', '/mail-config/template', wording)
  await open(page, '/dashboard/email-templates', 'Default Template (for reference)')
  await page.getByRole('textbox', { name: 'Content' }).fill('Dear {{nobody}}')
  await page.getByRole('button', { name: 'Save Template' }).click()
  await look.at('email-templates-custom')
  await open(page, '/dashboard/profile?tab=profile', 'Member since')
  await look.at('profile')
  await page.getByLabel('Display Name').fill('Asha Rao Menon')
  await page.getByRole('button', { name: 'Save Changes' }).click()
  await expect(page.getByText('Profile updated successfully!').first()).toBeVisible()
  await look.at('toast')
  await page.goto('/pricing')
  await expect(page.getByRole('button', { name: 'Current Plan' }).or(page.getByText('Most Popular')).first()).toBeVisible()
  await look.at('pricing-signed-in')
}

async function connectionsWithMuch(page: Page, look: Looking, someone: Someone, receiver: FakeReceiver): Promise<void> {
  const events = ['invoice.created', 'invoice.overdue', 'invoice.paid', 'reminder.sent', 'reminder.failed']
  for (let nth = 0; nth < 12; nth += 1) {
    await someone.send('POST', '/api-keys', {
      name: `${'Warehouse of the eastern branch '.repeat(2)}${nth}`,
      scopes: ['read'],
      expiresInDays: nth + 1,
    })
    await someone.send('POST', '/webhooks', {
      url: `${receiver.url}/${'a-very-long-path/'.repeat(nth)}`,
      events: events.slice(0, 1 + (nth % 5)),
    })
  }
  const { _id } = (await someone.send('POST', '/webhooks', { url: `${receiver.url}/books`, events })) as { _id: string }
  await someone.send('POST', '/oauth/login/callback?json=true', { redirect_uri: '/dashboard?trigger', state: 'x', request: '' })
  for (const answer of [
    { status: 500, body: `It does not work. ${'Nothing works here. '.repeat(40)}` },
    { status: 204, body: '' },
  ]) {
    receiver.answer(answer)
    await someone.send('POST', `/webhooks/${_id}/test`)
  }
  await open(page, '/dashboard/connections', `${receiver.url}/books`)
  await look.at('connections')
  await page.getByRole('button', { name: 'Disconnect Duely' }).click()
  await dialog(page, look, 'disconnect')

  await open(page, `/dashboard/connections/webhooks/${_id}`, 'Deliveries')
  await expect(page.getByText(/nothing else/).first()).toBeVisible()
  await page.getByRole('button', { name: 'Send Test Event' }).click()
  await expect(page.getByText('The receiver has taken the test event.')).toBeVisible()
  await look.at('webhook')
  await page.getByRole('button', { name: 'Change', exact: true }).click()
  await dialog(page, look, 'webhook-change')
  await page.getByRole('button', { name: 'Remove' }).click()
  await dialog(page, look, 'webhook-remove')
  await page.getByRole('button', { name: 'Replace Secret' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Replace Secret' }).click()
  await expect(page.getByRole('button', { name: 'I Have Kept It' })).toBeVisible()
  await look.at('webhook-secret')
  await page.getByRole('button', { name: 'I Have Kept It' }).click()
  await page.getByRole('button', { name: 'Pause' }).click()
  await expect(page.getByText('Paused by you')).toBeVisible()
  await look.at('webhook-paused')

  const due = { clientName: 'Nila Printers', clientEmail: 'nila@printers.example', amount: 22_300, dueDate: '2026-01-02' }
  for (let nth = 0; nth < 9; nth += 1) await someone.send('POST', '/invoice', { ...due, clientName: `Nila Printers ${nth}` })
  await page.goto('/dashboard?trigger')
  await expect(page.getByText(/emails leave now, for$/)).toBeVisible()
  await dialog(page, look, 'trigger')
}

for (const size of ['wide', 'phone'] as const) {
  test(`signed out: every screen, ${size}`, async ({ browser, program }) => {
    await sweep({ browser, url: program.url, size }, (page, look) => signedOut(page, look, size))
  })

  test(`just signed up: every screen and dialog, ${size}`, async ({ browser, program }) => {
    test.setTimeout(300_000)
    await sweep({ browser, url: program.url, size }, async (page, look) => {
      await signIn(page, program.url, `nothing-${size}@banyan.example`)
      await withNothing(page, look, size)
    })
  })

  test(`with a year behind them: every screen and dialog, ${size}`, async ({ browser, program, smtp }) => {
    test.setTimeout(300_000)
    await sweep({ browser, url: program.url, size }, async (page, look) => {
      const someone = await signIn(page, program.url, `much-${size}@banyan.example`)
      await withMuch(page, look, someone, smtp)
    })
  })

  test(`connections, none and many: every screen and dialog, ${size}`, async ({ browser, program, smtp, receiver, zapier }) => {
    test.setTimeout(300_000)
    await sweep({ browser, url: program.url, size }, async (page, look) => {
      await signIn(page, program.url, `alone-${size}@banyan.example`)
      await connectionsWithNothing(page, look, zapier)
    })
    await sweep({ browser, url: program.url, size }, async (page, look) => {
      const someone = await signIn(page, program.url, `connected-${size}@banyan.example`)
      await someone.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
      await connectionsWithMuch(page, look, someone, receiver)
    })
  })
}
