import type { Page } from '@playwright/test'
import { newStep, readySequences } from '#contract/ready-sequences.ts'
import { sequenceCalls } from '#contract/sequences.ts'
import type { FakeSmtp } from '#test/fakes/smtp-server.ts'
import { readEmail } from '#test/read-email.ts'
import { expectAccessible, fail, letGo } from './audit.ts'
import { expect, full, test } from './duely.ts'
import { type Someone, signIn } from './sign-in.ts'

const inDays = (days: number) => Temporal.Now.plainDateISO('Asia/Kolkata').add({ days }).toString()

/** Signs in to an account with a mailbox, daily reminders, and invoices that are due in so many days. */
async function reminding(page: Page, url: string, smtp: FakeSmtp, due: Record<string, number>): Promise<Someone['send']> {
  const { send } = await signIn(page, url)
  await send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  for (const [clientName, days] of Object.entries(due)) {
    const clientEmail = `${clientName.slice(0, 4).toLowerCase()}@example.com`
    await send('POST', '/invoice', { clientName, clientEmail, amount: 12_250, dueDate: inDays(days) })
  }
  await send('POST', '/reminder/start')
  return send
}

const save = (page: Page) => page.getByRole('main').getByRole('button', { name: /^Save: \d/ })

// Takes 8 s: the plan of 30 days is simulated after each change.
test('Friendly to final is set up from the empty list, changes the plan as it says, and the invoice names its next step', async ({
  page,
  program,
  smtp,
}) => {
  const send = await reminding(page, program.url, smtp, { 'Kaveri Foods': 5, 'Lotus Dental': 12 })
  await page.goto('/dashboard')
  await page.getByRole('complementary').getByRole('link', { name: 'Sequences' }).click()
  await expect(page.getByText('Who hears what, and when')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'No sequence of your own yet' })).toBeVisible()
  await expect(page.getByText('Until you make one, clients are reminded every day.')).toBeVisible()
  await page.getByRole('link', { name: 'Start from Friendly to final' }).click()

  await expect(page.getByRole('heading', { name: 'A client who never pays hears from you 5 times in 33 days' })).toBeVisible()
  const fourth = page.getByRole('button', { name: /^Step 4: 14 days after, Firm\./ })
  await fourth.focus()
  await page.keyboard.press('ArrowRight')
  await page.getByRole('button', { name: /^Step 4: 15 days after, Firm\./ }).press('ArrowUp')
  await expect(page.getByRole('button', { name: /^Step 4: 15 days after, Final\./ })).toBeFocused()
  await expect(page.getByLabel('Subject', { exact: true })).toHaveValue('Final reminder: invoice {{invoiceId}}')
  await page.getByLabel('Day of step 4, from the due date').fill('7')
  await expect(page.getByText('Two steps leave on the same day.').first()).toBeVisible()
  await page.getByLabel('Day of step 4, from the due date').fill('14')
  await page.getByRole('button', { name: 'Firm', exact: true }).click()
  await expect(page.getByText('Two steps leave on the same day.')).toHaveCount(0)

  await expect(page.getByRole('checkbox', { name: 'Not on weekends' })).toBeChecked()
  await page.getByRole('checkbox', { name: 'Not on public holidays' }).uncheck()
  const removed = page.getByRole('region', { name: 'Removed' })
  await expect(removed.getByText('Kaveri Foods').first()).toBeVisible()
  await expect(page.getByText(/^If nobody pays meanwhile and every email is accepted\. At most \d+ emails to one client/)).toBeVisible()
  await expectAccessible(page)
  await save(page).click()
  await expect(page.getByText('Sequence saved.')).toBeVisible()
  await expect(page).toHaveURL(/\/dashboard\/sequences\/[0-9a-f-]{36}$/)
  await expect(page.getByText('Default for all clients')).toBeVisible()
  await expect(page.getByRole('checkbox', { name: 'Not on weekends' })).toHaveCount(0)
  expect(await send('GET', '/reminder/settings')).toMatchObject({ quietWeekends: true, quietHolidays: false })

  await page.getByRole('button', { name: /^Step 5: 30 days after/ }).click()
  await page.getByRole('button', { name: 'Send me a test' }).click()
  await expect(page.getByText(/^Test email sent to /)).toBeVisible()
  expect((await readEmail(smtp.mails.at(-1)?.raw)).subject).toBe('Final reminder: invoice INV-0001')

  await page.getByRole('link', { name: 'Reminder Control' }).first().click()
  await expect(page.getByText('Friendly to final, 5 steps')).toBeVisible()
  await expect(page.getByText(/^The next 30 days: \d+ emails to 2 clients$/)).toBeVisible()
  await page.getByRole('button', { name: 'Add a day' }).click()
  const ownDays = page.getByRole('dialog', { name: 'Days of your own' })
  await ownDays.getByRole('textbox', { name: 'Date' }).fill('31/02/2027')
  await ownDays.getByRole('textbox', { name: 'Name' }).click()
  await expect(ownDays.getByText('Please enter a date such as 31/03/2026.')).toBeVisible()
  await ownDays.getByRole('button', { name: 'Cancel' }).click()
  const [newest] = (await send('GET', '/invoice')) as { _id: string }[]
  await page.goto(`/dashboard/edit-invoice/${newest?._id}`)
  await expect(page.getByText(/^Next: step 1 of 5, friendly, on \d\d\/\d\d\/\d{4} at 09:00/)).toBeVisible()
  await expect(page.getByText(/^Then friendly on [\d/]{10}, friendly on [\d/]{10}, if it stays unpaid\.$/)).toBeVisible()
  await page.getByRole('button', { name: 'Change for this invoice' }).click()
  await page
    .getByRole('dialog')
    .getByRole('radio', { name: /^Never by itself/ })
    .check()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Save: \d+ fewer$/ })
    .click()
  await expect(page.getByText('Sequence chosen.')).toBeVisible()
  await expect(page.getByText('None: its sequence sends nothing automatically')).toBeVisible()
})

test(
  'while daily reminders are off, the editor, Reminder Control and the invoice name what leaves once they are on',
  full,
  async ({ page, program, smtp }) => {
    const send = await reminding(page, program.url, smtp, { 'Kaveri Foods': 5 })
    await send('POST', '/reminder/stop')
    await page.goto('/dashboard/sequences/new?from=gentle')
    await expect(page.getByText('Daily reminders are off, so nothing is sent. These emails leave once you start them.')).toBeVisible()
    await expect(page.getByRole('heading', { name: /^The next 30 days: \d emails? to 1 client/ })).toBeVisible()
    await save(page).click()
    await expect(page.getByText('Sequence saved.')).toBeVisible()
    await page.goto('/dashboard/reminder-control')
    await expect(page.getByText('Once you start reminders, these follow')).toBeVisible()
    await expectAccessible(page)
    const [newest] = (await send('GET', '/invoice')) as { _id: string }[]
    await page.goto(`/dashboard/edit-invoice/${newest?._id}`)
    await expect(
      page.getByText(/^Once you start reminders: friendly on [\d/]{10}, friendly on [\d/]{10}, firm on [\d/]{10}, if it stays unpaid\.$/),
    ).toBeVisible()
  },
)

test(
  'with steps, one email per client, hour and zone show what they change before they are saved',
  full,
  async ({ page, program, smtp }) => {
    const send = await reminding(page, program.url, smtp, { 'Kaveri Foods': -3 })
    await page.goto('/dashboard/sequences/new?from=gentle')
    await save(page).click()
    await expect(page.getByText('Sequence saved.')).toBeVisible()
    await page.goto('/dashboard/reminder-control')
    const combined = page.getByRole('switch', { name: 'One email per client' })
    await combined.click()
    const dialog = page.getByRole('dialog', { name: 'One email or several' })
    await expect(dialog.getByText('If nobody pays meanwhile and every email is accepted.')).toBeVisible()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await expect(combined).not.toBeChecked()
    await combined.click()
    await dialog.getByRole('button', { name: /^Save/ }).click()
    await expect(page.getByText('The emails of the next run are as you chose.')).toBeVisible()
    await expect(combined).toBeChecked()

    await page.goto('/dashboard/profile?tab=preferences')
    await page.getByLabel('Hour of the daily run').selectOption('15')
    await expect(page.getByRole('heading', { name: /^The next 30 days: \d emails to 1 client$/ })).toBeVisible()
    await expectAccessible(page)
    await send('POST', '/invoice', { clientName: 'Nila Printers', clientEmail: 'nila@example.com', amount: 500, dueDate: inDays(-1) })
    await page.getByRole('button', { name: 'Save Changes' }).click()
    await expect(page.getByText('The plan has changed since you looked. Please look again.').first()).toBeVisible()
    await expect(page.getByRole('heading', { name: /^The next 30 days: \d emails to 2 clients$/ })).toBeVisible()
    expect(await send('GET', '/user/profile')).toMatchObject({ reminderHour: 9 })
    await page.getByRole('button', { name: 'Save Changes' }).click()
    await expect(page.getByRole('heading', { name: /^The next 30 days/ })).toHaveCount(0)
    expect(await send('GET', '/user/profile')).toMatchObject({ reminderHour: 15 })
  },
)

test('a plan that changed meanwhile is shown again before it is saved', full, async ({ page, program, smtp }) => {
  const send = await reminding(page, program.url, smtp, { 'Kaveri Foods': -3 })
  await page.goto('/dashboard/sequences/new?from=gentle')
  await expect(save(page)).toBeEnabled()
  await save(page).click()
  await expect(page.getByText('Sequence saved.')).toBeVisible()
  await page.getByLabel('Day of step 3, from the due date').fill('25')
  await expect(save(page)).toBeEnabled()
  await send('POST', '/invoice', { clientName: 'Nila Printers', clientEmail: 'nila@example.com', amount: 500, dueDate: inDays(-1) })
  await save(page).click()
  await expect(page.getByRole('alert').getByText('The plan has changed since you looked. Please look again.')).toBeVisible()
  await save(page).click()
  await expect(page.getByText('Sequence saved.').first()).toBeVisible()
})

test(
  'a sequence in use is deleted only with another one in its place; leaving with unsaved changes asks',
  full,
  async ({ page, program, smtp }) => {
    const send = await reminding(page, program.url, smtp, { 'Kaveri Foods': -3 })
    await page.goto('/dashboard/sequences/new?from=gentle')
    await save(page).click()
    await expect(page.getByText('Sequence saved.')).toBeVisible()
    await page.getByLabel('Subject', { exact: true }).fill('Mine')
    await page.getByRole('link', { name: 'Sequences' }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('button', { name: 'Delete Gentle' }).click()
    const dialog = page.getByRole('dialog')
    await expect(dialog.getByLabel('Every client without a sequence of their own uses it. Use instead:')).toHaveValue('every_day')
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await expect(page.getByText('Sequence deleted.')).toBeVisible()
    await expect(page.getByRole('heading', { name: 'No sequence of your own yet' })).toBeVisible()
    expect(await send('GET', '/reminder/settings')).toMatchObject({ sequence: 'every_day' })
  },
)

test(
  'on a phone the steps are rows; a failed list and a failed check say so and can be tried again',
  full,
  async ({ page, program, smtp }) => {
    await page.setViewportSize({ width: 390, height: 844 })
    await reminding(page, program.url, smtp, { 'Kaveri Foods': 5 })
    await fail(page, [sequenceCalls.list])
    await page.goto('/dashboard/sequences')
    await expect(page.getByText(/^Couldn’t load your sequences\./)).toBeVisible()
    await letGo(page)
    await page.getByRole('button', { name: 'Try again' }).click()
    await fail(page, [sequenceCalls.simulate])
    await page.getByRole('link', { name: 'Start from Gentle' }).click()
    await expect(page.getByText(/^Couldn’t check the next 30 days\./)).toBeVisible()
    await letGo(page)
    await page.getByRole('button', { name: 'Try again' }).click()
    await expect(page.getByText(/^The next 30 days: /)).toBeVisible()
    await page.getByRole('button', { name: /21 days after/ }).click()
    await page.getByRole('button', { name: 'One day later' }).click()
    await expect(page.getByText('22 days after, was +21')).toBeVisible()
  },
)

test('another country of a client shows the emails that move, and is saved', full, async ({ page, program, smtp }) => {
  const send = await reminding(page, program.url, smtp, { 'Noor Interiors': 1 })
  const day = Temporal.PlainDate.from(inDays(1)).dayOfWeek
  // A step on a Saturday, which is a working day in India and none in the Emirates.
  const saturday = (13 - day) % 7 || 7
  const [, gentle] = readySequences
  const steps = [newStep(saturday, 'friendly')]
  const { _id } = (await send('POST', '/reminder/sequences', { ...gentle, name: 'Saturday', everyDays: null, steps })) as { _id: string }
  await send('PATCH', '/reminder/settings', { sequence: _id, quietWeekends: true, quietHolidays: false })
  const [client] = (await send('GET', '/clients')) as { _id: string }[]
  await page.goto(`/dashboard/clients/${client?._id}`)
  await page.getByRole('combobox', { name: 'Country' }).fill('United Arab')
  await page.getByRole('option', { name: 'United Arab Emirates' }).click()
  const moved = page.getByRole('region', { name: 'Moved' })
  await expect(moved.getByText(/^Moved from /)).toBeVisible()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(moved).toHaveCount(0)
  const { mails } = (await send('GET', '/reminder/plan')) as { mails: { localDate: string }[] }
  expect(mails.map(({ localDate }) => Temporal.PlainDate.from(localDate).dayOfWeek)).toEqual([1])
})
