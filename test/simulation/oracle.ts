import type { PGlite } from '@electric-sql/pglite'
import type { AcceptedEmail } from './mail-servers.ts'
import type { Owner } from './people.ts'
import type { AcceptedCall } from './receivers.ts'

/** A promise that was not kept. */
export class Broken extends Error {}

export interface Looked {
  engine: PGlite
  owners: Owner[]
  /** By the machine's clock. */
  now: Temporal.Instant
}

const twoHours = 2 * 3_600_000
const text = (at: Temporal.Instant) => at.toString()

interface Found {
  owner_id: string
  since: number
  until: number
}

/** Statements that find what must not be, each with what it would mean. `$1`: now. `excused`: whether something that owners did explains it. */
const forbidden: { name: string; sql: string; excused?: (found: Found, owners: Owner[]) => boolean }[] = [
  {
    // The clocks of two processes differ by up to 0.8 s. A day on which no process ran has its decisions with the next run.
    name: 'an invoice that was past due at a daily run has no decision for its day',
    sql: `SELECT i.reference, r.local_date::text AS date FROM runs r JOIN invoices i ON i.owner_id = r.owner_id JOIN accounts a ON a.id = r.owner_id
          WHERE r.kind = 'daily' AND r.planned_at IS NOT NULL AND greatest(i.created_at, i.updated_at) < r.created_at - interval '1 second' AND (i.created_at AT TIME ZONE a.timezone)::date <= r.local_date AND i.due_date < r.local_date
            AND i.status <> 'paid' AND i.deleted_at IS NULL AND r.created_at > $1::timestamptz - interval '3 days'
            AND (r.skipped_reason IS NULL OR EXISTS (SELECT 1 FROM runs n WHERE n.owner_id = r.owner_id AND n.kind = 'daily' AND n.local_date > r.local_date AND n.skipped_reason IS NULL))
            AND NOT EXISTS (SELECT 1 FROM decisions d WHERE d.invoice_id = i.id AND d.local_date = r.local_date)`,
  },
  {
    name: 'an account with reminders has no next run, or one too far away',
    sql: `SELECT a.id, a.next_run_at::text FROM accounts a WHERE a.reminders_active
            AND (a.next_run_at IS NULL OR a.next_run_at < $1::timestamptz - interval '10 minutes' OR a.next_run_at > $1::timestamptz + interval '49 hours')`,
  },
  {
    name: 'a day of an account with reminders has neither a run nor a reason',
    sql: `SELECT r.owner_id, (r.local_date + 1)::text AS missing, extract(epoch FROM r.created_at)::float8 * 1000 AS since, extract(epoch FROM later.created_at)::float8 * 1000 AS until
          FROM runs r JOIN runs later ON later.owner_id = r.owner_id AND later.kind = 'daily'
          WHERE r.kind = 'daily' AND later.local_date = (SELECT min(n.local_date) FROM runs n WHERE n.owner_id = r.owner_id AND n.kind = 'daily' AND n.local_date > r.local_date)
            AND later.local_date > r.local_date + 1 AND r.created_at > $1::timestamptz - interval '6 days'
            AND NOT EXISTS (SELECT 1 FROM runs s WHERE s.owner_id = r.owner_id AND s.kind = 'start' AND s.local_date BETWEEN r.local_date AND later.local_date)`,
    // A Start with nothing due leaves no run. The clock may have been set meanwhile.
    excused: ({ owner_id, since, until }, owners) =>
      owners.some(({ id, stopsAsked }) => id === owner_id && stopsAsked.some((at) => at > since - twoHours && at < until + twoHours)),
  },
  {
    name: 'two automatic emails about an invoice were sent on one day',
    sql: `SELECT x.invoice_id, r.local_date::text AS date, count(*)::int AS emails FROM deliveries d JOIN runs r ON r.id = d.run_id
          JOIN delivery_invoices x ON x.delivery_id = d.id
          WHERE d.state = 'sent' AND r.kind = 'daily' AND d.sent_at > $1::timestamptz - interval '3 days' GROUP BY 1, 2 HAVING count(*) > 1`,
  },
  {
    name: 'an email is unfinished after its deadline',
    sql: `SELECT d.id, d.state, d.reason, d.deadline_at::text FROM deliveries d
          WHERE d.state IN ('queued', 'retrying', 'held', 'sending') AND d.deadline_at < $1::timestamptz - interval '10 minutes'`,
  },
  {
    name: 'a finished email keeps its invoices from the next one, or an unfinished one does not',
    sql: `SELECT d.id, d.state FROM deliveries d JOIN delivery_invoices x ON x.delivery_id = d.id
          WHERE x.open <> (d.state IN ('queued', 'sending', 'retrying', 'held'))`,
  },
  {
    name: 'an email failed without a mail server’s answer, before its deadline',
    sql: `SELECT d.id FROM deliveries d WHERE d.state = 'failed' AND d.server_reply IS NULL AND d.deadline_at > $1::timestamptz`,
  },
  {
    name: 'what is paid of an invoice is not the sum of its payments',
    sql: `SELECT i.reference FROM invoices i LEFT JOIN LATERAL (
            SELECT coalesce(sum(CASE p.kind WHEN 'refund' THEN -p.amount_minor ELSE p.amount_minor END), 0) AS sum FROM invoice_payments p
            WHERE p.owner_id = i.owner_id AND p.invoice_id = i.id AND p.voided_at IS NULL) l ON true
          WHERE i.paid_minor <> l.sum OR (i.status = 'paid') <> (i.paid_minor >= i.amount_minor)`,
  },
  {
    name: 'an invoice counts other reminders than were sent about it',
    sql: `SELECT i.reference, i.reminders_sent, count(d.id)::int AS sent FROM invoices i LEFT JOIN delivery_invoices x ON x.invoice_id = i.id
          LEFT JOIN deliveries d ON d.id = x.delivery_id AND d.state = 'sent' GROUP BY i.id HAVING i.reminders_sent <> count(d.id)`,
  },
  {
    name: 'a settled run counts other emails than it has',
    sql: `SELECT r.id, r.sent, r.failed FROM runs r WHERE r.settled_at IS NOT NULL AND r.created_at > $1::timestamptz - interval '3 days' AND EXISTS (
            SELECT 1 FROM deliveries d WHERE d.run_id = r.id AND d.state IN ('queued', 'sending', 'retrying', 'held'))`,
  },
  {
    name: 'the next run of an account is not the next one of its hour',
    sql: `SELECT a.id, a.next_run_at::text FROM accounts a WHERE a.reminders_active AND a.next_run_at > $1::timestamptz + interval '26 hours'
            AND (a.schedule_changed_at IS NULL OR a.schedule_changed_at < $1::timestamptz - interval '3 days')`,
  },
  {
    name: 'a job has a lease that ended long ago, and no process takes it',
    sql: `SELECT name, turn, tries, lease_until::text FROM jobs WHERE turn > 0 AND lease_until < now() - interval '3 minutes' AND not_before < now() - interval '3 minutes'`,
  },
  {
    name: 'an event of an account with a webhook was not written down, or twice',
    sql: `SELECT i.reference, count(e.id)::int AS events FROM invoices i JOIN hooks h ON h.owner_id = i.owner_id
          LEFT JOIN hook_events e ON e.owner_id = i.owner_id AND e.type = 'invoice.created' AND (e.payload LIKE '%' || i.id || '%' OR e.facts::text LIKE '%' || i.id || '%')
          WHERE i.created_at > h.created_at AND i.created_at > $1::timestamptz - interval '2 days' GROUP BY i.id HAVING count(e.id) <> 1`,
  },
  {
    name: 'an event was not queued for its webhook',
    sql: `SELECT e.type, e.happened_at::text FROM hook_events e WHERE e.type <> 'challenge' AND e.happened_at < $1::timestamptz - interval '10 minutes'
            AND NOT EXISTS (SELECT 1 FROM hook_deliveries d WHERE d.event_id = e.id)`,
  },
  {
    name: 'a call of a webhook is due and is not made',
    sql: `SELECT d.attempt, d.next_try_at::text FROM hook_deliveries d JOIN hooks h ON h.id = d.hook_id
          WHERE d.state = 'waiting' AND h.paused_because IS NULL AND d.next_try_at < $1::timestamptz - interval '10 minutes'`,
  },
  { name: 'a job is asked for and no process does it', sql: `SELECT name, key, turn, tries FROM jobs WHERE turn < 0 OR tries > 12` },
]

/** Tables that may have at most so many rows, and so many more for each account. */
const sizes: [table: string, most: number, each: number][] = [
  ['jobs', 20, 12],
  ['processes', 40, 0],
  ['leases', 4, 0],
]

/** What must hold at the end of each simulated day, read from the database. */
export async function checkDatabase({ engine, owners, now }: Looked): Promise<void> {
  for (const { name, sql, excused = () => false } of forbidden) {
    const { rows: found } = await engine.query<Found>(sql, sql.includes('$1') ? [text(now)] : [])
    const rows = found.filter((one) => !excused(one, owners))
    if (rows.length > 0) throw new Broken(`${name}: ${JSON.stringify(rows.slice(0, 3))}`)
  }
  for (const [table, most, each] of sizes) {
    const { rows } = await engine.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`)
    const count = rows[0]?.count ?? 0
    if (count > most + each * owners.length) throw new Broken(`${table} grows: it has ${count} rows`)
  }
  const { rows } = await engine.query<{ id: string; paid: number }>(`SELECT id, paid_minor::float8 AS paid FROM invoices`)
  const stored = new Map(rows.map(({ id, paid }) => [id, paid]))
  for (const { invoices, nth } of owners)
    for (const { id, paid, perhapsPaid, reference, deleted } of invoices) {
      const is = stored.get(id)
      // A deleted invoice is kept for a month.
      if (is === undefined ? !deleted : is < paid * 100 || is > (paid + perhapsPaid) * 100)
        throw new Broken(`${reference} of owner ${nth} was paid ${paid * 100}, and ${is ?? 'nothing'} is stored`)
    }
}

/**
 * What must hold of every email that a mail server accepted. `excused`: whether something between two moments, in elapsed ms, may have kept an answer from being
 * recorded.
 */
export function checkEmails(
  accepted: AcceptedEmail[],
  owners: Owner[],
  excused: (from: AcceptedEmail, to: AcceptedEmail) => boolean,
): void {
  const byInvoice = new Map(owners.flatMap(({ invoices }) => invoices.map((one) => [one.id, one])))
  const firsts = new Map<string, AcceptedEmail>()
  const ofDay = new Map<string, AcceptedEmail>()
  for (const email of accepted) {
    const { about, askedNth } = email
    if (!about) throw new Broken(`an email to ${email.to} left that nothing was written down about`)
    for (const id of about.invoiceIds) {
      const invoice = byInvoice.get(id)
      if (invoice?.quietSince != null && invoice.quietSince < askedNth)
        throw new Broken(`${invoice.reference} was reminded after it was paid, paused or deleted`)
    }
    const first = firsts.get(about.deliveryId)
    if (first) {
      if (!excused(first, email)) throw new Broken(`an email to ${email.to} was repeated, and nothing had happened to its process`)
      if (first.messageId === email.messageId && !first.raw.equals(email.raw))
        throw new Broken(`a repeated email to ${email.to} is another one`)
    } else firsts.set(about.deliveryId, email)
    if (about.kind === 'daily')
      for (const id of about.invoiceIds) {
        const key = `${id} ${about.runDate}`
        const other = ofDay.get(key)
        if (other && other.about?.deliveryId !== about.deliveryId) throw new Broken(`an invoice was reminded twice on ${about.runDate}`)
        ofDay.set(key, email)
      }
  }
}

/** Every email that a server accepted and answered is recorded as sent, and every one recorded as sent was accepted. */
export async function checkRecorded(
  { engine, now }: Looked,
  accepted: AcceptedEmail[],
  everAccepted: Set<string>,
  excused: (email: AcceptedEmail) => boolean,
): Promise<void> {
  const { rows } = await engine.query<{ id: string; state: string }>(
    `SELECT id, state FROM deliveries WHERE attempt > 0 AND created_at > $1::timestamptz - interval '3 days'`,
    [text(now)],
  )
  const states = new Map(rows.map(({ id, state }) => [id, state]))
  for (const email of accepted) {
    const state = email.about && states.get(email.about.deliveryId)
    if (state && email.answered && state !== 'sent' && !excused(email))
      throw new Broken(`an email to ${email.to} was accepted, and is recorded as ${state}`)
  }
  for (const [id, state] of states)
    if (state === 'sent' && !everAccepted.has(id)) throw new Broken('an email is recorded as sent, and no server has it')
}

/** A call is repeated only where its answer was not recorded, and what is recorded as delivered was accepted. */
export async function checkCalls(
  { engine, now }: Looked,
  accepted: AcceptedCall[],
  excused: (from: AcceptedCall, to: AcceptedCall) => boolean,
): Promise<void> {
  const firsts = new Map<string, AcceptedCall>()
  for (const call of accepted) {
    const first = firsts.get(call.eventId)
    if (first && !excused(first, call))
      throw new Broken(`${call.type} was called for twice at ${call.path}, and nothing had happened to its process`)
    firsts.set(call.eventId, call)
  }
  const { rows } = await engine.query<{ event: string }>(
    `SELECT event_id AS event FROM hook_deliveries WHERE state = 'delivered' AND created_at > $1::timestamptz - interval '2 days'`,
    [text(now)],
  )
  for (const { event } of rows) if (!firsts.has(event)) throw new Broken('an event is recorded as delivered, and no receiver has it')
}
