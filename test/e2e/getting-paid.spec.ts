import { expectAccessible } from './audit.ts'
import { expect, full, test } from './duely.ts'
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
  // A plan without a brand of its own has the logo on this screen.
  await page.route('**/business', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...((await response.json()) as object), whiteLabel: false } })
  })
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

  // The tab opens in the click, before the server has answered: Safari blocks a later one.
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  await page.route('**/pay-link', async (route) => {
    await opened
    await route.continue()
  })
  const tab = page.waitForEvent('popup')
  await page.getByRole('button', { name: 'See your pay page' }).click()
  const seen = await tab
  open()
  await expect(seen.getByRole('heading', { name: '₹5,000.00 to pay' })).toBeVisible()
  expect(await seen.evaluate(() => window.opener)).toBeNull()
  await seen.close()
  await page.evaluate(() => {
    window.open = () => null
    Blob.prototype.arrayBuffer = () => Promise.reject(new DOMException('', 'NotReadableError'))
  })
  await page.getByRole('button', { name: 'See your pay page' }).click()
  await expect(page.getByText('Your browser blocked the new tab. Allow pop-ups for this site and try again.')).toBeVisible()
  await page.getByLabel('Choose a logo').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: Buffer.from('gone') })
  await expect(page.getByText('This picture cannot be read. Please choose a PNG or JPEG file.')).toBeVisible()

  const details = page.getByLabel('Details', { exact: true })
  await details.fill('GSTIN 27AAAAA0000A1Z5')
  await page.getByRole('link', { name: 'Clients', exact: true }).click()
  await dialog.getByRole('button', { name: 'Stay here' }).click()
  await page.getByLabel('Your current password').fill(password)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(page.getByLabel('Your current password')).toHaveCount(0)
  await page.getByRole('link', { name: 'Clients', exact: true }).click()
  await expect(page).toHaveURL(/clients$/)

  const { url } = (await send('POST', `/invoice/${invoice._id}/pay-link`)) as { url: string }
  const address = program.url + new URL(url).pathname

  // A browser that fills each field: the client loses nothing, and sees which field it was.
  const filling = await browser.newContext({ viewport: { width: 390, height: 780 } })
  const filled = await filling.newPage()
  await filled.goto(address)
  await filled.getByText('I have a question').click()
  await filled.getByLabel('Your message').fill('Which order?')
  const last = filled.getByRole('textbox', { name: 'Leave this field empty' })
  await expect(last).toHaveCount(0)
  await filled.locator('#question-website').evaluate((field: HTMLInputElement) => {
    field.value = 'https://kaveri.example'
  })
  const tell = filled.getByRole('button', { name: 'Tell Asha Rao' })
  await tell.click()
  await expect(filled.getByText('Please leave the last field empty.')).toBeInViewport()
  await expect(filled.getByLabel('Your message')).toHaveValue('Which order?')
  await expect(last).toHaveValue('')
  await expectAccessible(filled)
  await tell.click()
  await expect(filled.getByText('Your message was sent.')).toBeVisible()
  await filled.getByRole('button', { name: 'Take this back' }).click()
  await filling.close()

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

  await page.goto('/dashboard/clients')
  const dots = page.getByRole('row', { name: /Kaveri Foods/ }).locator('circle')
  await expect(dots).toHaveCount(1)
  await page.getByRole('link', { name: 'Getting Paid' }).click()
  await expect(page.getByText('Kaveri Foods says INV-0001 is paid')).toBeVisible()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Record payment: INV-0001' }).click()
  await expect(dialog.getByLabel('Reference')).toHaveValue('UTR 4711')
  await dialog.getByRole('button', { name: 'Record', exact: true }).click()
  await expect(page.getByText('INV-0001 is paid. No more reminders go out for it.')).toBeVisible()
  await expect(page.getByText('Accepted', { exact: true })).toBeVisible()
  // What was known of its next reminder is out of date at once.
  await page.getByRole('link', { name: 'Clients', exact: true }).click()
  await expect(page.getByText('Nothing to pay')).toBeVisible()
  await expect(dots).toHaveCount(0)
})

test('“I have paid” about a payment that is recorded already is accepted without another one', async ({ page, program }) => {
  const { send } = await signIn(page, program.url)
  const yesterday = Temporal.Now.plainDateISO('Asia/Kolkata').subtract({ days: 1 }).toString()
  const kaveri = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example' }
  const { _id } = (await send('POST', '/invoice', { ...kaveri, amount: 5000, dueDate: yesterday })) as { _id: string }
  await send('POST', `/invoice/${_id}/payments`, { amount: 2000 })
  const { url } = (await send('POST', `/invoice/${_id}/pay-link`)) as { url: string }
  const form = { kind: 'paid', date: yesterday, amount: '2000', reference: 'UTR 4711' }
  await page.request.post(`${program.url}${new URL(url).pathname}/answer`, { form, headers: { origin: 'null' } })
  await page.goto('/dashboard/getting-paid')
  await page.getByRole('button', { name: 'Recorded already: INV-0001' }).click()
  await expect(page.getByText('Accepted. No other payment was recorded. Reminders have resumed.')).toBeVisible()
  await expect(page.getByText('Accepted', { exact: true })).toBeVisible()
  expect(await send('GET', `/invoice/${_id}`)).toMatchObject({ amountPaid: 2000 })
})

for (const width of [1280, 390])
  test(`at ${width} px: a bank file is reviewed, recorded and taken back`, width === 390 ? full : {}, async ({ page, program }) => {
    await page.setViewportSize({ width, height: 860 })
    const { send } = await signIn(page, program.url)
    const day = (ago: number) => Temporal.Now.plainDateISO('Asia/Kolkata').subtract({ days: ago })
    const shown = (ago: number) => day(ago).toString().split('-').reverse().join('/')
    const draft = (clientName: string, amount: number) => ({
      clientName,
      clientEmail: 'pay@example.com',
      amount,
      dueDate: day(9).toString(),
    })
    for (const one of [draft('Kaveri Foods', 3_000), draft('Studio Indigo', 700), draft('Neem Pharma', 450), draft('Lotus', 80)])
      await send('POST', '/invoice', one)
    await page.clock.install()
    await page.goto('/dashboard/getting-paid')
    await page.getByRole('link', { name: 'Import a bank file' }).click()
    await expect(page.getByText('Nothing is recorded before you press Record.').first()).toBeVisible()
    const choose = (lines: string[]) =>
      page.locator('input[type=file]').setInputFiles({ name: 'bank.csv', mimeType: 'text/csv', buffer: Buffer.from(lines.join('\n')) })

    // Without headings and signs nothing is known, and each answer makes something known.
    const plain = day(2).toString()
    await choose([`${plain},NEFT INV-0001,2000.00,9000.00`])
    const question = (title: string) => page.getByRole('group', { name: title })
    await question('1. Which column has the dates?')
      .getByRole('radio', { name: `Column 1 ${plain}` })
      .click()
    await question('1. Please choose the column with the amounts.').getByRole('radio', { name: 'Column 3 2000.00' }).click()
    await page.getByText('Columns', { exact: true }).click()
    await page.getByLabel('Description').selectOption({ label: 'Column 2: NEFT INV-0001' })
    await expect(page.getByRole('button', { name: 'Record 0 payments' })).toBeDisabled()
    await expectAccessible(page)
    await question('1. Did the money in this row come in or go out?').getByRole('radio', { name: 'All of it came in' }).click()
    await expect(page.getByRole('button', { name: 'Record 1 payment, ₹2,000.00' })).toBeEnabled()
    await page.getByRole('button', { name: 'Another file' }).click()

    const lines = [
      'Account statement,,,',
      'Transaction Date,Narration,Debit,Credit',
      `${shown(3)},NEFT INV-0001 KAVERI,,"2,000.00"`,
      `${shown(2)},IMPS INDIGO,,700.00`,
      `${shown(2)},RENT,900.00,`,
      `${shown(1)},CASH DEPOSIT,,450.50`,
    ]
    await choose(lines)
    const isEither = [3, 2, 1].some((ago) => day(ago).day > 12) === false
    if (isEither) await page.getByRole('radio', { name: /day first/ }).click()
    const group = (name: string) => page.locator(`[data-group="${name}"]`)
    await expect(group('sure')).toContainText('“INV-0001” and “KAVERI” are in the row.')
    await expect(group('likely')).toContainText('INV-0002, Studio Indigo')
    await expect(group('none')).toContainText('CASH DEPOSIT')
    await expect(page.getByText('RENT')).toBeHidden()
    await page.getByRole('button', { name: 'Show 1 row of money out' }).click()
    await expect(page.getByText('RENT')).toBeVisible()
    await expect(page.getByRole('button', { name: 'Record 1 payment, ₹2,000.00' })).toBeVisible()
    await page.getByRole('checkbox', { name: /^Record ₹700.00/ }).click()
    await page.getByRole('button', { name: /^Choose an invoice for ₹450.50/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('searchbox').fill('neem')
    await dialog.getByRole('button', { name: /INV-0003, Neem Pharma/ }).click()
    await expect(group('none')).toContainText('You chose this invoice.')
    // What was decided stays over midnight.
    await page.clock.fastForward('24:00:00')
    await expect(group('none')).toContainText('You chose this invoice.')
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Record 3 payments, ₹3,150.50' }).click()
    await expect(page.getByText('3 payments recorded, ₹3,150.50. 2 invoices are paid.')).toBeVisible()

    await page.getByRole('button', { name: 'Import another file' }).click()
    await choose(lines)
    await expect(group('recorded')).toHaveCount(3)
    await expect(page.getByRole('button', { name: 'Record 0 payments' })).toBeDisabled()
    await page.getByRole('button', { name: 'Another file' }).click()
    await choose([...lines, `${shown(1)},UPI INV-0004,,80.00`])
    await page.getByRole('button', { name: 'Record 1 payment, ₹80.00' }).click()
    await expect(page.getByText('1 payment recorded, ₹80.00. 1 invoice is paid.')).toBeVisible()
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect(page.getByText('1 payment taken back.')).toBeVisible()
    await expect(group('sure')).toContainText('UPI INV-0004')
  })
