import { sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Instant } from '#server/platform/clock.ts'
import { type Database, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { reclaim, unclaimAll } from './deliveries.ts'
import { texts } from './texts.ts'

/** A heartbeat this often, dead after this long, by the database's clock. */
export const heartbeatSeconds = 5
const deadSeconds = 20
/** A process that reached the database for this long without a gap can tell a dead process from one silenced by the same outage. */
const steadySeconds = 2 * heartbeatSeconds

/** Shows that a process is alive, from its start on; a gap in its heartbeat makes it unsteady. One that was pruned as dead registers again. */
export async function beat(db: Database, id: string): Promise<void> {
  await db.execute(sql`
    INSERT INTO processes (id) VALUES (${id}::uuid)
    ON CONFLICT (id) DO UPDATE SET heartbeat_at = now(),
      steady_since = CASE WHEN processes.heartbeat_at < now() - make_interval(secs => ${2 * heartbeatSeconds}) THEN now() ELSE processes.steady_since END`)
}

/**
 * Reclaims what dead processes had in hand. Only a process whose own heartbeat had no gap for a while, nor has one now, may decide: after an
 * outage of the database, or a sleep of the machine, every heartbeat is old. Returns how many emails.
 */
export async function reclaimDead({ db, log, clock, processId }: Reclaiming & { processId: string }): Promise<number> {
  const lost = sql`NOT EXISTS (SELECT 1 FROM processes p WHERE p.id = d.claimed_by AND p.heartbeat_at > now() - make_interval(secs => ${deadSeconds}) AND p.heartbeat_at < now() + interval '1 minute')
    AND EXISTS (SELECT 1 FROM processes me WHERE me.id = ${processId}::uuid
      AND me.steady_since < now() - make_interval(secs => ${steadySeconds}) AND me.heartbeat_at > now() - make_interval(secs => ${steadySeconds}))`
  const freed = logSetAside(log, await reclaim(db, lost, clock.now()))
  await db.execute(sql`
    DELETE FROM processes p WHERE p.heartbeat_at < now() - interval '1 day' AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.claimed_by = p.id)`)
  return freed
}

/** The embedded database belongs to one process, so claims found when it opens have no owner. Returns how many emails. */
export async function reclaimAll({ db, log, clock }: Reclaiming): Promise<number> {
  await db.execute(sql`DELETE FROM processes`)
  return logSetAside(log, await reclaim(db, sql`true`, clock.now()))
}

type Reclaiming = Pick<Deps, 'db' | 'log' | 'clock'>

function logSetAside(log: Deps['log'], reclaimed: Awaited<ReturnType<typeof reclaim>>): number {
  for (const { id, ownerId, setAside } of reclaimed)
    if (setAside) log.error({ deliveryId: id, ownerId }, 'An email was in hand at three deaths of a process and is set aside.')
  return reclaimed.length
}

/** An orderly end. */
export async function releaseProcess(db: Database, id: string): Promise<void> {
  await unclaimAll(db, id)
  await db.execute(sql`DELETE FROM processes WHERE id = ${id}::uuid`)
}

/** How long a missing tick, and an overdue run, are tolerated before they are reported. */
export const tickMinutes = 5
export const runMinutes = 30

/** Records that a process checked which accounts are due, and made their runs. */
export async function recordTick(db: Database, id: string): Promise<void> {
  await db.execute(sql`UPDATE processes SET ticked_at = now() WHERE id = ${id}::uuid`)
}

/** No process checks for due runs. */
const silent = sql`(NOT EXISTS (SELECT 1 FROM processes WHERE ticked_at > now() - make_interval(mins => ${tickMinutes}))
  AND coalesce((SELECT min(started_at) FROM processes) < now() - make_interval(mins => ${tickMinutes}), true))`

export async function isSilent(db: Database): Promise<boolean> {
  const [found] = await rows(db, z.object({ silent: z.boolean() }), sql`SELECT ${silent} AS silent`)
  return found?.silent ?? false
}

/** What keeps reminders from being sent on time; null while all is well. The dead-man's switch of the health check and the screens. */
export async function findTrouble(db: Database, now: Instant): Promise<string | null> {
  const late = now.subtract({ minutes: runMinutes }).toString()
  const [found] = await rows(
    db,
    z.object({ silent: z.boolean(), overdue: z.number() }),
    sql`SELECT ${silent} AS silent,
          (SELECT count(*)::int FROM (SELECT 1 FROM accounts WHERE next_run_at < ${late}::timestamptz LIMIT 1000) waiting) AS overdue`,
  )
  if (found?.silent) return texts.trouble.noWorker(tickMinutes)
  if (found && found.overdue > 0) return texts.trouble.lateRuns(found.overdue, runMinutes)
  return null
}

const mostListed = 20

const busy = z.object({ email: z.string(), seconds: z.number(), sent: z.number(), failed: z.number(), bytes: z.number() })

/**
 * The accounts whose emails kept connections for the most seconds in the last hour, the busiest first; `failed` are tries that were
 * deferred or refused. Each email counts with its last try.
 */
export function busiestAccounts(db: Database, now: Instant): Promise<z.output<typeof busy>[]> {
  // Ids ascend with time, so that the scan is bounded by the primary key. No email is tried later than two days after it was planned.
  const oldest = now.subtract({ hours: 48 }).epochMilliseconds.toString(16).padStart(12, '0')
  return rows(
    db,
    busy,
    sql`SELECT p.email, (coalesce(sum(d.took_ms), 0) / 1000.0)::float8 AS seconds, count(*) FILTER (WHERE d.state = 'sent')::int AS sent,
          count(*) FILTER (WHERE d.state <> 'sent')::int AS failed, coalesce(sum(octet_length(d.raw)), 0)::float8 AS bytes
        FROM deliveries d JOIN memberships m ON m.owner_id = d.owner_id AND m.role = 'owner' JOIN people p ON p.id = m.person_id
        WHERE d.id > ${`${oldest.slice(0, 8)}-${oldest.slice(8)}-7000-8000-000000000000`}::uuid AND d.tried_at > ${now.subtract({ hours: 1 }).toString()}::timestamptz
        GROUP BY m.owner_id, p.id ORDER BY seconds DESC, p.email LIMIT ${mostListed}`,
  )
}
