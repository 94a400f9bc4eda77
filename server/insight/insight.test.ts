// Also on PostgreSQL: sums and dates come as the driver types them.
import { type SQL, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { billingCalls } from '#contract/billing.ts'
import { type AdvancedInsights, type Age, ageOf, type Insights, insightCalls } from '#contract/insights.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { fromMinor } from '#contract/money.ts'
import { paymentCalls } from '#contract/payments.ts'
import { invoicePayments, invoices } from '#server/invoices/tables.ts'
import { newId } from '#server/platform/columns.ts'
import { anInvoice, aPerson, type Person, signedInAgain } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { seeded } from '#test/seeded.ts'
import { times } from '#test/thorough.ts'

const now = '2026-03-20T09:00:00Z'
const today = Temporal.PlainDate.from('2026-03-20')

interface Paid {
  on: string
  minor: number
}
interface Line {
  client: string
  currency: 'INR' | 'JPY'
  minor: number
  issued: string
  due: string
  payments: Paid[]
}

/** A ledger with part payments, refunds, overpaid and future invoices; none of it in the future of today but dates of issue and due dates. */
function aLedger(random: () => number): Line[] {
  const below = (limit: number) => Math.floor(random() * limit)
  return Array.from({ length: below(24) }, () => {
    const issued = today.subtract({ days: below(560) - 30 })
    const minor = 1 + below(5_000_000)
    const payments: Paid[] = []
    let sum = 0
    for (let left = below(4); left > 0; left -= 1) {
      const on = today.subtract({ days: below(400) }).toString()
      const part = below(3) === 0 ? Math.max(1, minor - sum) : 1 + below(minor)
      const signed = below(6) === 0 && sum > 1 ? -(1 + below(sum - 1)) : part
      sum += signed
      payments.push({ on, minor: signed })
    }
    return {
      client: `client${below(4)}@example.com`,
      currency: below(5) === 0 ? 'JPY' : 'INR',
      minor,
      issued: issued.toString(),
      due: issued.add({ days: below(70) - 5 }).toString(),
      payments,
    }
  })
}

const sumOf = (values: number[]) => values.reduce((sum, one) => sum + one, 0)
const paidOf = ({ payments }: Line, end = '9999') => sumOf(payments.filter(({ on }) => on <= end).map(({ minor }) => minor))
const paidOn = (line: Line) =>
  paidOf(line) < line.minor
    ? null
    : (line.payments
        .filter(({ minor }) => minor > 0)
        .map(({ on }) => on)
        .toSorted()
        .at(-1) ?? null)
const daysTo = (from: string, to: string) => Temporal.PlainDate.from(from).until(to).days

async function keep(app: TestApp, owner: Person, lines: Line[]): Promise<void> {
  const at = app.clock.now()
  for (const [nth, line] of lines.entries()) {
    const id = newId()
    const on = paidOn(line)
    await app.db.transaction(async (tx) => {
      await tx.insert(invoices).values({
        id,
        ownerId: owner.id,
        reference: `INV-${nth}`,
        clientName: line.client,
        clientEmail: line.client,
        amountMinor: line.minor,
        currency: line.currency,
        issuedOn: line.issued,
        dueDate: line.due,
        status: on === null ? 'unpaid' : 'paid',
        paidMinor: paidOf(line),
        paidOn: on,
        createdAt: at.subtract({ hours: 24 }),
        updatedAt: at,
        paidAt: on === null ? null : at,
      })
      for (const { on: day, minor } of line.payments)
        await tx.insert(invoicePayments).values({
          ownerId: owner.id,
          invoiceId: id,
          kind: minor < 0 ? 'refund' : 'payment',
          origin: 'by_hand',
          amountMinor: Math.abs(minor),
          currency: line.currency,
          paidOn: day,
          recordedAt: at,
        })
    })
  }
}

/** Never −0, which JSON cannot say. */
const round = (value: number) => Math.round(value * 10) / 10 + 0

/** The same figures, line by line and month by month. */
function byHand(lines: Line[], currency: 'INR' | 'JPY') {
  const its = lines.filter((line) => line.currency === currency)
  const ageing: Record<Age, number> = { notDue: 0, to30: 0, to60: 0, to90: 0, over90: 0 }
  for (const line of its)
    if (paidOn(line) === null) ageing[ageOf(daysTo(line.due, today.toString()))] += line.minor - Math.min(line.minor, paidOf(line))
  const year = its.filter((line) => (paidOn(line) ?? '') > today.subtract({ years: 1 }).toString())
  const open = (end: string) =>
    its.filter(({ issued }) => issued <= end).map((line) => ({ ...line, left: Math.max(0, line.minor - paidOf(line, end)) }))
  const begun = its
    .map(({ issued }) => issued)
    .filter((issued) => issued <= today.toString())
    .toSorted()[0]
  const months = Array.from({ length: 12 }, (_none, at) => {
    const month = today.toPlainYearMonth().subtract({ months: 11 - at })
    const end = at === 11 ? today : month.toPlainDate({ day: month.daysInMonth })
    const before = month.toPlainDate({ day: 1 }).subtract({ days: 1 })
    const receivables = sumOf(open(end.toString()).map(({ left }) => left))
    const opening = sumOf(open(before.toString()).map(({ left }) => left))
    const notDue = sumOf(
      open(end.toString())
        .filter(({ due }) => due >= end.toString())
        .map(({ left }) => left),
    )
    const invoiced = sumOf(its.filter(({ issued }) => issued > before.toString() && issued <= end.toString()).map(({ minor }) => minor))
    const paid = its.filter((line) => (paidOn(line) ?? '') > before.toString() && (paidOn(line) ?? '9999') <= end.toString())
    const due = opening + invoiced - notDue
    return {
      month: month.toString(),
      receivables: fromMinor(receivables, currency),
      dso: begun === undefined ? null : countback(receivables, end, begun),
      cei: due <= 0 ? null : round((100 * (opening + invoiced - receivables)) / due),
      onTime: paid.length === 0 ? null : round((100 * paid.filter((line) => (paidOn(line) ?? '') <= line.due).length) / paid.length),
    }
  })
  function countback(receivables: number, end: Temporal.PlainDate, first: string): number | null {
    const firstMonth = Temporal.PlainDate.from(first).with({ day: 1 })
    if (Temporal.PlainDate.compare(firstMonth.add({ months: 2 }), end) > 0) return null
    let [days, left] = [0, receivables]
    for (
      let last = end;
      left > 0 && Temporal.PlainDate.compare(last, firstMonth) >= 0;
      last = last.with({ day: 1 }).subtract({ days: 1 })
    ) {
      const sold = sumOf(
        its.filter(({ issued }) => issued >= last.with({ day: 1 }).toString() && issued <= last.toString()).map(({ minor }) => minor),
      )
      if (left < sold) return round(days + (left / sold) * last.day)
      days += last.day
      left -= sold
    }
    return days
  }
  return {
    ageing: Object.fromEntries(Object.entries(ageing).map(([age, minor]) => [age, fromMinor(minor, currency)])),
    daysLate: {
      mean: year.length === 0 ? null : round(sumOf(year.map((line) => daysTo(line.due, paidOn(line) ?? ''))) / year.length),
      onTime: year.length === 0 ? null : round((100 * year.filter((line) => (paidOn(line) ?? '') <= line.due).length) / year.length),
      paid: year.length,
    },
    trend: its.length === 0 ? [] : months,
    overdue: Object.fromEntries(
      [...Map.groupBy(its, ({ client }) => client)].flatMap(([client, theirs]) => {
        const late = sumOf(
          theirs
            .filter((line) => paidOn(line) === null && line.due < today.toString())
            .map((line) => line.minor - Math.min(line.minor, paidOf(line))),
        )
        return late > 0 ? [[client, fromMinor(late, currency)]] : []
      }),
    ),
  }
}

async function figures(app: TestApp, owner: Person): Promise<{ basic: Insights; advanced: AdvancedInsights }> {
  const [basic, advanced] = [await ask(app, owner, insightCalls.read), await ask(app, owner, insightCalls.advanced)]
  expect([basic.status, advanced.status]).toEqual([200, 200])
  return { basic: basic.reply, advanced: advanced.reply }
}

// Takes 1 s: 15 ledgers are written and summed up; all 300 in `npm run test:full`.
test('the figures of generated ledgers are those of plain arithmetic, to the paisa and day', async () => {
  await using app = await openTestApp({ now })
  const random = seeded(18)
  for (let nth = 0; nth < times(15, 300); nth += 1) {
    const owner = await aPerson(app, { timezone: 'Asia/Kolkata' })
    const lines = aLedger(random)
    await keep(app, owner, lines)
    const { basic, advanced } = await figures(app, owner)
    for (const currency of ['INR', 'JPY'] as const) {
      const expected = byHand(lines, currency)
      const one = basic.byCurrency.find((its) => its.currency === currency)
      const more = advanced.byCurrency.find((its) => its.currency === currency)
      if (!one || !more) {
        expect([nth, lines.filter((line) => line.currency === currency)]).toEqual([nth, []])
        continue
      }
      const { clients: _, ...daysLate } = one.daysLate
      expect([nth, one.ageing, daysLate]).toEqual([nth, expected.ageing, expected.daysLate])
      expect([nth, more.trend]).toEqual([nth, expected.trend])
      expect(Object.fromEntries(one.latePayers.map(({ email, overdue }) => [email, overdue]))).toEqual(expected.overdue)
    }
  }
})

test('figures follow each change at once, and are of one account', async () => {
  await using app = await openTestApp({ now })
  const owner = await aPerson(app)
  await anInvoice(app)
  const empty = await figures(app, owner)
  expect(empty.basic).toMatchObject({
    currency: 'INR',
    ageing: { notDue: 0, to30: 0, to60: 0, to90: 0, over90: 0 },
    daysLate: { mean: null, onTime: null, paid: 0, clients: [] },
    latePayers: [],
  })
  expect(empty.advanced).toMatchObject({ dso: null, cei: null, trend: [], forecast: [], laterOrNever: null, effect: [] })
  const { _id: id } = await anInvoice(app, { owner, amount: 100, issuedOn: '2026-01-10', dueDate: '2026-02-10' })
  expect((await figures(app, owner)).basic.ageing).toMatchObject({ to30: 0, to60: 100 })
  // What is paid at the instant of its creation has no known day.
  app.clock.advance({ minutes: 1 })
  const pay = (body: { amount: number; kind?: 'refund'; paidOn: string }) => ask(app, owner, paymentCalls.record, { params: { id }, body })
  await pay({ amount: 40, paidOn: '2026-02-01' })
  expect((await figures(app, owner)).basic.ageing.to60).toBe(60)
  await pay({ amount: 60, paidOn: '2026-02-14' })
  expect((await figures(app, owner)).basic).toMatchObject({ ageing: { to60: 0 }, daysLate: { mean: 4, onTime: 0, paid: 1 } })
  await pay({ amount: 10, kind: 'refund', paidOn: '2026-03-01' })
  const { basic, advanced } = await figures(app, owner)
  expect(basic).toMatchObject({ ageing: { to60: 10 }, daysLate: { paid: 0 }, latePayers: [{ overdue: 10 }] })
  expect(advanced.trend.slice(-3)).toMatchObject([
    { month: '2026-01', receivables: 100, cei: null },
    { month: '2026-02', receivables: 0, cei: 100 },
    { month: '2026-03', receivables: 10 },
  ])
  await ask(app, owner, invoiceCalls.update, { params: { id }, body: { issuedOn: '2025-11-30' } })
  expect((await figures(app, owner)).advanced.trend.at(-4)).toMatchObject({ month: '2025-12', receivables: 100 })
  app.clock.set('2026-03-21T09:00:00Z')
  await ask(app, owner, invoiceCalls.remove, { params: { id } })
  expect((await figures(app, owner)).basic.latePayers).toEqual([])
})

test('invoices imported as paid are invoiced and not open, but neither late nor received this month', async () => {
  await using app = await openTestApp({ now })
  const owner = await aPerson(app)
  const line = (nth: number, more: object) => ({
    clientName: 'Old',
    clientEmail: 'old@example.com',
    amount: 1000,
    issuedOn: '2025-12-10',
    dueDate: '2026-01-10',
    status: 'paid' as const,
    reference: `Z-${nth}`,
    ...more,
  })
  const part = { status: 'overdue' as const, amountPaid: 400 }
  const notDue = { issuedOn: '2026-03-10', dueDate: '2026-04-10' }
  const lines = [...[1, 2, 3, 4].map((nth) => line(nth, {})), line(5, part), line(6, notDue)]
  expect((await ask(app, owner, invoiceCalls.import, { body: { lines, source: 'zoho' } })).reply.imported).toBe(6)
  const { basic, advanced } = await figures(app, owner)
  expect(basic.daysLate).toEqual({ mean: null, onTime: null, paid: 0, clients: [] })
  // What is open of 6,000 that were invoiced: 600. Each was open until its due date, or until it was imported.
  expect(advanced.trend.slice(-4)).toEqual([
    { month: '2025-12', receivables: 5000, dso: null, cei: null, onTime: null },
    { month: '2026-01', receivables: 1000, dso: null, cei: 80, onTime: null },
    { month: '2026-02', receivables: 1000, dso: 65.2, cei: 0, onTime: null },
    { month: '2026-03', receivables: 600, dso: 12, cei: 70, onTime: null },
  ])
  const received = async () => (await ask(app, owner, accountCalls.stats)).reply.receivedThisMonth
  expect(await received()).toBe(0)
  // A payment that a later import of the file brings is one since then.
  const again = { lines: [line(5, { ...part, amountPaid: 700 })], source: 'zoho', onExisting: 'update' as const }
  app.clock.set('2026-03-21T09:00:00Z')
  await ask(app, owner, invoiceCalls.import, { body: again })
  expect(await received()).toBe(300)
  await ask(app, owner, invoiceCalls.import, { body: { ...again, lines: [line(5, {})] } })
  expect([await received(), (await figures(app, owner)).basic.daysLate]).toEqual([600, expect.objectContaining({ mean: 70, paid: 1 })])
})

const mailed = (invoice: SQL, days: SQL) => sql`
  WITH mail AS (
    INSERT INTO deliveries (id, owner_id, run_id, client_email, state, created_at, next_try_at, deadline_at, sent_at)
    SELECT gen_random_uuid(), r.owner_id, r.id, i.id::text, 'sent', at, at, at, at
    FROM runs r, invoices i, ${days} d, LATERAL (SELECT (i.due_date + d)::timestamp + interval '4 hours' AS at) x WHERE ${invoice} RETURNING *)
  INSERT INTO delivery_invoices (owner_id, delivery_id, invoice_id, open) SELECT owner_id, id, client_email::uuid, false FROM mail`

test('reminder effect counts what was paid after an email and before the next, and gives shares from 20 emails on', async () => {
  await using app = await openTestApp({ now })
  const owner = await aPerson(app)
  const due = '2026-01-10'
  // Emails on day 1, 4 and 6; paid on day 3 (10), 5 (5), 6 (4: that of day 6), 9 (2), not at all (4).
  const paid = [...Array(10).fill(3), ...Array(5).fill(5), ...Array(4).fill(6), ...Array(2).fill(9), ...Array(4).fill(null)] as (
    | number
    | null
  )[]
  await keep(
    app,
    owner,
    paid.map((day) => ({
      client: 'a@example.com',
      currency: 'INR',
      minor: 100,
      issued: '2026-01-01',
      due,
      payments: day === null ? [] : [{ on: Temporal.PlainDate.from(due).add({ days: day }).toString(), minor: 100 }],
    })),
  )
  const at = app.clock.now().toString()
  await app.db.execute(
    sql`INSERT INTO runs (id, owner_id, kind, local_date, created_at, deadline_at) VALUES (gen_random_uuid(), ${owner.id}::uuid, 'daily', ${due}, ${at}, ${at})`,
  )
  const mine = sql`i.owner_id = ${owner.id}::uuid AND r.owner_id = i.owner_id`
  // One that came back does not count.
  await app.db.execute(mailed(mine, sql`unnest(ARRAY[4])`))
  await app.db.execute(sql`UPDATE deliveries SET bounced_at = sent_at`)
  await app.db.execute(mailed(mine, sql`unnest(ARRAY[1])`))
  await app.db.execute(mailed(sql`${mine} AND (i.paid_on IS NULL OR i.paid_on >= i.due_date + 6)`, sql`unnest(ARRAY[6])`))
  await app.db.execute(sql`UPDATE invoices SET reminders_sent = 1`)
  expect((await figures(app, owner)).advanced.effect).toEqual([
    { n: 1, sent: 25, within3: 10, within7: 15, interval: { within3: [23.4, 59.3], within7: [40.7, 76.6] } },
    { n: 2, sent: 10, within3: 6, within7: 6, interval: null },
  ])
})

test('a promise is kept if the invoice is paid by the end of its day; one replaced in time does not count', async () => {
  await using app = await openTestApp({ now })
  const owner = await aPerson(app)
  const line = (payments: Paid[], client = 'a@example.com'): Line => ({
    client,
    currency: 'INR',
    minor: 100,
    issued: '2026-01-01',
    due: '2026-01-10',
    payments,
  })
  await keep(app, owner, [
    line([{ on: '2026-02-01', minor: 100 }]),
    line([{ on: '2026-02-06', minor: 100 }]),
    line([], 'b@example.com'),
    line([{ on: '2026-02-01', minor: 100 }]),
    line([]),
  ])
  const promise = (nth: number, date: string, state: string, closed: string | null) =>
    app.db.execute(sql`INSERT INTO pay_answers (id, owner_id, invoice_id, kind, at, date, state, closed_at)
      SELECT gen_random_uuid(), owner_id, id, 'promise', '2026-01-20T10:00:00Z', ${date}, ${state}, ${closed}::timestamptz FROM invoices
      WHERE owner_id = ${owner.id}::uuid AND reference = ${`INV-${nth}`}`)
  await promise(0, '2026-02-01', 'ended', '2026-02-01T10:00:00Z')
  await promise(1, '2026-02-01', 'ended', '2026-02-06T10:00:00Z')
  await promise(2, '2026-03-18', 'accepted', '2026-03-01T10:00:00Z')
  await promise(3, '2026-02-02', 'replaced', '2026-01-25T10:00:00Z')
  // Taken back in time, and not over yet.
  await promise(4, '2026-02-02', 'ended', '2026-01-25T10:00:00Z')
  await promise(4, '2026-03-20', 'open', null)
  const { promises } = (await figures(app, owner)).advanced
  expect(promises).toMatchObject({ kept: 1, broken: 2, meanDaysOver: 3.5 })
  expect(promises.clients.map(({ email, kept, broken, meanDaysOver }) => [email, kept, broken, meanDaysOver])).toEqual([
    ['a@example.com', 1, 1, 5],
    ['b@example.com', 0, 1, 2],
  ])
})

test('the forecast needs 20 paid invoices, and is the same each time', async () => {
  await using app = await openTestApp({ now })
  const owner = await aPerson(app)
  const lines = (count: number, paidAfter: number | null): Line[] =>
    Array.from({ length: count }, (_none, nth) => {
      const due = today.subtract({ days: paidAfter === null ? nth : 60 + nth })
      return {
        client: 'a@example.com',
        currency: 'INR',
        minor: 10_000,
        issued: due.subtract({ days: 14 }).toString(),
        due: due.toString(),
        payments: paidAfter === null ? [] : [{ on: due.add({ days: paidAfter }).toString(), minor: 10_000 }],
      }
    })
  await keep(app, owner, [...lines(19, 10), ...lines(10, null)])
  expect((await figures(app, owner)).advanced).toMatchObject({ forecast: [], expected: null, laterOrNever: null, learned: { paid: 19 } })
  const another = await aPerson(app)
  await keep(app, another, [...lines(40, 10), ...lines(10, null)])
  const { advanced } = await figures(app, another)
  expect(advanced.forecast.map(({ week }) => week)).toHaveLength(8)
  expect(advanced.forecast[0]?.week).toBe('2026-03-20')
  const { median = 0, low = 0, high = 0 } = advanced.expected ?? {}
  expect(low).toBeLessThanOrEqual(median)
  expect(median).toBeLessThanOrEqual(high)
  // All were paid on the tenth day, and none of these is older.
  expect(median).toBeGreaterThan(800)
  expect(median + (advanced.laterOrNever ?? 0)).toBe(1000)
  app.clock.set('2026-03-20T09:30:00Z')
  expect((await figures(app, another)).advanced.forecast).toEqual(advanced.forecast)
})

test('Free sees ageing, days late and ten late payers; the rest needs Pro', async () => {
  await using app = await openTestApp({
    now,
    config: {
      razorpay: {
        keyId: 'rzp_test_1',
        keySecret: 'secret',
        webhookSecret: null,
        apiUrl: 'http://127.0.0.1:9',
        checkoutUrl: 'http://127.0.0.1:9',
      },
    },
  })
  const owner = await aPerson(app)
  for (let nth = 0; nth < 11; nth += 1) await anInvoice(app, { owner, clientEmail: `client${nth}@example.com`, amount: 100 + nth })
  const calls = [insightCalls.advanced, insightCalls.clients] as const
  // The first 14 days have every Pro feature.
  for (const call of calls) expect((await ask(app, owner, call)).status).toBe(200)
  app.clock.set('2026-04-20T09:00:00Z')
  const later = await signedInAgain(app, owner)
  expect((await ask(app, later, billingCalls.subscription)).reply.entitlements.abilities).toEqual([])
  const { status, reply } = await ask(app, later, insightCalls.read)
  expect([status, reply.latePayers.length, reply.latePayers[0]?.overdue]).toEqual([200, 10, 110])
  for (const call of calls)
    expect((await ask(app, later, call)).problem).toMatchObject({
      code: 'plan_limit',
      message: 'Advanced analytics need Pro: choose it under Pricing.',
    })
  expect((await ask(app, later, insightCalls.export, { query: { what: 'ageing' } })).problem?.code).toBe('plan_limit')
})

test('each chart is a CSV file', async () => {
  await using app = await openTestApp({ now })
  const owner = await aPerson(app)
  await anInvoice(app, { owner, clientName: '=HYPERLINK("x")', amount: 1234.5, dueDate: '2026-02-01' })
  const file = async (what: string) => {
    const answered = await app.app.inject({
      url: insightCalls.export.path,
      query: { what },
      headers: { authorization: `Bearer ${owner.token}` },
    })
    expect(answered.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="duely-${what}-2026-03-20.csv"`,
    })
    return answered.body.split('\r\n')
  }
  expect((await file('ageing'))[3]).toBe('"INR","31–60 days late",1234.50,1')
  expect((await file('clients'))[1]).toBe(`"'=HYPERLINK(""x"")","billing@kaveri.example","INR",1234.50,1234.50,0,,`)
  expect((await file('trend')).at(-2)).toMatch(/^"INR","2026-03",1234.50,,/)
  for (const what of ['effect', 'forecast', 'promises']) expect(await file(what)).toHaveLength(2)
  expect((await ask(app, owner, insightCalls.export, { query: { what: 'all' as 'ageing' } })).status).toBe(400)
})
