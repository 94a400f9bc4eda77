import { createHash } from 'node:crypto'
import { strFromU8, unzipSync } from 'fflate'
import { expect, test } from 'vitest'
import { evidenceCalls } from '#contract/evidence.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { invoiceFileCalls } from '#contract/pay-links.ts'
import { paymentCalls } from '#contract/payments.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { anInvoice, anOffice, aPerson, type Person } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { readPdf } from '#test/read-pdf.ts'

const download = (app: TestApp, someone: Person, id: string) =>
  app.app.inject({ url: evidenceCalls.download.path.replace(':id', id), headers: { authorization: `Bearer ${someone.token}` } })

const sumOf = (content: Uint8Array) => createHash('sha256').update(content).digest('hex')

/** The files whose sum is not that of SHA256SUMS, as `sha256sum -c` names them. */
function changed(files: Record<string, Uint8Array>): string[] {
  const lines = strFromU8(files.SHA256SUMS ?? new Uint8Array())
    .trimEnd()
    .split('\n')
  return lines.flatMap((line) => {
    const [sum, name = ''] = line.split('  ')
    const content = files[name]
    return content && sumOf(content) === sum ? [] : [name]
  })
}

test('the evidence of an invoice has its emails as sent, the replies, decisions, payments and answers, with the sum of each file', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 1, person: { displayName: 'Asha Rao' } })
  const { app, asha, smtp, invoices } = office
  const id = invoices[0]?._id ?? ''
  const pdf = Buffer.from('%PDF-1.4\nnothing\n%%EOF\n')
  const put = { method: 'PUT', url: invoiceFileCalls.save.path.replace(':id', id), payload: pdf } as const
  await app.app.inject({ ...put, headers: { authorization: `Bearer ${asha.token}`, 'content-type': 'application/pdf' } })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  await ask(app, asha, paymentCalls.record, { params: { id }, body: { amount: 1000, paidOn: '2026-03-01', reference: '=606' } })
  const answered = await download(app, asha, id)
  expect(answered.headers).toMatchObject({
    'content-type': 'application/zip',
    'content-disposition': 'attachment; filename="INV-0001-evidence.zip"; filename*=UTF-8\'\'INV-0001-evidence.zip',
    'cache-control': 'no-store',
  })
  const files = unzipSync(answered.rawPayload)
  const text = (name: string) => strFromU8(files[name] ?? new Uint8Array())
  const [email = '', ...others] = Object.keys(files).filter((name) => name.startsWith('emails/'))
  expect(others).toEqual([])
  expect(Object.keys(files).filter((name) => name !== email)).toEqual([
    ...['README.txt', 'invoice.json', 'invoice.pdf', 'timeline.pdf', 'emails.csv', 'decisions.csv', 'payments.csv', 'answers.csv'],
    'SHA256SUMS',
  ])
  expect(Buffer.from(files['invoice.pdf'] ?? [])).toEqual(pdf)
  expect(text(email).trimEnd()).toBe(smtp.mails[0]?.raw.toString().trimEnd())
  expect(text('README.txt')).toContain('A record of what Duely did, not legal advice.')
  expect(JSON.parse(text('invoice.json'))).toMatchObject({ _id: id, reference: 'INV-0001', balance: 4000, hasFile: true })
  expect(text('emails.csv')).toContain('"2026-03-02 12:00","client1@example.com"')
  expect(text('emails.csv')).toMatch(/"sent".*"250 /)
  expect(text('decisions.csv')).toContain('"2026-03-02","sent"')
  expect(text('payments.csv')).toContain(`"payment",1000,"INR","2026-03-01","","'=606"`)
  expect(text('timeline.pdf').slice(0, 5)).toBe('%PDF-')
  expect(changed(files)).toEqual([])
  for (const name of [email, 'invoice.json', 'timeline.pdf']) {
    const content = Uint8Array.from(files[name] ?? [])
    content[3] = (content[3] ?? 0) ^ 1
    expect(changed({ ...files, [name]: content })).toEqual([name])
  }
})

test('the timeline is in the order of what happened, within a minute and when clocks go back', async () => {
  await using app = await openTestApp({ now: '2026-10-25T00:54:00Z' })
  const asha = await aPerson(app, { timezone: 'Europe/Berlin' })
  const { _id: id } = await anInvoice(app, { owner: asha, reference: 'चालान/७', clientName: 'شركة كافري' })
  // 02:55 twice, then 02:05.
  for (const [at, amount] of [
    ['2026-10-25T00:55:10Z', 1],
    ['2026-10-25T00:55:20Z', 2],
    ['2026-10-25T01:05:00Z', 3],
  ] as const) {
    app.clock.set(at)
    await ask(app, asha, paymentCalls.record, { params: { id }, body: { amount } })
  }
  const evidence = await download(app, asha, id)
  expect(evidence.headers['content-disposition']).toContain(`filename*=UTF-8''${encodeURIComponent('चालान_७-evidence.zip')}`)
  const pdf = unzipSync(evidence.rawPayload)['timeline.pdf']
  const words = readPdf(Buffer.from(pdf ?? []))
  expect(words).toContain('Timeline of चालान/७\n')
  expect(words).toContain('from شركة كافري (billing@kaveri.example)')
  expect(words.match(/(?<=Payment of )₹\d/g)).toEqual(['₹1', '₹2', '₹3'])
})

test('evidence about an invoice of another account, a deleted or an unknown one is not found', async () => {
  await using app = await openTestApp()
  const [asha, ravi] = [await aPerson(app), await aPerson(app)]
  const { _id: id } = await anInvoice(app, { owner: asha })
  const answers = [await download(app, ravi, id), await download(app, asha, crypto.randomUUID()), await download(app, asha, 'x')]
  await ask(app, asha, invoiceCalls.remove, { params: { id } })
  answers.push(await download(app, asha, id))
  for (const { statusCode, body } of answers) expect([statusCode, body]).toEqual([404, answers[0]?.body])
})
