import PostalMime from 'postal-mime'
import { defaultContent, defaultSubject, reminderDocument, renderReminder, sampleValues } from '#contract/templates.ts'
import { someoneAt } from '#test/program.ts'
import { expect, full, test } from './duely.ts'
import { signIn } from './sign-in.ts'

const password = 'correct horse battery'

test('the email sent from a custom template matches its preview', async ({ page, program }) => {
  await signIn(page, program.url, 'writer@banyan.example')
  await page.goto('/dashboard/email-templates')
  await expect(page.getByRole('heading', { name: 'Current Template' }).first()).toBeVisible()
  const custom = page.getByLabel('Use Custom Email Template').first()

  await page.route('**/mail-config/template', (route) => (route.request().method() === 'PUT' ? route.abort() : route.continue()))
  // The switch saves automatically only after the first tenth of a second.
  await expect(async () => {
    await custom.click()
    await expect(page.getByText(/^Failed to save template preference: /).first()).toBeVisible({ timeout: 1_000 })
  }).toPass()
  await expect(custom).not.toBeChecked()
  await page.unroute('**/mail-config/template')

  await custom.click()
  const subject = page.getByRole('textbox', { name: 'Subject' })
  const content = page.getByRole('textbox', { name: 'Content' })
  await expect(subject).toHaveValue(defaultSubject)
  await expect(content).toHaveValue(defaultContent)
  await expect(page.getByRole('heading', { name: 'Default Template (for reference)' })).toBeVisible()

  await content.fill('Dear {{client}}')
  await page.getByRole('button', { name: 'Save Template' }).click()
  await expect(page.getByText(/\{\{client\}\} is not a variable/)).toBeVisible()

  await subject.fill('You owe ')
  await page.getByRole('button', { name: /Insert \{\{amount\}\}/ }).click()
  await expect(subject).toHaveValue('You owe {{amount}}')
  await subject.evaluate((field: HTMLInputElement) => field.setSelectionRange(3, 3))
  await page.getByRole('button', { name: /Insert \{\{clientName\}\}/ }).click()
  await expect(subject).toHaveValue('You{{clientName}} owe {{amount}}')
  await expect(subject).toBeFocused()
  await subject.fill('You owe {{amount}}')
  await content.fill('Dear {{clientName}}, <b>please</b> <script>pay</script> 1 < 2\n{{userName}}')
  const { subject: shown, html } = renderReminder(
    { subject: await subject.inputValue(), content: await content.inputValue() },
    { ...sampleValues, businessName: 'Asha Rao', userName: 'Asha Rao' },
  )
  await expect(page.getByText(shown, { exact: true })).toBeVisible()
  await expect(page.getByTitle('The email as your client sees it').first()).toHaveAttribute('srcdoc', reminderDocument(html))

  await page.getByRole('link', { name: 'My Profile' }).first().click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stay here' }).click()
  await expect(page).toHaveURL(/email-templates$/)
  await page.getByRole('button', { name: 'Save Template' }).click()
  await expect(page.getByText('Email template content updated successfully!')).toBeVisible()

  await subject.fill('Something else')
  await page.getByRole('button', { name: 'Reset' }).click()
  await expect(subject).toHaveValue('You owe {{amount}}')
  await page.reload()
  await expect(custom).toBeChecked()
  await expect(subject).toHaveValue('You owe {{amount}}')
})

test('the preview of an invoice is the email its client gets, byte for byte, at any width', full, async ({ page, program, smtp }) => {
  const asha = await someoneAt(program.url, 'previewer@banyan.example')
  const late = Temporal.Now.plainDateISO('Asia/Kolkata').subtract({ days: 8 }).toString()
  const clientName = 'Kaveri <b>&amp; "Sons"</b> {{amount}} \u0915\u093e\u0935\u0947\u0930\u0940'
  await asha.send('POST', '/invoice', {
    clientName,
    clientEmail: 'billing@kaveri.example',
    amount: 184_200.5,
    dueDate: late,
    status: 'overdue',
  })
  await asha.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  const content =
    'Dear {{clientName}},\n\n<strong>{{amount}}</strong> was due on {{dueDate}}, <em>{{daysOverdue}}</em> days ago <i>1 < 2 <u>&</u></i>.\r\n<a href="https://pay.example">Pay</a> {{userName}}'
  await asha.send('PUT', '/mail-config/template', {
    useCustomTemplate: true,
    customSubject: '{{clientName}}: {{invoiceId}}',
    customContent: content,
  })
  await signIn(page, program.url, 'previewer@banyan.example')
  await page.goto('/dashboard/email-templates')
  await page.getByRole('tabpanel').getByRole('combobox', { name: 'Preview with' }).fill('Kaveri')
  await page.getByRole('option', { name: /Kaveri/ }).click()
  const panel = page.getByRole('tabpanel')
  const frame = panel.getByTitle('The email as your client sees it')
  await expect(panel.locator('dd').filter({ hasText: 'INV-0001' })).toBeVisible()
  const shown = (await frame.getAttribute('srcdoc')) ?? ''
  const subject = await panel.locator('dd').filter({ hasText: 'INV-0001' }).textContent()
  const widthOf = () => frame.evaluate((element) => element.getAttribute('style'))
  const wide = await widthOf()
  await panel.getByRole('button', { name: 'Phone' }).click()
  await expect.poll(widthOf).not.toBe(wide)
  expect(await frame.getAttribute('srcdoc')).toBe(shown)
  await asha.send('POST', '/reminder/send-immediate')
  await smtp.received(1)
  const mail = await PostalMime.parse(smtp.mails[0]?.raw ?? '')
  expect(mail.subject).toBe(subject)
  // A text part has CRLF (RFC 2046, 4.1.1).
  expect(mail.html).toBe(shown.replaceAll('\n', '\r\n'))
})

test('name and password are changed, and deleting the account is cancelled', full, async ({ page, program }) => {
  await signIn(page, program.url, 'leaver@banyan.example')
  await page.goto('/dashboard/profile')
  await expect(page.getByText(/^Member since \d\d\/\d\d\/\d{4}$/)).toBeVisible()
  for (const [name, value] of [
    ['Total Invoices', '0'],
    ['Total Revenue', '₹0.00'],
    ['Mail Config', 'NA'],
    ['Current Plan', 'Free'],
  ] as const)
    await expect(page.locator('dl > div', { hasText: name }).getByRole('definition')).toHaveText(value)

  await page.getByLabel('Display Name').fill('Ravi Iyer')
  await page.getByRole('button', { name: 'Save Changes' }).first().click()
  await expect(page.getByText('Profile updated successfully!')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Account of Ravi Iyer' })).toBeVisible()
  await page.getByLabel('Email Address').fill('other@banyan.example')
  await page.getByLabel('Current Password', { exact: true }).first().fill('wrong')
  await page.getByRole('button', { name: 'Save Changes' }).first().click()
  await expect(page.getByText(/^Failed to update profile: /)).toBeVisible()
  await page.getByRole('link', { name: 'Reminder Control' }).first().click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stay here' }).click()
  await page.getByLabel('Email Address').fill('leaver@banyan.example')

  await page.getByRole('tab', { name: 'Security' }).click()
  await expect(page).toHaveURL(/\?tab=security$/)
  const current = page.getByLabel('Current Password', { exact: true })
  const next = page.getByLabel('New Password', { exact: true })
  const again = page.getByLabel('Confirm New Password', { exact: true })
  const change = page.getByRole('button', { name: 'Change Password' })
  await current.fill('wrong')
  await next.fill('abc')
  await again.fill('abd')
  await change.click()
  await expect(page.getByText('Password must be at least 6 characters long')).toBeVisible()
  await expect(page.getByText('New passwords do not match')).toBeVisible()
  await next.fill('staple battery')
  await again.fill('staple battery')
  await change.click()
  await expect(page.getByText('Failed to change password: Invalid current password')).toBeVisible()
  await current.fill(password)
  await change.click()
  await expect(page.getByText('Password changed successfully!')).toBeVisible()

  await page.getByRole('tab', { name: 'Subscription' }).click()
  await expect(page.getByRole('link', { name: 'Upgrade Plan' })).toHaveAttribute('href', '/pricing')
  await page.getByRole('tab', { name: 'Preferences' }).click()
  for (const name of ['Mail Settings', 'Reminders', 'New Invoice', 'View Pricing'])
    await expect(page.getByRole('tabpanel').getByRole('link', { name })).toBeVisible()
  await expect(page.getByRole('tabpanel').locator('a[href="/dashboard/connections"]')).toBeVisible()

  await page.getByRole('tab', { name: 'Security' }).click()
  await page.getByRole('button', { name: 'Delete Account' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Type DELETE to confirm').fill('delete')
  await dialog.getByRole('button', { name: 'Delete Account' }).click()
  await expect(dialog.getByText('Please type "DELETE" to confirm')).toBeVisible()
  await dialog.getByLabel('Type DELETE to confirm').fill('DELETE')
  // As the server answers a session that signed in a while ago.
  const old = { message: 'You signed in a while ago. Please confirm that it’s you.', code: 'recent_sign_in_needed' }
  await page.route('**/user/account', (route) => route.fulfill({ status: 401, json: old }), { times: 1 })
  await dialog.getByRole('button', { name: 'Delete Account' }).click()
  await expect(dialog.getByText('Enter your password to delete your account.')).toBeVisible()
  await dialog.getByLabel('Current Password', { exact: true }).fill('not it')
  await dialog.getByRole('button', { name: 'Delete Account' }).click()
  await expect(dialog.getByText('Invalid current password')).toBeVisible()
  await dialog.getByLabel('Current Password', { exact: true }).fill('staple battery')
  await dialog.getByRole('button', { name: 'Delete Account' }).click()
  await expect(page).toHaveURL(/\/$/)
  expect(await page.evaluate(() => [localStorage.getItem('user'), localStorage.getItem('accessToken')])).toEqual([null, null])
})

test('a profile that does not load shows an error, and Retry loads it', full, async ({ page, program }) => {
  await signIn(page, program.url, 'reader@banyan.example')
  await page.route('**/user/profile', (route) => route.fulfill({ status: 500, json: { message: 'Something went wrong', code: 'fault' } }))
  await page.goto('/dashboard/profile')
  await expect(page.getByRole('heading', { name: 'Profile Not Found' })).toBeVisible()
  await expect(page.getByText('Unable to load your profile information.')).toBeVisible()
  await page.unroute('**/user/profile')
  const reloaded = page.waitForEvent('load')
  await page.getByRole('button', { name: 'Retry' }).click()
  await reloaded
  await expect(page.getByText(/^Member since/)).toBeVisible()
})

test('a consent request of Zapier can be declined', full, async ({ page, program }) => {
  await signIn(page, program.url, 'asked@banyan.example')
  await page.goto('/dashboard/oauth-consent')
  await expect(page.getByText('Missing redirect URI information.')).toBeVisible()
  await page.goto('/dashboard/oauth-consent?redirect_uri=https%3A%2F%2Fzapier.example%2Fback&state=1')
  await expect(page.getByText('Authorization Request - Do you allow Zapier to access your account?')).toBeVisible()
  await page.getByRole('button', { name: 'No', exact: true }).click()
  await expect(page).toHaveURL(/\/dashboard$/)
})

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false })

  test('the public pages can be read, and lead to where help is', async ({ page, request }) => {
    await page.goto('/')
    for (const figure of ['100% Success Rate', '24/7 Monitoring', '5min Setup']) await expect(page.getByText(figure)).toBeVisible()
    await page.goto('/features')
    for (const name of [
      'Automated Reminders',
      'Smart Analytics',
      'Custom Templates',
      'Payment Tracking',
      'Secure & Compliant',
      'Lightning Fast',
    ])
      await expect(page.getByRole('heading', { name })).toBeVisible()
    await page.goto('/pricing')
    for (const text of ['Most Popular', '14-day free trial', 'Cancel anytime', 'Secure payments', 'Start Enterprise Trial'])
      await expect(page.getByText(text, { exact: true })).toBeVisible()
    await expect(page.getByText('Payments are not set up on this server.')).toBeVisible()
    await page.goto('/privacy')
    await expect(page.getByRole('heading', { name: 'Your rights' })).toBeVisible()
    await page.goto('/nowhere')
    await expect(page.getByText(/^This page doesn’t exist, or it needs JavaScript/)).toBeVisible()
    await page.goto('/contact')
    await expect(page.getByText('No contact has been set up for this server.')).toBeVisible()
    const { origin } = new URL(page.url())
    expect(await (await request.get('/sitemap.xml')).text()).toContain(`<loc>${origin}/pricing</loc>`)
    expect(await (await request.get('/robots.txt')).text()).toContain(`Sitemap: ${origin}/sitemap.xml`)
    await expect(page.locator('meta[property="og:image"]')).toHaveAttribute('content', `${origin}/share.png`)
  })
})

test('the custom template switch saves nothing in the first tenth of a second', full, async ({ page, program, complaints }) => {
  await signIn(page, program.url, 'switch@banyan.example')
  const saved: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'PUT' && request.url().endsWith('/mail-config/template')) saved.push(request.postData() ?? '')
  })
  await page.clock.install()
  await page.goto('/dashboard/email-templates')
  const custom = page.getByLabel('Use Custom Email Template').first()
  await page.clock.pauseAt(Date.now() + 60_000)
  await page.reload()
  // Timers run, but never the whole tenth of a second.
  await expect(async () => {
    await page.clock.runFor(20)
    await expect(custom).toBeVisible({ timeout: 50 })
  }).toPass({ intervals: [50] })
  await custom.click()
  await expect(custom).not.toBeChecked()
  expect(saved).toEqual([])
  await page.clock.runFor(100)
  await custom.click()
  await expect.poll(() => saved).toEqual([JSON.stringify({ useCustomTemplate: true })])
  // Playwright's clock runs a script in every frame, and the preview's frame allows none.
  for (const one of complaints.splice(0)) expect(one).toMatch(/^Blocked script execution in 'about:srcdoc'/)
})

test('the profile shows the connected mailbox', full, async ({ page, program, smtp }) => {
  const { send } = await someoneAt(program.url, 'connected@banyan.example')
  await send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  await signIn(page, program.url, 'connected@banyan.example')
  await page.goto('/dashboard/profile')
  await expect(page.locator('dl').getByText('Mail Config').locator('xpath=..')).toContainText('Active')
})
