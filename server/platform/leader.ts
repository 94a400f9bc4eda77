import { sql } from 'drizzle-orm'
import type { Timers } from './clock.ts'
import { changed, type Database } from './database.ts'

/** Another process may lead after this long without renewal, by the database's clock. */
const leaseSeconds = 10
/** How long, in ms, an answer is believed without asking again. */
const believed = 3_000

/** Whether this process does the polling that only one process at a time needs to do. */
export interface Leadership {
  /** A process that was frozen may believe it for a moment after another one leads: what is done under it must bear being done twice. */
  leads(): Promise<boolean>
  /** Gives it up, so that another process takes over immediately. */
  release(): Promise<void>
}

/** One row with a lease by the database's clock. `soleProcess`: no other process can be on this database. */
export function openLeadership(about: { db: Database; processId: string; soleProcess: boolean; timers: Timers }): Leadership {
  const { db, processId, soleProcess, timers } = about
  let known: { leads: boolean; at: number } | null = null
  let asking: Promise<boolean> | null = null
  const ask = async (): Promise<boolean> => {
    const at = timers.elapsed()
    // A lease from a clock that was set back since is ignored.
    const count = await changed(
      db,
      sql`INSERT INTO leases (name, process_id, until) VALUES ('polling', ${processId}::uuid, now() + make_interval(secs => ${leaseSeconds}::int))
          ON CONFLICT (name) DO UPDATE SET process_id = excluded.process_id, until = excluded.until
          WHERE leases.process_id = excluded.process_id OR leases.until < now() OR leases.until > excluded.until + interval '1 minute'`,
    )
    known = { leads: count > 0, at }
    return known.leads
  }
  return {
    async leads() {
      if (soleProcess) return true
      if (known && timers.elapsed() - known.at < believed) return known.leads
      asking ??= ask().finally(() => {
        asking = null
      })
      return asking
    },
    async release() {
      if (!soleProcess) await db.execute(sql`DELETE FROM leases WHERE process_id = ${processId}::uuid`)
    },
  }
}
