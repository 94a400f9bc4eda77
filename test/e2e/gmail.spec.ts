import PostalMime from 'postal-mime'
import { full } from './duely.ts'
import { signIn } from './sign-in.ts'
import { confirmEmail, expect, test } from './with-google.ts'

test('a connected Gmail mailbox sends a reminder, and disconnecting revokes the grant', full, async ({ page, google, post, program }) => {
  const asha = await signIn(page, program.url, 'asha@banyan.example')
  await confirmEmail(program.url, post, 'asha@banyan.example')
  const dueDate = Temporal.Now.plainDateISO('Asia/Kolkata').subtract({ days: 10 }).toString()
  await asha.send('POST', '/invoice', {
    clientName: 'Kaveri Foods',
    clientEmail: 'billing@kaveri.example',
    amount: 184_200.5,
    status: 'unpaid',
    dueDate,
  })
  google.person = { sub: '301', email: 'asha@gmail.com', email_verified: true, name: 'Asha Rao' }
  await page.goto('/dashboard/mail-settings')

  google.answer({ grants: (asked) => asked.filter((scope) => !scope.includes('gmail')) })
  await page.getByRole('button', { name: 'Connect Gmail (Recommended)' }).click()
  await expect(page.getByRole('main').getByText(/^Error configuring Gmail: .*tick “Send email on your behalf”/)).toBeVisible()
  // A grant without the send scope is useless, so it is revoked.
  expect(google.revoked).toHaveLength(1)
  await expect(page).toHaveURL(/\/dashboard\/mail-settings$/)

  google.answer({ denies: true })
  await page.getByRole('button', { name: 'Connect Gmail (Recommended)' }).click()
  await expect(page.getByRole('main').getByText('Error configuring Gmail: You didn’t allow Duely to send emails from Gmail.')).toBeVisible()

  google.answer({})
  // A stale answer from before the connection must not overwrite the new state.
  const connected = page.waitForResponse((answered) => new URL(answered.url()).pathname === '/mail-config/gmail')
  await page.goto('/dashboard/mail-settings')
  await expect(page.getByRole('button', { name: 'Connect Gmail (Recommended)' })).toBeVisible()
  await page.route(
    (url) => url.pathname === '/mail-config',
    async (route) => {
      const before = await route.fetch()
      await connected
      await route.fulfill({ response: before }).catch(() => undefined)
    },
    { times: 1 },
  )
  await page.getByRole('button', { name: 'Connect Gmail (Recommended)' }).click()
  await expect(page.getByText('Gmail configured successfully!')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Mail Configured' })).toBeVisible()
  await expect(page.getByText('asha@gmail.com', { exact: true })).toBeVisible()
  await expect(page).toHaveURL(/\/dashboard\/mail-settings$/)
  const asked = google.authorizations.at(-1)?.searchParams
  expect(asked?.get('access_type')).toBe('offline')
  expect(asked?.get('prompt')).toContain('consent')
  expect(asked?.get('scope')).toContain('https://www.googleapis.com/auth/gmail.send')

  await page.goto('/dashboard/reminder-control')
  await page.getByRole('button', { name: 'Start Reminders' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Start Reminders' }).click()
  await expect(page.getByText('Reminders started successfully!')).toBeVisible()
  await expect.poll(() => google.mails.length).toBe(1)
  const [sent] = google.mails
  expect(sent?.from).toBe('asha@gmail.com')
  const mail = await PostalMime.parse(sent?.raw ?? '')
  expect(mail.to).toEqual([{ name: 'Kaveri Foods', address: 'billing@kaveri.example' }])
  expect(mail.from).toEqual({ name: 'Asha Rao', address: 'asha@gmail.com' })
  expect(mail.text).toContain('₹1,84,200.50')

  // Duely reads no mailbox: a search in Gmail finds the replies.
  const [invoice] = (await asha.send('GET', '/invoice')) as [{ _id: string }]
  await page.goto(`/dashboard/edit-invoice/${invoice._id}`)
  await page
    .getByRole('button', { name: /^Show email/ })
    .first()
    .click()
  const search = encodeURIComponent(`from:(billing@kaveri.example) subject:("${mail.subject}")`)
  await expect(page.getByRole('link', { name: 'Find replies in Gmail' })).toHaveAttribute(
    'href',
    `https://mail.google.com/mail/?authuser=asha%40gmail.com#search/${search}`,
  )

  await page.goto('/dashboard/mail-settings')
  await page.getByRole('button', { name: 'Remove Configuration' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByText('Are you sure you want to remove mail configuration?')).toBeVisible()
  await dialog.getByRole('button', { name: 'Remove Configuration' }).click()
  await expect(page.getByText('Mail configuration removed successfully!')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Connect Gmail (Recommended)' })).toBeVisible()
  expect(google.revoked).toHaveLength(2)
})

test('a stolen code connects no mailbox', async ({ page, program }) => {
  await signIn(page, program.url, 'meera@banyan.example')
  await page.goto('/dashboard/mail-settings?code=stolen&state=stolen')
  await expect(page.getByRole('main').getByText(/^Error configuring Gmail: Connecting Gmail failed\./)).toBeVisible()
  await expect(page).toHaveURL(/\/dashboard\/mail-settings$/)
  await expect(page.getByText('No mailbox connected')).toBeVisible()
})

test(
  'Microsoft 365 is connected once an administrator has allowed it, and removing it says where to revoke',
  full,
  async ({ page, microsoft, post, program }) => {
    await signIn(page, program.url, 'office@banyan.example')
    await confirmEmail(program.url, post, 'office@banyan.example')
    await page.goto('/dashboard/mail-settings')
    const connect = page.getByRole('button', { name: 'Connect Microsoft 365' })
    microsoft.answer({ consent: 'administrator' })
    await connect.click()
    await expect(page.getByText('Your administrator has to allow Duely once')).toBeVisible()
    await expect(page.getByRole('button', { name: /Copy.*administrator/ })).toBeVisible()
    await page.goto('/dashboard/mail-settings?admin_consent=True&state=microsoft.approval')
    await expect(page.getByText('Your administrator has allowed Duely. You can connect Microsoft 365 now.')).toBeVisible()
    microsoft.answer({ consent: 'denied' })
    await connect.click()
    await expect(page.getByRole('main').getByText(/^Error configuring Microsoft 365: You didn’t allow Duely/)).toBeVisible()
    microsoft.answer({})
    await connect.click()
    await expect(page.getByText('Microsoft 365 configured successfully!')).toBeVisible()
    await expect(page.getByText('asha@banyan.example', { exact: true })).toBeVisible()
    await expect(page).toHaveURL(/\/dashboard\/mail-settings$/)
    microsoft.takeBack()
    await page.getByRole('button', { name: 'Send Test Email' }).click()
    await expect(page.getByText(/^Error sending test email: .*Microsoft no longer lets Duely send/)).toBeVisible()
    await page.getByRole('button', { name: 'Remove Configuration' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove Configuration' }).click()
    await expect(page.getByRole('link', { name: 'myapps.microsoft.com' })).toBeVisible()
  },
)
