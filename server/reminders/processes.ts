import { sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Instant } from '#server/platform/clock.ts'
import { changed, type Database, rows } from '#server/platform/database.ts'
import { texts } from './texts.ts'

/** A heartbeat this often, dead after this long, by the database's clock. */
export const heartbeatSeconds = 5
const deadSeconds = 20
/** A process that reached the database for this long without a gap can tell a dead process from one silenced by the same outage. */
const steadySeconds = 2 * heartbeatSeconds

/** Registers a process that starts to send. */
export async function registerProcess(db: Database, id: string): Promise<void> {
  await db.execute(sql`INSERT INTO processes (id) VALUES (${id}::uuid) ON CONFLICT (id) DO NOTHING`)
}

/** Shows that a process is alive; a gap in its heartbeat makes it unsteady. One that was pruned as dead registers again. */
export async function beat(db: Database, id: string): Promise<void> {
  await db.execute(sql`
    INSERT INTO processes (id) VALUES (${id}::uuid)
    ON CONFLICT (id) DO UPDATE SET heartbeat_at = now(),
      steady_since = CASE WHEN processes.heartbeat_at < now() - make_interval(secs => ${2 * heartbeatSeconds}) THEN now() ELSE processes.steady_since END`)
}

/**
 * Reclaims what dead processes were sending: these emails are sent again, the same bytes under the same Message-ID, because it is unknown
 * whether the server accepted them. Only a process whose own heartbeat had no gap for a while may decide: after an outage of the database
 * every heartbeat is old.
 */
export async function reclaimDead(db: Database, id: string): Promise<number> {
  const freed = await changed(
    db,
    sql`UPDATE deliveries d SET state = 'queued', claimed_by = NULL, claim = NULL
        WHERE d.state = 'sending'
          AND NOT EXISTS (SELECT 1 FROM processes p WHERE p.id = d.claimed_by AND p.heartbeat_at > now() - make_interval(secs => ${deadSeconds}) AND p.heartbeat_at < now() + interval '1 minute')
          AND EXISTS (SELECT 1 FROM processes me WHERE me.id = ${id}::uuid AND me.steady_since < now() - make_interval(secs => ${steadySeconds}))`,
  )
  await db.execute(sql`
    DELETE FROM processes p WHERE p.heartbeat_at < now() - interval '1 day' AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.claimed_by = p.id)`)
  return freed
}

/** The embedded database belongs to one process, so claims found when it opens have no owner. */
export async function reclaimAll(db: Database): Promise<number> {
  await db.execute(sql`DELETE FROM processes`)
  return changed(db, sql`UPDATE deliveries SET state = 'queued', claimed_by = NULL, claim = NULL WHERE state = 'sending'`)
}

/** An orderly end: what could not be recorded counts as unknown and is sent again. */
export async function releaseProcess(db: Database, id: string): Promise<void> {
  await db.execute(
    sql`UPDATE deliveries SET state = 'queued', claimed_by = NULL, claim = NULL WHERE state = 'sending' AND claimed_by = ${id}::uuid`,
  )
  await db.execute(sql`DELETE FROM processes WHERE id = ${id}::uuid`)
}

/** How long a missing tick, and an overdue run, are tolerated before they are reported. */
const tickMinutes = 5
const runMinutes = 30

/** Records that a process checked which accounts are due, and made their runs. */
export async function recordTick(db: Database, id: string): Promise<void> {
  await db.execute(sql`UPDATE processes SET ticked_at = now() WHERE id = ${id}::uuid`)
}

/** What keeps reminders from being sent on time; null while all is well. The dead-man's switch of the health check and the screens. */
export async function findTrouble(db: Database, now: Instant): Promise<string | null> {
  const late = now.subtract({ minutes: runMinutes }).toString()
  const [found] = await rows(
    db,
    z.object({ silent: z.boolean(), overdue: z.number() }),
    sql`SELECT NOT EXISTS (SELECT 1 FROM processes WHERE ticked_at > now() - make_interval(mins => ${tickMinutes}))
            AND coalesce((SELECT min(started_at) FROM processes) < now() - make_interval(mins => ${tickMinutes}), true) AS silent,
          (SELECT count(*)::int FROM (SELECT 1 FROM accounts WHERE next_run_at < ${late}::timestamptz LIMIT 1000) waiting) AS overdue`,
  )
  if (found?.silent) return texts.trouble.noWorker(tickMinutes)
  if (found && found.overdue > 0) return texts.trouble.lateRuns(found.overdue, runMinutes)
  return null
}
