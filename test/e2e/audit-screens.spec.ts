import type { Page } from '@playwright/test'
import { billingCalls } from '#contract/billing.ts'
import type { FakeSmtp } from '#test/fakes/smtp-server.ts'
import { type Audit, auditWalk, change, dialog, letGo, open, type Size, sizes } from './audit.ts'
import { expect, full, test } from './duely.ts'
import { type Someone, signIn } from './sign-in.ts'

async function withNothing(page: Page, audit: Audit, size: Size): Promise<void> {
  await open(page, '/dashboard', 'No invoices yet')
  await audit.at('dashboard-empty')
  await page.getByRole('button', { name: /^Account of/ }).click()
  await expect(page.getByRole('menuitem', { name: 'Sign Out' })).toBeVisible()
  await audit.at('account-menu')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Search and commands' }).click()
  await dialog(page, audit, 'palette')
  await page.keyboard.press('?')
  await dialog(page, audit, 'shortcuts')
  if (size === 'phone') {
    await page.getByRole('button', { name: 'Open the menu' }).click()
    await dialog(page, audit, 'drawer')
  }
  if (size === 'phone') {
    await page.getByRole('button', { name: 'Import and export' }).click()
    await expect(page.getByRole('menuitem', { name: 'Import from CSV' })).toBeVisible()
    await audit.at('tools-menu')
    await page.getByRole('menuitem', { name: 'Import from CSV' }).click()
  } else await page.getByRole('link', { name: 'Import', exact: true }).click()
  await dialog(page, audit, 'import')

  await open(page, '/dashboard/new-invoice', 'Fill in the details to create a new invoice')
  await audit.at('new-invoice')
  await page.getByRole('main').getByRole('button', { name: 'Create Invoice' }).click()
  await audit.at('new-invoice-refused')
  await page.getByRole('combobox', { name: 'Client Name' }).fill('Kaveri Foods')
  await page.getByRole('banner').getByRole('link', { name: 'Duely' }).click()
  await dialog(page, audit, 'unsaved')

  await open(page, '/dashboard/mail-settings', 'No mailbox connected')
  await audit.at('email-settings-empty')
  await page.getByRole('button', { name: 'Configure Custom SMTP' }).click()
  await page.getByRole('radio', { name: 'Microsoft 365' }).check()
  await page.getByRole('button', { name: 'Save SMTP Configuration' }).click()
  await dialog(page, audit, 'smtp')

  await open(page, '/dashboard/reminder-control', 'Not Configured')
  await audit.at('reminder-control-empty')
  await open(page, '/dashboard/sequences', 'No sequence of your own yet')
  await audit.at('sequences-empty')
  await open(page, '/dashboard/email-templates', 'Current Template')
  await audit.at('email-templates')
  for (const tab of ['profile', 'security', 'subscription', 'preferences']) {
    await open(page, `/dashboard/profile?tab=${tab}`, 'Member since')
    await audit.at(`profile-${tab}`)
  }
  await open(page, '/dashboard/profile?tab=security', 'Member since')
  await page.getByRole('button', { name: 'Delete Account' }).click()
  await dialog(page, audit, 'delete-account')
  await page.getByRole('button', { name: 'Set Up' }).click()
  await dialog(page, audit, 'two-factor')
  await open(page, '/dashboard/oauth-consent', 'Missing redirect URI information.')
  await audit.at('consent-missing')
  await open(page, '/dashboard/oauth-consent?redirect_uri=https%3A%2F%2Fzapier.com%2Fback&state=x', /Do you allow Zapier/i)
  await audit.at('consent-invalid')
}

/** A year of business, with the longest names and amounts. */
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

async function withMuch(page: Page, audit: Audit, someone: Someone, smtp: FakeSmtp): Promise<void> {
  const id = await fill(someone, smtp)
  await open(page, '/dashboard', 'All (44)')
  await audit.at('dashboard')
  await page.getByRole('button', { name: 'As a list' }).click()
  await audit.at('due-table')
  await page.getByRole('button', { name: 'As a line' }).click()
  const dots = page.locator('[data-dot]')
  await dots.first().focus()
  await audit.at('due-line-named')
  await page
    .getByRole('button', { name: /^Actions/ })
    .first()
    .click()
  await expect(page.getByRole('menuitem', { name: 'Delete' })).toBeVisible()
  await audit.at('invoice-menu')
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await dialog(page, audit, 'delete-invoice')
  await page.getByRole('button', { name: 'List', exact: true }).click()
  await expect(page.getByRole('table').first()).toBeVisible()
  await audit.at('dashboard-list')
  await page
    .getByRole('checkbox', { name: /^Select/ })
    .first()
    .click()
  const bar = page.getByRole('region', { name: 'Selected invoices' })
  await bar.getByRole('button', { name: /^Select all/ }).click()
  await audit.at('bulk-bar')
  await bar.getByRole('button', { name: 'Pause' }).click()
  await dialog(page, audit, 'bulk-pause')
  await bar.getByRole('button', { name: 'Delete' }).click()
  await dialog(page, audit, 'bulk-delete')
  await open(page, '/dashboard?search=nobody&status=paid', /No invoices match your search/)
  await audit.at('no-match')
  await page.getByRole('button', { name: 'Search and commands' }).click()
  const typed = page.getByRole('dialog').getByRole('combobox')
  await typed.fill('client 4')
  await expect(page.getByRole('option', { name: /^Client 4/ }).first()).toBeVisible()
  await audit.at('palette-found')
  await typed.fill('no such thing')
  await expect(page.getByText('No results for "no such thing"')).toBeVisible()
  await dialog(page, audit, 'palette-nothing')
  await open(page, '/dashboard/new-invoice', 'Fill in the details to create a new invoice')
  await page.getByRole('combobox', { name: 'Client Name' }).pressSequentially('Cli')
  await expect(page.getByRole('option', { name: /^Client/ }).first()).toBeVisible()
  await audit.at('new-invoice-suggested')
  await page.getByRole('combobox', { name: 'Client Name' }).fill('')
  await open(page, '/dashboard?import', 'All (44)')
  const csv = 'Client,Email,Amount,Due Date\nOrbit,pay@orbit.example,12,31/12/2026\nKaveri,nobody,12,31/12/2026\n'
  const file = { name: 'books.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) }
  await page.getByRole('dialog').locator('input[type=file]').setInputFiles(file)
  await expect(page.getByRole('dialog').getByText('Ready').first()).toBeVisible()
  await dialog(page, audit, 'import-preview')

  await open(page, `/dashboard/edit-invoice/${id}`, /Update invoice details/)
  await expect(page.getByRole('button', { name: /^Show email/ }).first()).toBeVisible()
  await audit.at('edit-invoice')
  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  await dialog(page, audit, 'pause-invoice')
  await page
    .getByRole('button', { name: /^Show email/ })
    .first()
    .click()
  await expect(page.getByRole('dialog').getByRole('tab').first()).toBeVisible()
  await audit.at('sent-email')
  await open(page, '/dashboard/edit-invoice/0199a000-0000-7000-8000-000000000000', /Failed to load invoice/)
  await audit.at('edit-invoice-missing')

  await open(page, '/dashboard/insights?age=notDue', 'How you are paid, and what reminders do')
  await expect(page.getByRole('table', { name: 'Not due: invoices' })).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Forecast: too few to tell' })).toBeVisible()
  await audit.at('insights')
  await page
    .getByRole('button', { name: /^As a table/ })
    .first()
    .click()
  await page.getByRole('button', { name: 'How it’s calculated' }).first().click()
  await audit.at('insights-table')

  await open(page, '/dashboard/sequences/new?from=friendly-to-final', /^A client who never pays hears from you 5 times/)
  const saves = page.getByRole('main').getByRole('button', { name: /^Save: \d/ })
  await expect(saves).toBeEnabled()
  await audit.at('sequence-new')
  await page
    .getByLabel('Day of step 4, from the due date')
    .or(page.getByRole('button', { name: /^14 days after/ }))
    .first()
    .click()
  await page.getByLabel('Day', { exact: true }).fill('7')
  await audit.at('sequence-faults')
  await page.getByLabel('Day', { exact: true }).fill('14')
  await saves.click()
  await expect(page.getByText('Sequence saved.')).toBeVisible()
  await open(page, '/dashboard/sequences', 'Friendly to final')
  await audit.at('sequences')
  await page.getByRole('button', { name: 'Use for all clients: Every day until paid' }).click()
  await expect(page.getByRole('dialog').getByRole('button', { name: /^Save: \d/ })).toBeEnabled()
  await dialog(page, audit, 'sequence-choose')
  await page.getByRole('button', { name: 'Delete Friendly to final' }).click()
  await dialog(page, audit, 'sequence-delete')
  await change(page, billingCalls.subscription, (plan) => ({ ...plan, entitlements: { ...plan.entitlements, abilities: [] } }))
  await open(page, '/dashboard/sequences', /^Sequences are part of Pro/)
  await audit.at('sequences-free')
  await letGo(page)

  await open(page, '/dashboard/mail-settings', 'Mail Configured')
  await page.getByRole('button', { name: 'Send Test Email' }).click()
  await expect(page.getByText(/^Test email sent to/)).toBeVisible()
  await audit.at('email-settings')
  await page.getByRole('button', { name: 'Remove Configuration' }).click()
  await dialog(page, audit, 'remove-configuration')
  await page.getByRole('button', { name: 'Change Configuration' }).click()
  await dialog(page, audit, 'smtp-change')

  await open(page, '/dashboard/reminder-control', 'Recent runs')
  await expect(page.getByRole('button', { name: 'Stop Reminders' })).toBeVisible()
  await audit.at('reminder-control')
  await page.getByRole('button', { name: 'Stop Reminders' }).click()
  await dialog(page, audit, 'stop-reminders')
  await page.getByRole('button', { name: 'Send Now' }).click()
  await dialog(page, audit, 'send-again')
  await someone.send('POST', '/reminder/stop')
  await open(page, '/dashboard/reminder-control', 'Recent runs')
  await page.getByRole('button', { name: 'Start Reminders' }).click()
  await dialog(page, audit, 'start-reminders')

  const wording = { useCustomTemplate: true, customSubject: 'You owe {{amount}}', customContent: 'Dear {{clientName}}, <b>please</b>.' }
  await someone.send('PUT', '/mail-config/template', wording)
  await open(page, '/dashboard/email-templates', 'Default Template (for reference)')
  await page.getByRole('textbox', { name: 'Content' }).fill('Dear {{nobody}}')
  await page.getByRole('button', { name: 'Save Template' }).click()
  await audit.at('email-templates-custom')
  await open(page, '/dashboard/profile?tab=profile', 'Member since')
  await audit.at('profile')
  await page.getByLabel('Display Name').fill('Asha Rao Menon')
  await page.getByRole('button', { name: 'Save Changes' }).click()
  await expect(page.getByText('Profile updated successfully!').first()).toBeVisible()
  await audit.at('toast')
  await page.goto('/pricing')
  await expect(page.getByRole('button', { name: 'Current Plan' }).or(page.getByText('Most Popular')).first()).toBeVisible()
  await audit.at('pricing-signed-in')
}

test('with a year of invoices: the main screens', async ({ browser, program, smtp }) => {
  await auditWalk({ browser, url: program.url }, async (page, audit) => {
    const someone = await signIn(page, program.url, 'main@banyan.example')
    const id = await fill(someone, smtp)
    const screens: [name: string, address: string, sign: string | RegExp][] = [
      ['insights', '/dashboard/insights?age=notDue', 'How you are paid, and what reminders do'],
      ['edit-invoice', `/dashboard/edit-invoice/${id}`, /Update invoice details/],
      ['sequence-new', '/dashboard/sequences/new?from=friendly-to-final', /^A client who never pays hears from you 5 times/],
      ['reminder-control', '/dashboard/reminder-control', 'Recent runs'],
      ['email-settings', '/dashboard/mail-settings', 'Mail Configured'],
      ['email-templates', '/dashboard/email-templates', 'Current Template'],
      ['profile-security', '/dashboard/profile?tab=security', 'Member since'],
      ['new-invoice', '/dashboard/new-invoice', 'Fill in the details to create a new invoice'],
      ['dashboard', '/dashboard', 'All (44)'],
    ]
    for (const [name, address, sign] of screens) {
      await open(page, address, sign)
      await audit.at(name)
    }
    await page.getByRole('button', { name: 'As a list' }).click()
    await audit.at('due-table')
    await page
      .getByRole('button', { name: /^Actions/ })
      .first()
      .click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await dialog(page, audit, 'delete-invoice')
    await page.getByRole('button', { name: 'List', exact: true }).click()
    await page
      .getByRole('checkbox', { name: /^Select/ })
      .first()
      .click()
    await audit.at('bulk-bar')
    await page.getByRole('button', { name: 'Search and commands' }).click()
    await dialog(page, audit, 'palette')
  })
})

for (const size of sizes) {
  test(`just signed up: every screen and dialog, ${size}`, full, async ({ browser, program }) => {
    await auditWalk({ browser, url: program.url, at: [size] }, async (page, audit) => {
      await signIn(page, program.url, `nothing-${size}@banyan.example`)
      await withNothing(page, audit, size)
    })
  })

  test(`with a year of invoices: every screen and dialog, ${size}`, full, async ({ browser, program, smtp }) => {
    await auditWalk({ browser, url: program.url, at: [size] }, async (page, audit) => {
      const someone = await signIn(page, program.url, `much-${size}@banyan.example`)
      await withMuch(page, audit, someone, smtp)
    })
  })
}
