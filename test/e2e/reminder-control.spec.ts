import type { Page } from '@playwright/test'
import PostalMime from 'postal-mime'
import { type FakeSmtp, later } from '#test/fakes/smtp-server.ts'
import { expect, full, test } from './duely.ts'
import { type Someone, signIn } from './sign-in.ts'

const mailOf = (client: string) => `billing@${client.split(' ')[0]?.toLowerCase()}.example`

/** Signs in to an account with a mailbox and a late invoice of each of these clients; the answer makes its calls. */
async function withLateInvoices(page: Page, url: string, smtp: FakeSmtp, clients: string[]): Promise<Someone['send']> {
  const { send } = await signIn(page, url)
  for (const client of clients)
    await send('POST', '/invoice', { clientName: client, clientEmail: mailOf(client), amount: 500, dueDate: '2026-01-02' })
  await send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  return send
}

test('a refused start shows its error once, Send Now lists the recipients, and without a mailbox nothing is shown as sending', async ({
  page,
  program,
  smtp,
}) => {
  const ask = await withLateInvoices(page, program.url, smtp, ['Kaveri Foods'])
  await page.goto('/dashboard/reminder-control')

  smtp.answer({ rcpt: () => '550 5.7.1 Not from here' })
  await page.getByRole('button', { name: 'Start Reminders' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Start Reminders' }).click()
  await expect(page.getByRole('heading', { name: 'Reminders sent: 0 of 1' })).toBeVisible()
  await expect(page.getByText(/Reminders are active, but the mail server accepted no email\./)).toHaveCount(1)

  smtp.answer({})
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Send Now' }).click()
  await dialog.getByRole('button', { name: 'Send 1 email' }).click()
  await expect(page.getByText('1 reminder emails sent successfully!')).toBeVisible()
  await page.getByRole('button', { name: 'Send Now' }).click()
  await expect(dialog.getByText('1 email ready to send')).toBeVisible()
  await expect(dialog.getByText('Kaveri Foods')).toBeVisible()
  await expect(dialog.getByText('₹500.00').first()).toBeVisible()
  await dialog.getByRole('button', { name: 'Cancel' }).click()

  await ask('DELETE', '/mail-config')
  await page.reload()
  await expect(page.getByText('On hold: no mailbox is connected')).toBeVisible()
  await expect(page.getByText('Email is not configured')).toBeVisible()
  await expect(page.getByText('Once a mailbox is connected')).toBeVisible()
})

test('the dashboard shows when the next run is, and what keeps it from sending', full, async ({ page, program, smtp }) => {
  const ask = await withLateInvoices(page, program.url, smtp, ['Kaveri Foods'])
  await page.goto('/dashboard')
  await page.getByRole('link', { name: 'Next reminders Off Start daily reminders' }).click()
  await page.getByRole('button', { name: 'Start Reminders' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Start Reminders' }).click()
  await expect(page.getByText('The mail server accepted 1 email.').first()).toBeVisible()
  await page.getByRole('link', { name: 'Dashboard', exact: true }).first().click()
  await expect(page.getByRole('link', { name: /^Next reminders (Today|Tomorrow), 09:00 1 email to Kaveri Foods$/ })).toBeVisible()
  await ask('DELETE', '/mail-config')
  await page.reload()
  await expect(page.getByRole('link', { name: /^Next reminders No mailbox/ })).toHaveAttribute('href', '/dashboard/mail-settings')
})

test('Reminder Control links to the hour of the daily run', full, async ({ page, program, smtp }) => {
  await withLateInvoices(page, program.url, smtp, [])
  await page.goto('/dashboard/reminder-control')
  await expect(page.getByText(/periodic reminders go out daily at 9 AM\./)).toBeVisible()
  await page.getByRole('link', { name: 'Change the hour' }).click()
  await page.getByLabel('Hour of the daily run').selectOption('14:00')
  await page.getByRole('button', { name: 'Save Changes' }).click()
  await expect(page.getByText('Profile updated successfully!')).toBeVisible()
  await page.goBack()
  await expect(page.getByText(/periodic reminders go out daily at 2 PM\./)).toBeVisible()
})

test('a reminder that is sent while the dashboard is open appears there without a reload', async ({ page, program, smtp }) => {
  const ask = await withLateInvoices(page, program.url, smtp, ['Kaveri Foods'])
  const arrived = Promise.withResolvers<void>()
  const looked = Promise.withResolvers<void>()
  smtp.answer({
    dot: () => {
      arrived.resolve()
      return later(looked.promise)
    },
  })
  // Leaving the page must not cancel the emails.
  const sending = ask('POST', '/reminder/send-immediate').catch(() => undefined)
  await arrived.promise
  await page.goto('/dashboard')
  await expect(page.getByText('No reminder yet').first()).toBeVisible()
  looked.resolve()
  await expect(page.getByText(/^Reminded today/).first()).toBeVisible()
  await sending
})

test('a run is followed over a reload and cancelled: only the email being sent still arrives', async ({ page, program, smtp }) => {
  const clients = ['Kaveri Foods', 'Studio Banyan', 'Meridian Textiles', 'Lotus Press', 'Nilgiri Tea']
  const ask = await withLateInvoices(page, program.url, smtp, clients)
  const arrived = Promise.withResolvers<void>()
  const called = Promise.withResolvers<void>()
  smtp.answer({
    dot: (_mail, nth) => {
      if (nth === 1) arrived.resolve()
      return later(called.promise)
    },
  })
  await page.goto('/dashboard/reminder-control')
  const sending = ask('POST', '/reminder/send-immediate').catch(() => undefined)
  await arrived.promise
  const progress = page.getByRole('progressbar', { name: 'Reminder progress' })
  await page.reload()
  await expect(progress).toHaveAttribute('aria-valuetext', '0 of 5')
  await expect(page.getByRole('heading', { name: 'Send Now: sending reminders' })).toBeVisible()

  await page.getByRole('button', { name: 'Cancel Run' }).click()
  const asking = page.getByRole('dialog', { name: 'Cancel this run' })
  await expect(asking).toContainText('Emails already being sent can’t be stopped.')
  await asking.getByRole('button', { name: 'Cancel Run' }).click()
  await expect(page.getByText('Run cancelled.')).toBeVisible()
  called.resolve()
  await expect(page.getByRole('heading', { name: 'Reminders sent: 1 of 5' })).toBeVisible()
  await expect(page.getByText('The mail server accepted 1 email.').first()).toBeVisible()
  await expect(page.getByText('4 emails cancelled or skipped because the run was stopped.').first()).toBeVisible()
  await sending
  await smtp.quiet()
  expect(smtp.mails).toHaveLength(1)
})

test(
  'a refused address is on hold until it is tried again, and no other client is emailed twice',
  full,
  async ({ page, program, smtp }) => {
    await withLateInvoices(page, program.url, smtp, ['Kaveri Foods', 'Studio Banyan'])
    const address = mailOf('Studio Banyan')
    smtp.answer({ rcpt: (to) => (to === address ? '550 5.1.1 No such user here' : undefined) })
    await page.goto('/dashboard/reminder-control')
    await page.getByRole('button', { name: 'Send Now' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Send 2 emails' }).click()
    await expect(page.getByText('1 email couldn’t be delivered:').first()).toBeVisible()
    await expect(page.getByText('550 5.1.1 No such user here').first()).toBeVisible()
    await expect(page.getByText(`${address} doesn’t exist. Correct the address to resume.`).first()).toBeVisible()
    const dashboard = await page.context().newPage()
    await dashboard.goto('/dashboard')
    await expect(dashboard.getByRole('status').getByText('Studio Banyan’s address doesn’t exist.')).toBeVisible()
    await expect(dashboard.getByText('Address doesn’t exist. Correct it to resume.')).toHaveCount(1)
    await dashboard.getByRole('button', { name: 'List', exact: true }).click()
    await expect(dashboard.getByRole('cell', { name: 'Address doesn’t exist. Correct it to resume.', exact: true })).toHaveCount(1)
    await dashboard.getByRole('link', { name: 'Studio Banyan' }).click()
    const history = dashboard.locator('section').filter({ has: dashboard.getByRole('heading', { name: 'History' }) })
    const advice = history.getByText('Check the client’s email address on the invoice.')
    await expect(history.getByText('550 5.1.1 No such user here')).toBeVisible()
    await expect(advice).toBeVisible()

    smtp.answer({})
    await page.getByRole('button', { name: 'Try again' }).first().click()
    await expect(page.getByRole('heading', { name: 'Reminders sent: 1 of 1' })).toBeVisible()
    await expect(page.getByText('The mail server accepted 1 email.').first()).toBeVisible()
    expect(smtp.mails.map(({ envelope }) => envelope.to[0]).toSorted()).toEqual(['Kaveri Foods', 'Studio Banyan'].map(mailOf))
    await dashboard.reload()
    await expect(advice).toHaveCount(0)
  },
)

test(
  'a link to a run opens it in view, with the clients it failed for and a link to each invoice',
  full,
  async ({ page, program, smtp }) => {
    const ask = await withLateInvoices(page, program.url, smtp, ['Kaveri Foods', 'Studio Banyan', 'Nilgiri Tea'])
    smtp.answer({ rcpt: (to) => (to === mailOf('Studio Banyan') ? '550 5.1.1 No such user here' : undefined) })
    await ask('POST', '/reminder/send-immediate')
    const [failed] = (await ask('GET', '/reminder/runs')) as { _id: string }[]
    smtp.answer({})
    // Nothing is left to deal with in a newer run, so it is folded.
    await ask('POST', '/reminder/start')
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto('/dashboard/reminder-control')
    const undelivered = page.getByRole('button', { name: 'Not delivered: Studio Banyan, address doesn’t exist' })
    await expect(undelivered).toBeInViewport()
    await undelivered.click()
    await expect(page.getByRole('heading', { name: 'Recent runs' })).toBeInViewport()
    await page.goto(`/dashboard/reminder-control?run=${failed?._id}`)
    const run = page.locator('details[open]').filter({ hasText: 'Send Now' })
    await expect(run.getByText('Studio Banyan')).toBeInViewport()
    await expect(run.getByText('550 5.1.1 No such user here')).toBeInViewport()
    await expect(run.locator('summary')).toBeFocused()
    await run.getByRole('link', { name: /^Open INV-/ }).click()
    await expect(page.getByText('Update invoice details')).toBeVisible()
  },
)

test('with one email per client, two invoices of a client are sent as one custom email', full, async ({ page, program, smtp }) => {
  await withLateInvoices(page, program.url, smtp, ['Kaveri Foods', 'Kaveri Foods', 'Studio Banyan'])
  await page.goto('/dashboard/reminder-control')
  const choice = page.getByRole('switch', { name: 'One email per client' })
  await expect(page.getByText('3 emails to 2 clients')).toBeVisible()
  const several = page.getByRole('dialog').getByText(/^1 client will get several emails\./)
  await page.getByRole('button', { name: 'Start Reminders' }).click()
  await expect(several).toBeVisible()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await choice.click({ force: true })
  await expect(page.getByText('2 emails to 2 clients')).toBeVisible()
  await page.getByRole('button', { name: 'Start Reminders' }).click()
  await expect(page.getByRole('dialog').getByText('2 emails ready to send')).toBeVisible()
  await expect(several).toHaveCount(0)
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.reload()
  await expect(choice).toBeChecked()

  await page.getByRole('link', { name: 'Edit this email in Email Templates' }).click()
  await expect(page.getByRole('tab', { selected: true })).toHaveText('One email per client')
  const own = page.getByRole('tabpanel').getByLabel('Use Custom Email Template')
  // The switch saves automatically only after the first tenth of a second.
  await expect(async () => {
    if (!(await own.isChecked())) await own.click()
    await expect(own).toBeChecked({ timeout: 1_000 })
  }).toPass()
  await page.getByRole('tabpanel').getByRole('textbox', { name: 'Subject' }).fill('{{invoiceCount}} open invoices, {{totalAmount}}')
  await page.getByRole('button', { name: 'Save Template' }).click()
  await expect(page.getByText('Email template content updated successfully!')).toBeVisible()
  await page.goto('/dashboard/reminder-control')
  await page.getByRole('button', { name: 'Send Now' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Send 2 emails' }).click()
  await expect(page.getByText('2 reminder emails sent successfully!')).toBeVisible()
  const grouped = smtp.mails.find(({ envelope }) => envelope.to[0] === mailOf('Kaveri Foods'))
  const { subject, text } = await PostalMime.parse(grouped?.raw ?? '')
  expect(subject).toBe('2 open invoices, ₹1,000.00')
  expect(text).toMatch(/INV-0001.*INV-0002/s)
})

test(
  'Remind now sends one client an email edited for this once, and reports one that waits as not sent yet',
  full,
  async ({ page, program, smtp }) => {
    await withLateInvoices(page, program.url, smtp, ['Kaveri Foods', 'Studio Banyan'])
    await page.goto('/dashboard')
    const dialog = page.getByRole('dialog')
    const remind = async (client: string) => {
      await page.getByRole('button', { name: new RegExp(`^Actions for .*, ${client}$`) }).click()
      await page.getByRole('menuitem', { name: 'Remind now…' }).click()
    }
    await remind('Kaveri Foods')
    await dialog.getByRole('button', { name: 'Edit this email' }).click()
    await dialog.getByLabel('Subject').fill('Before the holidays, {{clientName}}')
    await dialog.getByRole('button', { name: 'Send reminder' }).click()
    await expect(page.getByText('Reminder sent to Kaveri Foods.')).toBeVisible()
    expect(smtp.mails.map(({ envelope }) => envelope.to[0])).toEqual([mailOf('Kaveri Foods')])
    expect((await PostalMime.parse(smtp.mails[0]?.raw ?? '')).subject).toBe('Before the holidays, Kaveri Foods')

    await remind('Kaveri Foods')
    await expect(dialog.getByText('Already sent less than a minute ago. No client is emailed twice.')).toBeVisible()
    await expect(dialog.getByText(/^Invoice INV-0001 from /)).toBeVisible()
    await expect(dialog.getByRole('button', { name: 'Send reminder' })).toBeDisabled()
    await dialog.getByRole('button', { name: 'Cancel' }).click()

    smtp.answer({ rcpt: () => '451 4.7.1 Try again later' })
    await remind('Studio Banyan')
    await dialog.getByRole('button', { name: 'Send reminder' }).click()
    await expect(page.getByText('1 email is not sent yet. Reminder Control shows why.')).toBeVisible()
  },
)

test(
  'Send Now sends only the ticked emails, combined per client where that is chosen in its dialog',
  full,
  async ({ page, program, smtp }) => {
    await withLateInvoices(page, program.url, smtp, ['Kaveri Foods', 'Kaveri Foods', 'Studio Banyan'])
    await page.setViewportSize({ width: 1280, height: 480 })
    await page.goto('/dashboard/reminder-control')
    await page.getByRole('button', { name: 'Send Now' }).click()
    const dialog = page.getByRole('dialog')
    // It opens at its beginning, which says how many, though Cancel has the focus.
    await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeFocused()
    await dialog.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished)))
    expect(await dialog.evaluate((frame) => [frame.scrollHeight > frame.clientHeight, frame.scrollTop])).toEqual([true, 0])
    const ticks = dialog.getByRole('checkbox')
    await expect(ticks).toHaveCount(4)
    for (const tick of await ticks.all()) await expect(tick).toBeChecked()
    await dialog.getByRole('checkbox', { name: /Studio Banyan/ }).uncheck()
    await expect(dialog.getByText('2 of 3 emails chosen')).toBeVisible()
    await dialog.getByRole('button', { name: 'Combine into one email per client' }).click()
    await dialog.getByRole('button', { name: 'Send 1 email' }).click()
    await expect(page.getByText('1 reminder emails sent successfully!')).toBeVisible()
    expect(smtp.mails.map(({ envelope }) => envelope.to[0])).toEqual([mailOf('Kaveri Foods')])
    expect((await PostalMime.parse(smtp.mails[0]?.raw ?? '')).text).toMatch(/INV-0001.*INV-0002/s)
  },
)

test('Remind now opens from the selection, the palette and the page of an invoice', full, async ({ page, program, smtp }) => {
  await withLateInvoices(page, program.url, smtp, ['Kaveri Foods', 'Studio Banyan'])
  await page.goto('/dashboard')
  const dialog = page.getByRole('dialog')
  for (const client of ['Kaveri Foods', 'Kaveri Foods', 'Studio Banyan'])
    await page.getByRole('checkbox', { name: new RegExp(`^Select INV-.*, ${client}$`) }).check()
  const remind = page.getByRole('region', { name: 'Selected invoices' }).getByRole('button', { name: 'Remind now…' })
  await remind.click()
  await expect(dialog.getByText('2 emails ready to send, each with the text of your template.')).toBeVisible()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await expect(dialog).toHaveCount(0)
  await expect(remind).toBeFocused()

  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search and commands' }).fill('remind kaveri')
  await page.getByRole('option', { name: 'Remind Kaveri Foods now…' }).click()
  await expect(dialog.getByRole('heading', { name: 'Remind Kaveri Foods now' })).toBeVisible()
  await dialog.getByRole('button', { name: 'Send reminder' }).click()
  await expect(page.getByText('Reminder sent to Kaveri Foods.')).toBeVisible()
  expect(smtp.mails.map(({ envelope }) => envelope.to[0])).toEqual([mailOf('Kaveri Foods')])
  await expect(page.getByText('Reminder sent, by Send Now')).toBeVisible()
  await page.getByRole('region', { name: 'Summary' }).getByRole('button', { name: 'Remind now…' }).click()
  await expect(dialog.getByText('Already sent less than a minute ago. No client is emailed twice.')).toBeVisible()
})

test(
  'a reminder that a full mailbox does not take shows as not delivered on every screen, until one is accepted',
  full,
  async ({ page, program, smtp }) => {
    const ask = await withLateInvoices(page, program.url, smtp, ['Zenith Labs'])
    smtp.answer({ rcpt: () => '452 4.2.2 Mailbox full' })
    await ask('POST', '/reminder/start')
    const words = 'Not delivered: mailbox full'
    await page.goto('/dashboard')
    await expect(page.getByText(words)).toBeVisible()
    await page.getByRole('button', { name: 'List', exact: true }).click()
    await expect(page.getByRole('cell', { name: words })).toBeVisible()
    await page.goto('/dashboard/reminder-control')
    await page.getByText('Delayed, will be retried').click()
    await expect(page.getByText(words)).toBeVisible()
    await page.goto('/dashboard')
    await page.getByRole('link', { name: 'Zenith Labs', exact: true }).click()
    const summary = page.getByRole('region', { name: 'Summary' })
    await expect(summary.getByText(words)).toBeVisible()
    await expect(summary.getByText('The mail server replied: 452 4.2.2 Mailbox full')).toBeVisible()
    const history = page.locator('section').filter({ has: page.getByRole('heading', { name: 'History' }) })
    await expect(history.getByText('452 4.2.2 Mailbox full')).toBeVisible()

    smtp.answer({})
    await summary.getByRole('button', { name: 'Remind now…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Send reminder' }).click()
    await expect(page.getByText('Reminder sent to Zenith Labs.')).toBeVisible()
    await expect(summary.getByText(words)).toHaveCount(0)
  },
)

/** A zone in which it is the working day now, so that a daily run can be made. */
function zoneAtWork(): string {
  const zones = ['Asia/Kolkata', 'Europe/London', 'America/New_York', 'Pacific/Auckland', 'America/Anchorage']
  return (
    zones.find((zone) => {
      const { hour } = Temporal.Now.zonedDateTimeISO(zone)
      return hour >= 7 && hour < 16
    }) ?? 'Asia/Tokyo'
  )
}

// 10 s: a daily run is made.
test(
  'the emails of the daily run wait, and its owner leaves one out, takes it back and sends them',
  full,
  async ({ page, program, smtp }) => {
    const ask = await withLateInvoices(page, program.url, smtp, [])
    await ask('PATCH', '/user/profile', { timezone: zoneAtWork(), reminderHour: 17 })
    await ask('POST', '/reminder/start')
    for (const client of ['Kaveri Foods', 'Kaveri Foods', 'Studio Banyan'])
      await ask('POST', '/invoice', { clientName: client, clientEmail: mailOf(client), amount: 500, dueDate: '2026-01-02' })
    await page.goto('/dashboard/reminder-control')
    await page.getByLabel('Hold the daily emails for').selectOption('10 minutes')
    await expect.poll(async () => ((await ask('GET', '/reminder/settings')) as { holdMinutes: number }).holdMinutes).toBe(10)
    // The hour is over, so the run of today is made now.
    await ask('PATCH', '/user/profile', { reminderHour: 6 })
    const banner = page.getByRole('region', { name: 'Before emails leave' })
    await expect(banner.getByRole('heading', { name: /^3 emails leave in \d:\d\d$/ })).toBeVisible()
    await expect(page.getByRole('progressbar')).toHaveCount(0)
    // What follows is named, and nothing that waits is called delayed.
    const next = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Next reminders' }) })
    await expect(next.getByText('3 emails to 2 clients').first()).toBeVisible()
    await expect(next.getByText('Waiting to be sent')).toBeVisible()
    await expect(next.getByText('No email is planned')).toHaveCount(0)
    await banner.getByRole('button', { name: 'Review' }).click()
    const ofKaveri = banner.getByRole('list', { name: 'Emails to Kaveri Foods' })
    await ofKaveri
      .getByRole('button', { name: /^Leave out INV-/ })
      .first()
      .click()
    await expect(banner.getByRole('heading', { name: /^2 emails leave in/ })).toBeVisible()
    await expect(ofKaveri.getByRole('button', { name: /^Take back INV-/ })).toBeFocused()
    await banner.getByRole('button', { name: 'Leave out Kaveri Foods' }).click()
    await expect(banner.getByText('Kaveri Foods is left out today.')).toBeVisible()
    await expect(banner.getByRole('heading', { name: /^1 email leaves in/ })).toBeVisible()
    await banner.getByRole('button', { name: 'Leave all out today' }).click()
    await expect(banner.getByText('Studio Banyan is left out today.')).toBeVisible()
    await expect(banner.getByRole('button', { name: 'Send now' })).toHaveCount(0)
    await page.goto('/dashboard')
    await banner.getByRole('button', { name: 'Review' }).click()
    await banner.getByRole('button', { name: 'Take back Studio Banyan' }).click()
    await banner.getByRole('button', { name: 'Send now' }).click()
    await expect(banner).toHaveCount(0)
    await expect.poll(() => smtp.mails.map(({ envelope }) => envelope.to[0])).toEqual([mailOf('Studio Banyan')])
  },
)
