import { someoneAt } from '#test/program.ts'
import { expectAccessible } from './audit.ts'
import { expect, full, test } from './duely.ts'
import { newEmail, onDashboard, prove, type Someone, signIn } from './sign-in.ts'

test('an owner invites their accountant, who joins and may only look', full, async ({ page, program, browser }) => {
  const accountant = newEmail()
  await onDashboard(page, [{ clientName: 'Kaveri Foods', amount: 5000 }])
  await page.getByRole('button', { name: 'Search and commands' }).click()
  await page.getByRole('combobox', { name: 'Search and commands' }).fill('accountant')
  await page.getByRole('option', { name: /^Team: / }).click()
  await expect(page.getByText('You work alone here. Invite a colleague, or let your accountant look on: a viewer is free.')).toBeVisible()
  await page.getByRole('textbox', { name: 'Email' }).fill(accountant)
  const sent = page.waitForResponse(
    (answered) => answered.url().endsWith('/business/invitations') && answered.request().method() === 'POST',
  )
  await page.getByRole('button', { name: 'Send invitation' }).click()
  const { link } = (await (await sent).json()) as { link: string }
  await expect(page.getByRole('button', { name: 'Copy invitation link' })).toBeVisible()
  await expect(
    page.getByText('Viewer: sees everything, changes nothing. The link works once, for 7 days, for this address only.'),
  ).toBeVisible()
  await expect(page.getByRole('button', { name: `Revoke the invitation for ${accountant}` })).toBeVisible()
  // A second press while it is sent must not send another email.
  const pressed = Promise.withResolvers<void>()
  await page.route('**/business/invitations/*', (route) => pressed.promise.then(() => route.abort()), { times: 1 })
  const again = page.getByRole('button', { name: `Send again: the invitation for ${accountant}` })
  await again.click()
  await expect(again).toHaveAttribute('aria-disabled', 'true')
  pressed.resolve()
  await expect(again).toHaveText('Send again')

  const context = await browser.newContext({ baseURL: program.url })
  const other = await context.newPage()
  await other.goto(link)
  await expect(other.getByText('Asha Rao invites you to Asha Rao as viewer.')).toBeVisible()
  await expect(other).toHaveURL(/\/join$/)
  await other.getByRole('link', { name: 'Sign Up' }).click()
  await expect(other).toHaveURL(/\/signup$/)
  await signIn(other, program.url, accountant)
  await other.goto(link)
  await other.getByRole('button', { name: 'Join' }).click()
  await other.waitForURL('**/dashboard')
  await other.goto('/dashboard/business?tab=team')
  await expect(other.getByRole('tabpanel', { name: 'Team' }).getByText('Only an admin or the owner of Asha Rao can do this.')).toBeVisible()
  await expect(other.getByRole('button', { name: 'Leave' })).toBeEnabled()
  const mayNot = 'Only a member, an admin or the owner of Asha Rao can do this. Ask Asha Rao.'
  const actions = other.getByRole('complementary').getByRole('list', { name: 'Actions' })
  await expect(actions.getByText(mayNot)).toBeVisible()
  for (const name of ['Trigger Reminder Emails', 'Subscribe to Zapier']) await expect(actions.getByRole('button', { name })).toBeDisabled()
  await other.goto('/dashboard/new-invoice')
  await expect(other.getByRole('main').getByText(mayNot)).toBeVisible()
  await expect(other.getByRole('button', { name: 'Create Invoice' })).toBeDisabled()
  await expect(other.getByRole('combobox', { name: 'Client Name' })).toBeDisabled()
  await other.goto('/dashboard/reminder-control')
  await expect(other.getByRole('button', { name: 'Send Now' })).toBeDisabled()
  await expect(other.getByRole('group', { name: mayNot })).toBeVisible()
  await other.goto('/dashboard/getting-paid/bank-file')
  await expect(other.getByRole('main').getByText(mayNot)).toBeVisible()
  const onlyAdmins = 'Only an admin or the owner of Asha Rao can do this.'
  await other.goto('/dashboard/sequences/new?from=gentle')
  await expect(other.getByRole('main').getByText(onlyAdmins).first()).toBeVisible()
  await other.goto('/dashboard/profile?tab=preferences')
  await expect(other.getByRole('tabpanel').getByText(onlyAdmins)).toBeVisible()
  await expect(other.getByRole('combobox', { name: 'Hour of the daily run' })).toBeDisabled()
  await other.goto('/dashboard')
  await expect(other.getByRole('banner').getByRole('link', { name: 'Asha Rao Viewer' })).toBeVisible()
  await expect(other.getByRole('main').getByRole('button', { name: 'Create Invoice' })).toHaveAttribute('title', mayNot)
  await expect(other.getByRole('button', { name: /^Mark as paid/ })).toBeDisabled()
  await expect(other.getByRole('button', { name: /^Mark as paid/ })).toHaveAttribute('title', mayNot)
  await other.getByRole('button', { name: /^Actions for/ }).click()
  await expect(other.getByRole('menu').getByText(mayNot)).toBeVisible()
  for (const name of ['Duplicate', 'Delete']) await expect(other.getByRole('menuitem', { name })).toBeDisabled()
  await other.goto('/dashboard?import')
  await expect(other.getByRole('dialog').getByText(mayNot)).toBeVisible()
  await expect(other.getByRole('dialog').getByRole('button', { name: 'Watch' })).toBeDisabled()
  await context.close()

  await page.reload()
  await page.getByRole('combobox', { name: 'Role of Asha Rao' }).selectOption('Member')
  await expect(page.getByRole('combobox', { name: 'Role of Asha Rao' })).toHaveValue('member')
  await page.getByRole('combobox', { name: 'Role of Asha Rao' }).selectOption('Admin')
  const promote = page.getByRole('dialog', { name: 'Make Asha Rao an admin' })
  await expectAccessible(page)
  await prove(page)
  await promote.getByRole('button', { name: 'Make admin' }).click()
  const warnings = page.getByRole('checkbox', { name: 'Asha Rao gets warnings by email' })
  await expect(warnings).toHaveCount(1)
  await warnings.click()
  await expect(warnings).toBeChecked()
  await page.getByRole('button', { name: 'Hand over to Asha Rao' }).click()
  const handOver = page.getByRole('dialog', { name: 'Hand over Asha Rao' })
  await expect(handOver.getByText('Asha Rao becomes the owner once they accept; you become an admin.')).toBeVisible()
  await handOver.getByLabel('Current password').fill('correct horse battery')
  await handOver.getByRole('button', { name: 'Hand over' }).click()
  await page.getByRole('button', { name: 'Withdraw' }).click()
  await expect(page.getByRole('button', { name: 'Hand over to Asha Rao' })).toBeVisible()
  await page.getByRole('button', { name: 'Remove Asha Rao' }).click()
  await page.getByRole('dialog', { name: 'Remove Asha Rao' }).getByRole('button', { name: 'Remove' }).click()
  await expect(page.getByText('You work alone here.', { exact: false })).toBeVisible()
})

/** A colleague of someone, who changes something in their business. */
async function aColleague(
  url: string,
  owner: Someone,
  role = 'member',
): Promise<(path: string, body: object, method?: string) => Promise<unknown>> {
  const email = newEmail()
  const colleague = await someoneAt(url, email)
  await colleague.send('PATCH', '/user/profile', { displayName: 'Vikram Menon' })
  const { link } = (await owner.send('POST', '/business/invitations', { email, role, ...owner.proof })) as { link: string }
  const { _id } = (await colleague.send('POST', '/invitations/accept', { token: link.split('#token=')[1] })) as { _id: string }
  return (path, body, method = 'PATCH') => colleague.send(method, path, body, _id)
}

test('two people change one invoice: other fields are saved on top, and the same field is chosen in a dialog', async ({
  page,
  program,
}) => {
  const owner = await onDashboard(page, [{ clientName: 'Kaveri Foods', amount: 5000 }])
  const change = await aColleague(program.url, owner)
  const [{ _id }] = (await owner.send('GET', '/invoice')) as [{ _id: string }]
  const openForm = async () => {
    await page.goto(`/dashboard/edit-invoice/${_id}`)
    await expect(page.getByRole('textbox', { name: 'Amount' })).toHaveValue(/,/)
  }
  const save = page.getByRole('button', { name: 'Update Invoice' })

  await openForm()
  await change(`/invoice/${_id}`, { dueDate: '2027-03-20' })
  await page.getByRole('textbox', { name: 'Amount' }).fill('6000')
  await save.click()
  await expect(page.getByText('Vikram Menon changed the due date meanwhile. Both changes are saved.')).toBeVisible()
  expect(await owner.send('GET', `/invoice/${_id}`)).toMatchObject({ amount: 6000, dueDate: '2027-03-20' })

  await openForm()
  await change(`/invoice/${_id}`, { dueDate: '2027-04-05', reference: 'R-1' })
  await page.getByRole('textbox', { name: 'Due Date' }).fill('30/03/2027')
  await page.getByRole('textbox', { name: 'Amount' }).fill('7000')
  await save.click()
  const dialog = page.getByRole('dialog', { name: /^Vikram Menon changed this invoice at \d\d:\d\d\.$/ })
  await expect(dialog.getByText('R-1, Kaveri Foods. You both changed the due date.')).toBeVisible()
  await expect(dialog.getByRole('img', { name: 'was 20/03/2027, yours 30/03/2027, Vikram’s 05/04/2027' })).toBeVisible()
  await expectAccessible(page)
  // Closing it goes back to the form with what was typed; nothing is saved.
  await page.keyboard.press('Escape')
  await expect(dialog).toBeHidden()
  await expect(page.getByRole('textbox', { name: 'Due Date' })).toHaveValue('30/03/2027')
  // Leaving the field for the button moves nothing, so that the click counts.
  await page.getByRole('combobox', { name: 'Client Name' }).fill('Kaveri Foods and Sons')
  await save.click()
  await dialog.getByRole('button', { name: 'Take theirs' }).click()
  await page.waitForURL('**/dashboard')
  expect(await owner.send('GET', `/invoice/${_id}`)).toMatchObject({
    clientName: 'Kaveri Foods and Sons',
    amount: 7000,
    dueDate: '2027-04-05',
    reference: 'R-1',
  })

  await openForm()
  await change(`/invoice/${_id}`, { amount: 8000 })
  await page.getByRole('textbox', { name: 'Amount' }).fill('9000')
  await save.click()
  await dialog.getByRole('button', { name: 'Keep mine' }).click()
  await page.waitForURL('**/dashboard')
  expect(await owner.send('GET', `/invoice/${_id}`)).toMatchObject({ amount: 9000 })

  // The history names who changed what; the last change of a field can be undone.
  await openForm()
  await expect(page.getByText('Amount: ₹8,000.00 → ₹9,000.00')).toBeVisible()
  await page.getByRole('button', { name: 'Undo: Changed by Asha Rao' }).first().click()
  await expect(page.getByText('The change is undone.')).toBeVisible()
  expect(await owner.send('GET', `/invoice/${_id}`)).toMatchObject({ amount: 8000 })
  await expect(page.getByText('Only your team sees notes.')).toBeVisible()
  await page.getByRole('textbox', { name: 'Note' }).fill('They pay on Friday.')
  // One question for the form and the note, asked until neither is left.
  await page.getByRole('textbox', { name: 'Amount' }).fill('8100')
  await save.click()
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Stay here' }).click()
  expect(await owner.send('GET', `/invoice/${_id}`)).toMatchObject({ amount: 8100 })
  await page.getByRole('button', { name: 'Add a note' }).click()
  await expect(page.getByRole('listitem').filter({ hasText: 'They pay on Friday.' })).toContainText('Asha Rao, today')
  await owner.send('DELETE', `/invoice/${_id}`)
  await page.goto('/dashboard/business?tab=activity')
  await expect(page.getByText(/^Asha Rao, /).first()).toBeVisible()
  await owner.send('POST', `/invoice/${_id}/restore`)
  // The clock is a script in every frame that is made from now on. The Brand tab's preview may be, and must let none run.
  await page.goto('/robots.txt')
  await page.clock.install()
  await openForm()
  // What a colleague does is shown within 20 seconds, without a reload.
  await change(`/invoice/${_id}/notes`, { text: 'They called.' }, 'POST')
  await page.clock.fastForward(20_000)
  await expect(page.getByRole('listitem').filter({ hasText: 'They called.' })).toContainText('Vikram Menon')
})

test('two people write one email template and set one setting: each is asked whose stays', full, async ({ page, program }) => {
  const owner = await onDashboard(page, [])
  const change = await aColleague(program.url, owner, 'admin')
  const own = { useCustomTemplate: true, customSubject: 'About {{invoiceId}}', customContent: 'Dear {{clientName}}' }
  await owner.send('PUT', '/mail-config/template', own)
  await page.goto('/dashboard/email-templates')
  const subject = page.getByRole('textbox', { name: 'Subject' })
  await expect(subject).toHaveValue(own.customSubject)
  await subject.fill('Mine {{invoiceId}}')
  await change('/mail-config/template', { customSubject: 'Theirs {{invoiceId}}', customContent: 'Hello {{clientName}}' }, 'PUT')
  const save = page.getByRole('button', { name: 'Save Template' })
  await save.click()
  const dialog = page.getByRole('dialog', { name: /^Vikram Menon changed this email at \d\d:\d\d\.$/ })
  await expect(dialog.getByText('You both changed the subject.')).toBeVisible()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Keep mine' }).click()
  await expect(page.getByText('Email template content updated successfully!')).toBeVisible()
  expect(await owner.send('GET', '/mail-config/template')).toMatchObject({
    customSubject: 'Mine {{invoiceId}}',
    customContent: 'Hello {{clientName}}',
  })
  await expect(page.getByRole('textbox', { name: 'Content' })).toHaveValue('Hello {{clientName}}')

  await page.goto('/dashboard/reminder-control')
  const hold = page.getByRole('combobox', { name: 'Hold the daily emails for' })
  await expect(hold).toHaveValue('0')
  await change('/reminder/settings', { holdMinutes: 30 })
  await hold.selectOption('10')
  await page
    .getByRole('dialog', { name: /^Vikram Menon changed these settings at/ })
    .getByRole('button', { name: 'Take theirs' })
    .click()
  await expect(hold).toHaveValue('30')
  expect(await owner.send('GET', '/reminder/settings')).toMatchObject({ holdMinutes: 30 })

  await page.getByRole('button', { name: 'Add a day' }).click()
  const ownDays = page.getByRole('dialog', { name: 'Days of your own' })
  await expect(ownDays).toBeVisible()
  await change('/reminder/own-days', { days: [{ date: '2027-12-24', name: 'Theirs', open: false }] }, 'PUT')
  await ownDays.getByRole('textbox', { name: 'Date' }).fill('31/12/2027')
  await ownDays.getByRole('textbox', { name: 'Name' }).fill('Mine')
  await ownDays.getByRole('button', { name: /^Save/ }).click()
  await expect(ownDays).toBeHidden()
  expect(await owner.send('GET', '/reminder/holidays')).toMatchObject({ ownDays: [{ name: 'Theirs' }, { name: 'Mine' }] })

  // Of other settings only what was changed is saved.
  await page.goto('/dashboard/profile?tab=preferences')
  const hour = page.getByRole('combobox', { name: 'Hour of the daily run' })
  await expect(hour).toHaveValue('9')
  await change('/user/profile', { reminderHour: 7 })
  await page.getByRole('combobox', { name: 'Currency' }).selectOption('EUR')
  await page.getByRole('tabpanel').getByRole('button', { name: 'Save Changes' }).click()
  await expect(hour).toHaveValue('7')
  expect(await owner.send('GET', '/user/profile')).toMatchObject({ reminderHour: 7, currency: 'EUR' })
})
