import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { anInvoice, aPerson, type Person } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { thorough } from '#test/thorough.ts'
import { mostOpen } from './invoices.ts'

const kaveri = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 500, dueDate: '2026-02-20' }

/** Copies the account's only invoice until it has that many. */
async function fill(app: TestApp, { id }: Person, count: number): Promise<void> {
  await app.db.execute(sql`
    INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, status, created_at, updated_at)
    SELECT gen_random_uuid(), owner_id, 'C-' || n, client_name, 'c' || n % 200 || '@client.example', n, due_date - n % 30, status,
      created_at - n % 50 * interval '1 minute', updated_at
    FROM invoices, generate_series(2, ${count}::int) n WHERE owner_id = ${id}::uuid`)
}

test('a large list is streamed: the same as its pages, with the same tag, and 304 where it is known', async () => {
  await using app = await openTestApp({ now: '2026-03-02T04:30:00Z' })
  const asha = await aPerson(app)
  await anInvoice(app, { owner: asha, ...kaveri })
  await fill(app, asha, 700)
  const whole = await ask(app, asha, invoiceCalls.list, { query: {} })
  expect([whole.status, whole.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
  const pages: string[] = []
  for (let query: Record<string, string> = { limit: '300' }; ; ) {
    const page = await ask(app, asha, invoiceCalls.list, { query })
    pages.push(...page.reply.map(({ _id }) => _id))
    const next = /<([^>]+)>/.exec(String(page.headers.link ?? ''))?.[1]
    if (!next) break
    query = Object.fromEntries(new URL(next, 'http://localhost').searchParams)
  }
  expect(whole.reply.map(({ _id }) => _id)).toEqual(pages)
  expect(pages).toHaveLength(700)
  const again = await ask(app, asha, invoiceCalls.list, { query: {} }, { 'if-none-match': String(whole.headers.etag) })
  expect(again.status).toBe(304)

  const csv = await app.app.inject({ url: '/invoices/export', headers: { authorization: `Bearer ${asha.token}` } })
  expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8')
  expect(csv.body.trim().split('\r\n')).toHaveLength(701)
})

test('a large preview is streamed: the same as its pages, with the same totals', async () => {
  await using app = await openTestApp({ now: '2026-03-02T04:30:00Z' })
  const asha = await aPerson(app)
  await anInvoice(app, { owner: asha, ...kaveri })
  await fill(app, asha, 700)
  for (const groupByClient of [false, true]) {
    await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient } })
    const whole = await ask(app, asha, reminderCalls.preview, { query: {} })
    const lines: string[] = []
    for (let query: Record<string, string> = { limit: '300' }; ; ) {
      const page = await ask(app, asha, reminderCalls.preview, { query })
      lines.push(...page.reply.lines.map(({ invoiceId }) => invoiceId))
      expect({ ...page.reply, lines: [] }).toEqual({ ...whole.reply, lines: [] })
      const next = /<([^>]+)>/.exec(String(page.headers.link ?? ''))?.[1]
      if (!next) break
      query = Object.fromEntries(new URL(next, 'http://localhost').searchParams)
    }
    expect(whole.reply).toMatchObject({ mails: groupByClient ? 201 : 700, sendNowMails: groupByClient ? 201 : 700 })
    expect(whole.reply.lines.map(({ invoiceId }) => invoiceId)).toEqual(lines)
    expect(lines).toHaveLength(700)
  }
})

// Writing 50,000 rows takes 4 s, and attack row 90 has the limit too.
test.runIf(thorough)('an account has at most 50,000 open invoices: created, imported, restored or no longer paid', async () => {
  await using app = await openTestApp({ now: '2026-03-02T04:30:00Z' })
  const asha = await aPerson(app)
  const first = await anInvoice(app, { owner: asha, ...kaveri })
  const paid = await anInvoice(app, { owner: asha, ...kaveri, status: 'paid' })
  const deleted = await anInvoice(app, { owner: asha, ...kaveri })
  await ask(app, asha, invoiceCalls.remove, { params: { id: deleted._id } })
  await app.db.execute(sql`
    INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, status, created_at, updated_at)
    SELECT gen_random_uuid(), owner_id, 'C-' || n, client_name, client_email, amount_minor, due_date, status, created_at, updated_at
    FROM invoices, generate_series(2, ${mostOpen - 1}::int) n WHERE id = ${first._id}::uuid`)
  const draft = (clientName: string) => ({ ...kaveri, clientName })
  const { reply } = await ask(app, asha, invoiceCalls.import, { body: { lines: [draft('Last'), draft('Beyond')], keepDuplicates: true } })
  expect(reply.lines).toMatchObject([
    { line: 1, _id: expect.any(String) },
    { line: 2, code: 'conflict', message: expect.stringContaining('50,000 open invoices') },
  ])
  const ids = [paid._id, deleted._id]
  const bulk = async (change: { do: 'mark'; status: 'unpaid' } | { do: 'restore' }) =>
    (await ask(app, asha, invoiceCalls.bulkChange, { body: { ids, change } })).reply.failed.map(({ _id, code }) => [_id, code])
  expect(await bulk({ do: 'mark', status: 'unpaid' })).toContainEqual([paid._id, 'conflict'])
  expect(await bulk({ do: 'restore' })).toEqual([[deleted._id, 'conflict']])
  const refused = [
    await ask(app, asha, invoiceCalls.create, { body: kaveri }),
    await ask(app, asha, invoiceCalls.update, { params: { id: paid._id }, body: { status: 'unpaid' } }),
    await ask(app, asha, invoiceCalls.restore, { params: { id: deleted._id } }),
  ]
  for (const one of refused)
    expect(one).toMatchObject({ status: 409, problem: { code: 'conflict', message: expect.stringContaining('50,000 open invoices') } })
  expect((await ask(app, asha, invoiceCalls.create, { body: { ...kaveri, status: 'paid' } })).status).toBe(201)
  await ask(app, asha, invoiceCalls.update, { params: { id: first._id }, body: { status: 'paid' } })
  expect((await ask(app, asha, invoiceCalls.restore, { params: { id: deleted._id } })).status).toBe(200)
  expect((await ask(app, asha, accountCalls.stats)).status).toBe(200)
})
