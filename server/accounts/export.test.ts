// Also on PostgreSQL: a cursor reads in chunks, and values come back as the driver types them.
import { strFromU8, unzipSync } from 'fflate'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { mailCalls } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { anInvoice, aPerson, type Person } from '#test/factories.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'

/** The files of an export, as text by name. */
async function exported(app: TestApp, person: Person) {
  const answered = await app.app.inject({ method: 'GET', url: '/user/export', headers: { authorization: `Bearer ${person.token}` } })
  const files = unzipSync(answered.rawPayload)
  return { answered, files: Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, strFromU8(bytes)])) }
}

const json = (text: string | undefined) => JSON.parse(text ?? 'null') as Record<string, unknown>[]

test('a person exports all their data, as JSON and as CSV', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await openTestApp({ now: '2026-03-02T04:30:00Z' })
  const asha = await aPerson(app, { password: 'correct horse', email: 'asha@example.com' })
  await ask(app, asha, mailCalls.configureSmtp, { body: { host: smtp.host, port: smtp.port, secure: false, ...smtp.login } })
  await anInvoice(app, { owner: asha, clientName: '=HYPERLINK("http://evil.example")', amount: 1234.5 })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  const { answered, files } = await exported(app, asha)
  expect(answered.headers).toMatchObject({
    'content-type': 'application/zip',
    'content-disposition': 'attachment; filename="duely-2026-03-02.zip"',
    'cache-control': 'no-store',
  })
  expect(json(files['people.json'])).toMatchObject([{ email: 'asha@example.com', display_name: 'Asha Rao' }])
  expect(json(files['accounts.json'])).toMatchObject([{ id: asha.id, timezone: 'Asia/Kolkata' }])
  expect(json(files['invoices.json'])).toMatchObject([{ amount_minor: 123450, reference: 'INV-0001' }])
  expect(files['invoices.csv']).toContain(`"'=HYPERLINK(""http://evil.example"")"`)
  expect(files['invoices.csv']).toContain(',123450,')
  const [mail] = json(files['deliveries.json'])
  expect(files[`deliveries/${mail?.id}.eml`]).toBe(smtp.mails[0]?.raw.toString())
  expect(mail?.raw).toBe(smtp.mails[0]?.raw.length)
  expect(json(files['audit_entries.json']).map(({ kind }) => kind)).toEqual(['sender_connected'])
  expect(json(files['person_entries.json']).map(({ kind }) => kind)).toEqual(['data_exported'])
  for (const table of ['sessions', 'mail_configs', 'runs']) expect(json(files[`${table}.json`])).toHaveLength(1)
})

test('an export contains no secret', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await openTestApp()
  const asha = await aPerson(app, { password: 'correct horse' })
  await ask(app, asha, mailCalls.configureSmtp, { body: { host: smtp.host, port: smtp.port, secure: false, ...smtp.login } })
  await ask(app, asha, accountCalls.startTwoFactor, { body: { currentPassword: 'correct horse' } })
  const { files } = await exported(app, asha)
  const all = Object.values(files).join('\n')
  expect(all).toContain(smtp.login.user)
  for (const secret of [smtp.login.pass, '$argon2id$', 'v1.', 'sealed_', '_hash']) expect(all).not.toContain(secret)
})

test('an export contains only the owner’s data, and all of a long invoice list', async () => {
  await using app = await openTestApp()
  const [asha, meera] = [await aPerson(app), await aPerson(app, { email: 'meera@example.com' })]
  await anInvoice(app, { owner: meera, clientName: 'Meera’s client' })
  await anInvoice(app, { owner: asha })
  await ask(app, asha, invoiceCalls.import, {
    body: {
      lines: Array.from({ length: 1_000 }, (_, n) => ({
        clientName: 'Kaveri Foods',
        clientEmail: 'k@example.com',
        amount: 1 + n,
        dueDate: '2026-03-31',
      })),
      keepDuplicates: true,
    },
  })
  const { files } = await exported(app, asha)
  const references = json(files['invoices.json']).map(({ reference }) => reference)
  expect(new Set(references).size).toBe(1_001)
  expect(files['invoices.csv']?.trim().split('\r\n')).toHaveLength(1_002)
  expect(Object.values(files).join()).not.toMatch(/meera/i)
})

test('exports are limited to five an hour', async () => {
  await using app = await openTestApp({ config: { rateLimit: true } })
  const asha = await aPerson(app)
  for (let n = 0; n < 5; n += 1) expect((await exported(app, asha)).answered.statusCode).toBe(200)
  expect((await ask(app, asha, accountCalls.exportData)).problem?.code).toBe('too_many')
})
