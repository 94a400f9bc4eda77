import { expectAccessible } from './audit.ts'
import { expect, test } from './duely.ts'
import { signIn } from './sign-in.ts'

const password = 'correct horse battery'

test('an owner says how clients pay, a client says that an invoice is paid, and the owner records it', async ({
  page,
  program,
  browser,
}) => {
  const { send } = await signIn(page, program.url)
  const dueDate = Temporal.Now.plainDateISO('Asia/Kolkata').subtract({ days: 5 }).toString()
  const invoice = (await send('POST', '/invoice', {
    clientName: 'Kaveri Foods',
    clientEmail: 'billing@kaveri.example',
    amount: 5000,
    dueDate,
  })) as { _id: string }
  await page.goto('/dashboard/getting-paid')
  await expect(page.getByRole('heading', { name: 'Clients are not told how to pay yet' })).toBeVisible()
  await expect(page.getByText('Clients cannot reach this server, so reminders show how to pay without a pay page.')).toBeVisible()
  await expectAccessible(page)

  await page.getByRole('button', { name: 'Add a UPI ID' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('UPI ID').fill('asha')
  await dialog.getByLabel('Name shown to the payer').fill('Asha Traders')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog.getByText('Please enter a UPI ID such as asha@okaxis.').first()).toBeVisible()
  await dialog.getByLabel('UPI ID').fill('asha@okaxis')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog.getByText('Please enter your current password to change how you are paid.').first()).toBeVisible()
  await dialog.getByLabel('Your current password').fill(password)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('Saved. Reminders use it from now on.')).toBeVisible()
  await expect(page.getByText('asha@okaxis, Asha Traders')).toBeVisible()

  await page.getByRole('button', { name: 'Add a bank account' }).click()
  await expect(dialog.getByLabel('IFSC')).toBeVisible()
  await expectAccessible(page)
  await dialog.getByLabel('Kind of account').selectOption('iban')
  await dialog.getByLabel('Account name').fill('Neem GmbH')
  await dialog.getByLabel('IBAN', { exact: true }).fill('DE89 3704 0044 0532 0130 01')
  await dialog.getByLabel('Your current password').fill(password)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog.getByText('This IBAN is not right. Please check its figures.').first()).toBeVisible()
  await dialog.getByLabel('IBAN', { exact: true }).fill('DE89 3704 0044 0532 0130 00')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('Account name: Neem GmbH · IBAN: DE89 3704 0044 0532 0130 00')).toBeVisible()

  const { url } = (await send('POST', `/invoice/${invoice._id}/pay-link`)) as { url: string }
  const address = program.url + new URL(url).pathname

  // The client's browser, on a phone, without a script.
  const phone = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 360, height: 780 } })
  const client = await phone.newPage()
  await client.goto(address)
  await expect(client.getByRole('heading', { name: '₹5,000.00 to pay' })).toBeVisible()
  await expect(client.getByRole('link', { name: 'Open a UPI app' })).toBeVisible()
  await expect(client.getByRole('img', { name: 'UPI QR code for ₹5,000.00' })).toBeVisible()
  await client.getByText('I have paid').click()
  await client.getByLabel('Payment reference').fill('UTR 4711')
  await client.getByRole('button', { name: 'Tell Asha Rao' }).first().click()
  await expect(client.getByText(/^You told Asha Rao that you have paid\. They are checking it; reminders wait until/)).toBeVisible()
  await expect(client.getByRole('link', { name: 'Open a UPI app' })).toBeHidden()
  await phone.close()

  // The same page with a script: copy buttons, nothing wider than the window.
  const wide = await browser.newContext({ viewport: { width: 1280, height: 860 }, permissions: ['clipboard-read', 'clipboard-write'] })
  const desk = await wide.newPage()
  await desk.goto(address)
  await desk.getByText('Ways to pay').click()
  await desk.getByRole('button', { name: 'Copy UPI ID' }).click()
  expect(await desk.evaluate(() => navigator.clipboard.readText())).toBe('asha@okaxis')
  for (const width of [1280, 360]) {
    await desk.setViewportSize({ width, height: 860 })
    expect(await desk.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)
    await expectAccessible(desk)
  }
  await wide.close()

  await page.goto('/dashboard/getting-paid')
  await expect(page.getByText('Kaveri Foods says INV-0001 is paid')).toBeVisible()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Record payment: INV-0001' }).click()
  await expect(dialog.getByLabel('Reference')).toHaveValue('UTR 4711')
  await dialog.getByRole('button', { name: 'Record', exact: true }).click()
  await expect(page.getByText('INV-0001 is paid. No more reminders go out for it.')).toBeVisible()
  await expect(page.getByText('Accepted', { exact: true })).toBeVisible()
})
