// Also on PostgreSQL: the statement sorts by text and compares addresses without case.
import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { lockAccount } from '#server/accounts/accounts.ts'
import { accounts } from '#server/accounts/tables.ts'
import { invoices } from '#server/invoices/tables.ts'
import { newId } from '#server/platform/columns.ts'
import { aPerson, type Person, payInFull } from '#test/factories.ts'
import { openTestApp, type TestApp } from '#test/harness.ts'
import { seeded } from '#test/seeded.ts'
import { times } from '#test/thorough.ts'
import { makeDueRuns } from './daily-runs.ts'
import { makeRun } from './runs.ts'
import { decisions, deliveries, deliveryInvoices, runs } from './tables.ts'

/** Nine o'clock in India. */
const nine = '2026-03-02T03:30:00Z'

/** The same invoices, pauses, earlier emails and decisions for every account with this seed. */
async function fill(app: TestApp, owner: Person, seed: number): Promise<void> {
  const random = seeded(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const at = Temporal.Instant.from('2026-02-20T10:00:00Z')
  const ago = (hours: number) => Temporal.Instant.from(nine).subtract({ hours })
  await app.db
    .update(accounts)
    .set({ groupByClient: below(2) === 0, holdMinutes: seed % 3 === 0 ? 10 : 0 })
    .where(eq(accounts.id, owner.id))
  const earlier = { ownerId: owner.id, createdAt: ago(40), deadlineAt: ago(-8), plannedAt: ago(40) }
  const [run] = await app.db
    .insert(runs)
    .values({ ...earlier, kind: below(2) === 0 ? ('daily' as const) : ('start' as const), localDate: '2026-03-01' })
    .returning()
  for (let nth = 0; nth < below(12); nth += 1) {
    const client = below(4)
    const reminded = below(4)
    const [invoice] = await app.db
      .insert(invoices)
      .values({
        id: newId(),
        ownerId: owner.id,
        reference: `INV-${nth}`,
        clientName: `Client ${client}`,
        clientEmail: `${below(2) === 0 ? 'Client' : 'client'}${client}@example.com`,
        amountMinor: 100,
        currency: below(3) === 0 ? 'EUR' : 'INR',
        issuedOn: '2026-01-01',
        dueDate: `2026-0${2 + below(2)}-0${1 + below(6)}`,
        status: 'overdue' as const,
        paidAt: null,
        pausedAt: below(5) === 0 ? at : null,
        pausedUntil: below(2) === 0 ? null : `2026-03-0${1 + below(4)}`,
        pauseNote: below(2) === 0 ? '' : 'Talking',
        // Today, yesterday, or long ago.
        lastReminderAt: reminded === 0 ? ago(1) : reminded === 1 ? ago(20) : reminded === 2 ? ago(400) : null,
        deletedAt: below(8) === 0 ? at : null,
        createdAt: at,
        updatedAt: at,
      })
      .returning()
    if (invoice && below(6) === 0) await payInFull(app.db, sql`i.id = ${invoice.id}::uuid`, sql`NULL::timestamptz`)
    if (!run || !invoice || below(4) > 0) continue
    const open = { ownerId: owner.id, clientEmail: invoice.clientEmail, state: 'retrying' as const, createdAt: ago(10), nextTryAt: ago(-1) }
    const [delivery] = await app.db
      .insert(deliveries)
      .values({ ...open, id: newId(), runId: run.id, deadlineAt: ago(-2) })
      .returning()
    if (delivery)
      await app.db.insert(deliveryInvoices).values({ ownerId: owner.id, deliveryId: delivery.id, invoiceId: invoice.id, open: true })
    if (below(2) === 0)
      await app.db
        .insert(decisions)
        .values({ ownerId: owner.id, invoiceId: invoice.id, localDate: '2026-03-02', rule: 'already_reminded', decidedAt: ago(1) })
  }
  if (below(2) === 0)
    await app.db.execute(sql`
      INSERT INTO client_pauses (owner_id, client_key, paused_at, paused_until, pause_note, pause_promised)
      VALUES (${owner.id}::uuid, 'client1@example.com', ${at.toString()}::timestamptz, NULL, 'In court', false)`)
}

/** What was made of it, without ids: the run, each day of each invoice, each email in the order in which it is sent. */
async function outcome(app: TestApp, owner: Person): Promise<object> {
  const of = async (statement: ReturnType<typeof sql>) => ((await app.db.execute(statement)) as { rows: object[] }).rows
  return {
    runs: await of(
      sql`SELECT kind, local_date::text, deadline_at, leaves_at, grouped, skipped, planned_at IS NOT NULL AS planned, skipped_reason FROM runs WHERE owner_id = ${owner.id}::uuid ORDER BY created_at, local_date`,
    ),
    emails: await of(sql`
      SELECT d.client_email, d.currency, d.state, d.deadline_at, d.next_try_at, r.kind, r.local_date::text, (
        SELECT string_agg(i.reference, ' ' ORDER BY i.reference) FROM delivery_invoices di JOIN invoices i ON i.id = di.invoice_id WHERE di.delivery_id = d.id AND di.open) AS invoices
      FROM deliveries d JOIN runs r ON r.id = d.run_id WHERE d.owner_id = ${owner.id}::uuid ORDER BY d.created_at, d.id`),
    days: await of(sql`
      SELECT i.reference, x.local_date::text, x.rule, x.note, x.decided_at, d.created_at AS email FROM decisions x JOIN invoices i ON i.id = x.invoice_id LEFT JOIN deliveries d ON d.id = x.delivery_id
      WHERE x.owner_id = ${owner.id}::uuid ORDER BY i.reference, x.local_date`),
  }
}

// Takes 2 s: 24 accounts are filled.
test('the statement that makes many daily runs decides as `decide` and `plan` do', async () => {
  await using app = await openTestApp({ now: nine })
  const seeds = Array.from({ length: times(8, 1_000) }, (_none, nth) => nth + 1)
  const all: { one: Person; other: Person; planned: Person }[] = []
  for (const seed of seeds) {
    const same = { one: await aPerson(app), other: await aPerson(app), planned: await aPerson(app) }
    for (const person of Object.values(same)) await fill(app, person, seed)
    for (const { id } of [same.one, same.planned])
      await app.db
        .update(accounts)
        .set({ remindersActive: true, nextRunAt: app.clock.now(), nextRunFrom: '2026-03-02', plansSteps: id === same.planned.id })
        .where(eq(accounts.id, id))
    all.push(same)
  }
  await makeDueRuns(app.db, app.deps.queue, app.clock.now())
  for (const { one, other, planned } of all) {
    await app.db.transaction(async (tx) => {
      const account = await lockAccount(tx, other.id)
      if (account) await makeRun(tx, app.deps.queue, account, { kind: 'daily', now: app.clock.now() })
    })
    expect(await outcome(app, one)).toEqual(await outcome(app, other))
    expect(await outcome(app, planned)).toEqual(await outcome(app, other))
  }
})

test('an account whose run cannot be made delays no other, and its error is reported', async () => {
  await using app = await openTestApp({ now: nine })
  const [asha, ravi] = [await aPerson(app), await aPerson(app)]
  for (const { id } of [asha, ravi]) {
    const fields = {
      reference: 'INV-1',
      clientName: 'Kaveri',
      clientEmail: 'k@example.com',
      amountMinor: 100,
      issuedOn: '2026-02-01',
      dueDate: '2026-02-01',
    }
    const at = app.clock.now()
    await app.db.insert(invoices).values({ ...fields, id: newId(), ownerId: id, status: 'overdue', createdAt: at, updatedAt: at })
    await app.db.update(accounts).set({ remindersActive: true, nextRunAt: at, nextRunFrom: '2026-03-02' }).where(eq(accounts.id, id))
  }
  await app.db.update(accounts).set({ timezone: 'Nowhere/Nothing' }).where(eq(accounts.id, asha.id))
  let progress = 0
  const progressed = async () => {
    progress += 1
  }
  await expect(makeDueRuns(app.db, app.deps.queue, app.clock.now(), { progressed })).rejects.toThrow('could not be made')
  expect(progress).toBe(1)
  expect(await app.db.select().from(runs)).toMatchObject([{ ownerId: ravi.id, kind: 'daily' }])
})
