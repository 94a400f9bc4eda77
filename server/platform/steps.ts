import { sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Timers } from './clock.ts'
import { type Database, rows } from './database.ts'
import type { Leadership } from './leader.ts'
import type { Log } from './log.ts'
import { type Repeating, repeat } from './repeat.ts'

/** A step is late after this long, in seconds, or after three turns without success. */
const lateAfter = 300
/** How often, in ms, a success is recorded. */
const recordEvery = 30_000

/**
 * `everywhere`: in every process; else only in the one that leads. A turn may return a shorter wait in ms. One that may last for minutes calls
 * `progressed` meanwhile, which counts as a success.
 */
export interface Step {
  name: string
  everySeconds: number
  everywhere?: boolean
  run(progressed: () => Promise<void>): Promise<number | void>
}

/** Repeats steps independently of each other, so that a slow or failing one delays no other, and records when each last succeeded. */
export function repeatSteps(about: { pulse: Database; leadership: Leadership; log: Log; timers: Timers }, all: Step[]): Repeating[] {
  const { log, timers } = about
  return all.map(({ name, everySeconds, everywhere = false, run }) => {
    let recordedAt = Number.NEGATIVE_INFINITY
    const record = async () => {
      if (timers.elapsed() - recordedAt <= recordEvery) return
      recordedAt = timers.elapsed()
      await recordStep(about.pulse, name, Math.max(lateAfter, 3 * everySeconds))
    }
    return repeat(name, { everySeconds, log, timers }, async () => {
      if (!everywhere && !(await about.leadership.leads())) return
      const wait = await run(record)
      await record()
      return wait
    })
  })
}

export async function recordStep(db: Database, name: string, lateAfterSeconds: number): Promise<void> {
  await db.execute(sql`
    INSERT INTO steps (name, succeeded_at, late_at) VALUES (${name}, now(), now() + make_interval(secs => ${lateAfterSeconds}::int))
    ON CONFLICT (name) DO UPDATE SET succeeded_at = now(), late_at = excluded.late_at`)
}

/** Which steps have not succeeded for too long, in a sentence for the operator; null while all have. */
export async function findLateSteps(db: Database): Promise<string | null> {
  const late = await rows(
    db,
    z.object({ name: z.string(), minutes: z.number() }),
    // One that this version no longer has is forgotten after a day.
    sql`SELECT name, (extract(epoch FROM now() - succeeded_at) / 60)::int AS minutes FROM steps WHERE late_at BETWEEN now() - interval '1 day' AND now() ORDER BY late_at LIMIT 10`,
  )
  if (late.length === 0) return null
  return `Background work is late: ${late.map(({ name, minutes }) => `${name} has not succeeded for ${minutes} minutes`).join(', ')}. The log has the errors.`
}
