import type { Page } from '@playwright/test'
import { type Notice, noticeCalls } from '#contract/notices.ts'
import { type HistoryMail, type InvoiceHistory, reminderCalls } from '#contract/reminders.ts'
import { type FakeSmtp, later } from '#test/fakes/smtp-server.ts'
import { type Audit, auditWalk, change, closeMessages, dialog, fail, letGo, open } from './audit.ts'
import { expect, full, test } from './duely.ts'
import { type Someone, signIn } from './sign-in.ts'

const control = '/dashboard/reminder-control'
const clients = ['Kaveri Foods', 'Studio Banyan', 'Meridian Textiles', 'Lotus Press', 'Nilgiri Tea']
const mailOf = (client: string) => `billing@${client.split(' ')[0]?.toLowerCase()}.example`

async function withMailbox(someone: Someone, { host, port, login }: FakeSmtp): Promise<void> {
  await someone.send('POST', '/mail-config/smtp', { host, port, secure: false, ...login })
}

async function withLateInvoices(someone: Someone): Promise<void> {
  for (const client of clients)
    await someone.send('POST', '/invoice', { clientName: client, clientEmail: mailOf(client), amount: 48_500, dueDate: '2026-01-02' })
}

async function runs(page: Page, audit: Audit, someone: Someone, smtp: FakeSmtp): Promise<void> {
  await withLateInvoices(someone)
  await open(page, control, 'Not Configured')
  // The button is aria-disabled but focusable, and shows the reason.
  await page.getByRole('button', { name: 'Start Reminders' }).focus()
  await page.keyboard.press('Enter')
  await dialog(page, audit, 'mail-needed')
  await withMailbox(someone, smtp)

  // An email stays in flight until the audit has seen them.
  const arrived = Promise.withResolvers<void>()
  const seen = Promise.withResolvers<void>()
  smtp.answer({
    dot: (_mail, nth) => {
      if (nth === 1) arrived.resolve()
      return later(seen.promise)
    },
  })
  const sending = someone.send('POST', '/reminder/send-immediate').catch(() => undefined)
  await arrived.promise
  await open(page, control, 'Send Now: sending reminders')
  await audit.at('run-under-way')
  await open(page, '/dashboard', 'All (5)')
  await audit.at('dashboard-under-way')
  await open(page, control, 'Send Now: sending reminders')
  await page.getByRole('button', { name: 'Cancel Run' }).click()
  await dialog(page, audit, 'cancel-run')
  await page.getByRole('button', { name: 'Cancel Run' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel Run' }).click()
  await expect(page.getByText('Run cancelled.')).toBeVisible()
  seen.resolve()
  await expect(page.getByRole('heading', { name: 'Reminders sent: 1 of 5' })).toBeVisible()
  await audit.at('run-cancelled')
  await closeMessages(page)
  await sending
  await smtp.quiet()

  smtp.answer({
    rcpt: (to) =>
      to === mailOf('Nilgiri Tea')
        ? '550 5.1.1 The email account that you tried to reach does not exist. Please try double-checking the recipient’s email address.'
        : to === mailOf('Lotus Press')
          ? '451 4.7.1 Greylisted, please try again later'
          : undefined,
  })
  await page.getByRole('button', { name: 'Start Reminders' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Start Reminders' }).click()
  await expect(page.getByText('1 email couldn’t be delivered:').first()).toBeVisible()
  await expect(page.getByText(/1 email is delayed/).first()).toBeVisible()
  await audit.at('run-failures')
  await closeMessages(page)
  await page.getByRole('button', { name: 'Close this result' }).click()
  for (const row of await page.locator('details > summary').all()) await row.click()
  await audit.at('last-runs-opened', page.locator('details').last())
  await page.getByRole('button', { name: 'Stop Reminders' }).click()
  await dialog(page, audit, 'stop-with-waiting')
  await open(page, '/dashboard', 'All (5)')
  await audit.at('dashboard-refused')
  await page.getByRole('button', { name: 'List', exact: true }).click()
  await expect(page.getByRole('table').first()).toBeVisible()
  await audit.at('dashboard-refused-list')
  await page.getByRole('button', { name: 'Cards', exact: true }).click()

  smtp.answer({})
  for (let nth = 0; nth < 3; nth += 1) await someone.send('POST', '/reminder/send-immediate').catch(() => undefined)
  await someone.send('DELETE', '/mail-config')
  await open(page, control, 'On hold: no mailbox is connected')
  await audit.at('reminder-control-waiting')
  await page.getByRole('button', { name: 'Send Now' }).click()
  await dialog(page, audit, 'mail-needed-to-send')
  await fail(page, [reminderCalls.stop])
  await page.getByRole('button', { name: 'Stop Reminders' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stop Reminders' }).click()
  await expect(page.getByText(/^Failed to stop reminders: /).first()).toBeVisible()
  await audit.at('stop-failed')
  await letGo(page)
}

async function refused(page: Page, audit: Audit, someone: Someone, smtp: FakeSmtp): Promise<void> {
  await withLateInvoices(someone)
  await withMailbox(someone, smtp)
  smtp.answer({
    auth: () => '535 5.7.8 Username and Password not accepted. For more information, go to https://support.example/mail/?p=BadCredentials',
  })
  await open(page, control, 'Recent runs')
  await page.getByRole('button', { name: 'Start Reminders' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Start Reminders' }).click()
  await expect(page.getByText('Sending is paused: the mail server refused the login').first()).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Reminders sent: 0 of 5' })).toBeVisible()
  await expect(page.getByText('Once the mailbox works again')).toBeVisible()
  await audit.at('reminder-control-login-refused')
  await open(page, '/dashboard/mail-settings', 'Enter New App Password')
  await audit.at('email-settings-login-refused')
  await page.getByRole('button', { name: 'Send Test Email' }).click()
  await expect(page.getByText(/^Error sending test email: /)).toBeVisible()
  await audit.at('test-mail-refused')
  await page.getByRole('button', { name: 'Enter New App Password' }).click()
  await page.getByLabel('App Password').fill('not this one')
  await page.getByRole('button', { name: 'Save SMTP Configuration' }).click()
  await expect(page.getByText(/^Error configuring SMTP: /).first()).toBeVisible()
  await dialog(page, audit, 'smtp-refused')
  await open(page, '/dashboard', 'All (5)')
  await audit.at('dashboard-login-refused')
  await page.getByRole('main').getByRole('link', { name: 'Kaveri Foods', exact: true }).click()
  await expect(page.getByText(/^An email is on hold: sending from your mailbox is paused/)).toBeVisible()
  await audit.at('edit-invoice-held')

  smtp.answer({ mail: () => '550 5.4.5 Daily user sending limit exceeded. For more information on sending limits, see your plan.' })
  await withMailbox(someone, smtp)
  await someone.send('POST', '/reminder/send-immediate').catch(() => undefined)
  await open(page, control, 'Sending is paused: the mailbox reached its sending limit')
  await expect(page.getByText('The mail server replied: 550 5.4.5 Daily user sending limit exceeded.')).toBeVisible()
  await audit.at('reminder-control-quota')
  await open(page, '/dashboard/mail-settings', 'Save Settings Again')
  await audit.at('email-settings-quota')

  const moment = '2026-11-20T03:30:00Z'
  const notice = { summary: '', link: null, clients: [], createdAt: moment, updatedAt: moment }
  await change(page, noticeCalls.list, (): Notice[] => [
    {
      ...notice,
      _id: '1',
      kind: 'promise_broken',
      title: 'Kaveri Foods has not kept its promise',
      text: 'INV-0001, ₹48,500.00, was promised by 19/11/2026 and is still unpaid. Reminders go on.',
      link: '/dashboard',
    },
    {
      ...notice,
      _id: '2',
      kind: 'not_delivered',
      title: '3 reminders were not delivered',
      text: 'Their mail servers refused them for good.',
      link: control,
    },
    {
      ...notice,
      _id: '3',
      kind: 'webhook_failing',
      title: 'https://books.example does not answer',
      text: 'Since yesterday no call got through.',
      link: '/dashboard/connections',
    },
    {
      ...notice,
      _id: '4',
      kind: 'webhook_gone',
      title: 'https://old.example wants no more calls',
      text: 'It answered 410, so it is called no longer.',
    },
    {
      ...notice,
      _id: '5',
      kind: 'restored',
      title: 'Your data was put back from a backup',
      text: 'Reminders that may have left already wait for your word.',
      link: control,
    },
  ])
  await change(page, reminderCalls.status, (status) => ({
    ...status,
    pause: null,
    trouble: 'Reminders leave later than planned: 1,204 mails of all accounts wait. Nothing is lost.',
  }))
  await open(page, '/dashboard', '5 need attention:')
  await audit.at('dashboard-need-you')
  await page.getByRole('button', { name: 'Notifications: 5 need attention' }).click()
  await expect(page.getByRole('dialog', { name: '5 need attention' }).getByRole('listitem')).toHaveCount(6)
  await dialog(page, audit, 'notifications')
  await open(page, control, /^Reminders leave later than planned/)
  await audit.at('reminder-control-late')
  await letGo(page)
}

/** Nine days of one invoice, with every outcome of an email. */
function story(known: InvoiceHistory): InvoiceHistory {
  const states: Partial<HistoryMail>[] = [
    { state: 'held', reason: 'sending_paused', kind: 'daily', serverReply: null },
    {
      state: 'retrying',
      kind: 'daily',
      attempt: 3,
      serverReply: '451 4.7.1 Greylisted, please try again later',
      nextTryAt: new Date(Date.now() + 40 * 60_000).toISOString(),
    },
    { state: 'failed', reason: 'refused', kind: 'send_now', serverReply: '550 5.1.1 No such user here', attempt: 1 },
    { state: 'cancelled', kind: 'start', serverReply: null },
    { state: 'superseded', kind: 'daily', serverReply: null },
    {
      state: 'sent',
      kind: 'trigger',
      serverReply: '250 2.0.0 OK: queued as 4F8D71C0A9',
      copiesRefused: 'The copy to boss@kaveri.example was refused: address doesn’t exist',
      invoices: 3,
      attempt: 1,
    },
    { state: 'failed', reason: 'expired', kind: 'retry', serverReply: 'It could not be handed over on this day.', attempt: 9 },
  ]
  const mails = Array.from({ length: 12 }, (_, nth): HistoryMail => {
    const at = `2026-11-${String(20 - nth).padStart(2, '0')}T03:30:00Z`
    return {
      _id: `0199a000-0000-7000-8000-0000000000${nth + 10}`,
      runId: '0199a000-0000-7000-8000-000000000000',
      kind: 'daily',
      state: 'sent',
      reason: null,
      subject: nth === 3 ? null : 'Reminder: INV-0001 of ₹48,500.00 was due on 02/01/2026',
      clientEmail: mailOf('Kaveri Foods'),
      createdAt: at,
      sentAt: at,
      bouncedAt: null,
      attempt: 1,
      nextTryAt: null,
      serverReply: '250 2.0.0 Accepted',
      copiesRefused: null,
      invoices: 1,
      sequence: null,
      step: null,
      stored: true,
      ...states[nth],
    }
  })
  const days = (['paused', 'not_running', 'added_later'] as const).map((outcome, nth) => ({
    date: `2026-11-0${7 - nth}`,
    outcome,
    words: {
      paused: 'Not sent: reminders for this invoice are paused until 07/11/2026.',
      not_running: 'Not sent: Duely was not running between 06:00 and 18:00.',
      added_later: 'Not in the run: it was written down after the run of that day.',
    }[outcome],
    decidedAt: `2026-11-0${7 - nth}T03:30:00Z`,
    nextTryAt: null,
    mailId: null,
  }))
  return { ...known, mails, days }
}

async function templates(page: Page, audit: Audit, someone: Someone, smtp: FakeSmtp): Promise<void> {
  const late = { clientName: 'Kaveri Foods', clientEmail: mailOf('Kaveri Foods'), amount: 48_500, dueDate: '2026-01-02' }
  for (const amount of [48_500, 12_250, 1_84_200.5]) await someone.send('POST', '/invoice', { ...late, amount })
  await withMailbox(someone, smtp)
  await open(page, '/dashboard/email-templates?tab=group', 'Current Template')
  await audit.at('email-templates-group')
  await page.getByLabel('Language').selectOption('de')
  await expect(page.getByText('Zahlungserinnerung: 17.250,00', { exact: false }).first()).toBeVisible()
  await audit.at('email-templates-german')
  await open(page, '/dashboard/business?tab=brand', 'What clients see')
  await page.getByLabel('Full name').fill('Neem Studio GmbH')
  await page.getByLabel('Colour').fill('#1f6f54')
  await expect(page.getByText('A button of your client pages')).toBeVisible()
  await audit.at('brand', page.getByText('A button of your client pages'))
  await page.getByLabel('Colour').fill('green')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(page.getByText('Please enter a colour such as #1f6f54.')).toBeVisible()
  await expect(page.getByLabel('Colour')).toBeFocused()
  await audit.at('brand-refused')
  await someone.send('PATCH', '/reminder/settings', { groupByClient: true })
  await someone.send('PUT', '/mail-config/template/group', {
    useCustomTemplate: true,
    customSubject: '{{invoiceCount}} open invoices, {{totalAmount}}',
    customContent: 'Dear {{clientName}},\n\n{{invoiceList}}\n\n<b>Please pay</b> soon.\n{{userName}}',
  })
  await open(page, '/dashboard/email-templates?tab=group', 'Default Template (for reference)')
  await page.getByRole('button', { name: 'Phone', exact: true }).filter({ visible: true }).click()
  const about = page.getByRole('tabpanel').getByRole('combobox', { name: 'Preview with' })
  const kaveri = page.getByRole('option', { name: /Kaveri Foods/ }).filter({ visible: true })
  await about.click()
  await kaveri.click()
  await audit.at('email-templates-phone', page.getByRole('tabpanel').getByText('This is exactly what your client receives'))
  await open(page, '/dashboard/email-templates?tab=group', 'Default Template (for reference)')
  await about.click()
  await expect(kaveri).toBeVisible()
  await audit.at('email-templates-example', about)
  await open(page, '/dashboard/email-templates?tab=group', 'Default Template (for reference)')
  await page.getByRole('tabpanel').getByRole('textbox', { name: 'Subject' }).fill('')
  await page.getByRole('tabpanel').getByRole('textbox', { name: 'Content' }).fill('Dear {{client}}')
  await page.getByRole('button', { name: 'Save Template' }).click()
  await expect(page.getByText('Please enter a subject.')).toBeVisible()
  await audit.at('email-templates-refused', page.getByText('Please enter a subject.'))
  await page.getByRole('button', { name: 'Reset' }).click()
  await expect(page.getByText('Reset to the last saved template.')).toBeVisible()
  await audit.at('email-templates-reset')
  await open(page, control, 'Recent runs')
  await audit.at('reminder-control-grouped')
  await someone.send('POST', '/reminder/send-immediate')
  await open(page, control, 'Recent runs')
  await page.getByRole('button', { name: 'Send Now' }).click()
  await dialog(page, audit, 'send-again-grouped')
  await change(page, reminderCalls.preview, (preview) => ({ ...preview, sendNowMails: 0, remindedToday: 3 }))
  await page.getByRole('button', { name: 'Send Now' }).click()
  await expect(page.getByRole('dialog').getByText(/has reached today’s limit/)).toBeVisible()
  await dialog(page, audit, 'send-again-used-up')
  await letGo(page)

  const list = (await someone.send('GET', '/invoice')) as { _id: string }[]
  await change(page, reminderCalls.history, story)
  await open(page, `/dashboard/edit-invoice/${list[0]?._id}`, 'History')
  await audit.at('history', page.getByText(/Greylisted/))
  await page.getByRole('button', { name: 'Show earlier' }).click()
  await audit.at('history-before', page.getByText(/^Not in the run: it was written down after/))
}

test('runs of reminders: under way, cancelled, with failures, opened later', full, async ({ browser, program, smtp }) => {
  await auditWalk({ browser, url: program.url }, async (page, audit) => {
    await runs(page, audit, await signIn(page, program.url, 'runs@banyan.example'), smtp)
  })
})

test('a mailbox that rejects emails, and every banner above a screen', full, async ({ browser, program, smtp }) => {
  await auditWalk({ browser, url: program.url }, async (page, audit) => {
    await refused(page, audit, await signIn(page, program.url, 'refused@banyan.example'), smtp)
  })
})

test('one email per client, its template, and the long history of an invoice', full, async ({ browser, program, smtp }) => {
  await auditWalk({ browser, url: program.url }, async (page, audit) => {
    await templates(page, audit, await signIn(page, program.url, 'grouped@banyan.example'), smtp)
  })
})
