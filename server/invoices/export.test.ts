import { expect, test } from 'vitest'
import { invoiceCalls, searchInvoices } from '#contract/invoices.ts'
import { anInvoice, aPerson, type Person } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'

const download = (app: TestApp, someone: Person, query: Record<string, string> = {}) =>
  app.app.inject({ method: 'GET', url: invoiceCalls.export.path, query, headers: { authorization: `Bearer ${someone.token}` } })

test('the file holds every invoice of its owner, newest first, in a form that spreadsheets read', async () => {
  await using app = await openTestApp({ now: '2026-03-02T20:00:00Z' })
  const asha = await aPerson(app, { timezone: 'Asia/Kolkata' })
  await anInvoice(app, { owner: asha, amount: 184200, issuedOn: '2026-02-28', dueDate: '2026-03-31' })
  await anInvoice(app, { owner: asha, clientName: 'Müller, "Söhne"', amount: 0.05, dueDate: '2026-03-30', status: 'paid' })
  await anInvoice(app)
  const answered = await download(app, asha)
  expect(answered.headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="duely-invoices-2026-03-03.csv"',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  expect([...answered.rawPayload.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
  expect(answered.rawPayload.toString().slice(1).split('\r\n')).toEqual([
    '"Reference","Client Name","Client Email","Amount","Currency","Due Date","Status","Created On","Paid On","Reminders Sent","Last Reminder","Issued On","Amount Paid","Balance"',
    '"INV-0002","Müller, ""Söhne""","billing@kaveri.example",0.05,"INR","2026-03-30","paid","2026-03-03","2026-03-03",0,"","2026-03-03",0.05,0.00',
    '"INV-0001","Kaveri Foods","billing@kaveri.example",184200.00,"INR","2026-03-31","unpaid","2026-03-03","",0,"","2026-02-28",0.00,184200.00',
    '',
  ])
})

test.each(['=HYPERLINK("http://evil.example")', '+1', '-1', '@SUM(A1)', ' =1+1', '＝1+1', '－1'])(
  '%s is text in a spreadsheet, not a formula',
  async (name) => {
    await using app = await openTestApp()
    const asha = await aPerson(app)
    await anInvoice(app, { owner: asha, clientName: name })
    expect((await download(app, asha)).body).toContain(`,"'${name.replaceAll('"', '""')}",`)
  },
)

test('the file follows the status and the search', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  for (const status of ['paid', 'unpaid'] as const)
    for (const clientName of ['Kaveri Foods', 'Studio Banyan']) await anInvoice(app, { owner: asha, clientName, status })
  const lines = async (query: Record<string, string>) => (await download(app, asha, query)).body.trimEnd().split('\r\n').length - 1
  expect(await lines({})).toBe(4)
  expect(await lines({ status: 'paid' })).toBe(2)
  expect(await lines({ status: 'paid', search: 'BANYAN' })).toBe(1)
  expect((await download(app, asha, { status: 'lost' })).statusCode).toBe(400)
})

test.each(['INV-0002', '₹5,0', 'promised friday'])('a search for %s exports what the dashboard finds', async (search) => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  await anInvoice(app, { owner: asha, clientEmail: 'one@x.example', amount: 700 })
  const { _id: id } = await anInvoice(app, { owner: asha, clientEmail: 'two@x.example', amount: 5000 })
  await ask(app, asha, invoiceCalls.pause, { params: { id }, body: { paused: true, scope: 'client', note: 'Promised Friday' } })
  const { reply } = await ask(app, asha, invoiceCalls.list, { query: {} })
  expect(searchInvoices(reply, search).map(({ _id }) => _id)).toEqual([id])
  const lines = (await download(app, asha, { search })).body.trimEnd().split('\r\n')
  expect(lines.map((line) => line.split(',')[2])).toEqual(['"Client Email"', '"two@x.example"'])
})
