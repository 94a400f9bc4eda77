import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { changeData, freePort, startProgram } from '#test/program.ts'
import { expect, full, test } from './duely.ts'
import { newEmail, signIn } from './sign-in.ts'
import { confirmEmail, linkIn } from './with-google.ts'

// Takes 20 s: the program starts twice, because its evening is made to be now in between.
test('the link of an evening list leaves one client out of tomorrow, without signing in', full, async ({ browser, page, smtp }) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'duely-browser-'))
  const port = String(await freePort())
  const start = () =>
    startProgram({
      DATA_DIR: folder,
      PORT: port,
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      SYSTEM_SMTP_URL: `smtp://${encodeURIComponent(smtp.login.user)}:${smtp.login.pass}@${smtp.host}:${smtp.port}`,
      SYSTEM_MAIL_FROM: 'Duely <post@duely.example>',
    })
  const before = await start()
  const email = newEmail()
  const { send } = await signIn(page, before.url, email)
  await confirmEmail(before.url, smtp, email)
  await send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  const dueDate = Temporal.Now.plainDateISO('Asia/Kolkata').subtract({ days: 9 }).toString()
  for (const [clientName, clientEmail] of [
    ['Kaveri Foods', 'kaveri@example.com'],
    ['Lotus Dental', 'lotus@example.com'],
  ])
    await send('POST', '/invoice', { clientName, clientEmail, amount: 12_250, dueDate })
  await send('POST', '/reminder/start')
  await send('PATCH', '/reminder/settings', { eveningList: true })
  await before.end('SIGTERM')
  await changeData(folder, 'UPDATE accounts SET next_evening_at = now()')
  await using program = await start()

  const link = await linkIn(smtp, email, 'Tomorrow at 9:00: 2 reminders')
  // A browser that was never signed in here.
  const elsewhere = await browser.newContext()
  const evening = await elsewhere.newPage()
  await evening.goto(link)
  await expect(evening.getByText('They leave from 9:00 on. Do nothing, and they do.')).toBeVisible()
  await evening.getByRole('button', { name: 'Leave out Lotus Dental' }).click()
  await expect(evening.getByText('Done. 1 of 2 leave.')).toBeVisible()
  await expect(evening.getByText(/^You can change this until [\d/]{10}, 18:00, for what has not left\./)).toBeVisible()
  await evening.reload()
  await expect(evening.getByRole('button', { name: 'Take back Lotus Dental' })).toBeVisible()
  // Links that do not work look alike.
  for (const dead of ['#token=forged', '']) {
    await evening.goto(`${program.url}/evening?again${dead.length}${dead}`)
    await expect(evening.getByText('This link does not work any more.')).toHaveCount(1)
    await expect(evening.getByRole('heading', { name: 'Evening list' })).toBeVisible()
  }
  await elsewhere.close()

  const { mails } = (await send('GET', '/reminder/plan?days=2')) as { mails: { clientEmail: string }[] }
  expect(mails.map(({ clientEmail }) => clientEmail)).toEqual(['kaveri@example.com'])
  const invoices = (await send('GET', '/invoice')) as { _id: string; clientName: string }[]
  await page.goto(`${program.url}/dashboard/edit-invoice/${invoices.find(({ clientName }) => clientName === 'Lotus Dental')?._id}`)
  await expect(page.getByText(/^Left out on /)).toBeVisible()
  await rm(folder, { recursive: true, force: true })
})
