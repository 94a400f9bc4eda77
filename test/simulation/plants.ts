import type { Tamper, TamperCommit } from './process.ts'

/** A fault that is planted between the program and the database: the program has no branch for it. */
export interface Plant {
  name: string
  tamper?: Tamper
  tamperCommit?: TamperCommit
}

const replaced =
  (where: RegExp, by: string): Tamper =>
  (statement) =>
    where.test(statement) ? { text: statement.replaceAll(new RegExp(where, 'g'), by) } : null

/** A check that is written otherwise by now must not stay in unseen. */
function without(statement: string, check: string): string {
  if (!statement.includes(check)) throw new Error(`There is no "${check}" in: ${statement}`)
  return statement.replace(check, '')
}

const lost =
  (where: RegExp): Tamper =>
  (statement) =>
    where.test(statement) ? 'lost' : null

/** What each kind of mistake in the program would look like in its statements. */
export const plants: Plant[] = [
  {
    name: 'a claim without its check',
    tamper: (statement) =>
      statement.includes("SET state = 'sending'")
        ? {
            text: without(
              without(statement, "coalesce(d.state, '') IN ('queued', 'retrying') AND"),
              'AND now.source = coalesce(w.source, d.rendered_from)',
            ),
          }
        : null,
  },
  {
    name: 'a lost commit',
    tamperCommit: (statements) => (statements.some((one) => one.includes('INSERT INTO "invoice_payments"')) ? 'lost' : null),
  },
  {
    name: 'a reminder counted twice',
    tamper: replaced(/reminders_sent = i\.reminders_sent \+ 1/, 'reminders_sent = i.reminders_sent + 2'),
  },
  { name: 'a lease that never expires', tamper: replaced(/lease_until < now\(\) OR/, 'false OR') },
  { name: 'a payment seen too late', tamper: replaced(/i\.status <> 'paid'/, 'true') },
  { name: 'a pause that is ignored', tamper: replaced(/i\.paused_at IS NOT NULL/, 'false') },
  { name: 'a retry without its idempotency key', tamper: replaced(/"invoice_payments"\."request_key" = (\$\d+)/, '$1::text IS NULL') },
  { name: 'an answer of a mail server that is not recorded', tamper: lost(/SET state = 'sent', sent_at = /) },
  { name: 'an answer of a receiver that is not recorded', tamper: lost(/^update "hook_deliveries" set "state"/) },
  { name: 'an event that is queued for no webhook', tamper: lost(/^insert into "hook_deliveries"/) },
  { name: 'a day without a run', tamper: replaced(/SET next_run_at = n\.at/, "SET next_run_at = n.at + interval '1 day'") },
  {
    name: 'a past-due invoice without a decision',
    tamper: replaced(/FROM decided WHERE decision <> 'write'/, "FROM decided WHERE decision = 'address_held'"),
  },
]
