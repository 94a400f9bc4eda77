import { readdirSync, readFileSync } from 'node:fs'
import { sql } from 'drizzle-orm'
import { createAccount } from '#server/accounts/accounts.ts'
import { signAccessToken } from '#server/accounts/sessions.ts'
import { sessions } from '#server/accounts/tables.ts'
import { newId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import { query } from '#test/postgres.ts'

export const secretKey = 'a secret key for measuring, 32 characters'
/** For `openCluster`: counts statements. */
export const counting = 'shared_preload_libraries=pg_stat_statements'

export interface Owner {
  id: string
  email: string
  sessionId: string
  authorization: string
}

/** A signed-in account with that many overdue invoices, and no mailbox. */
export async function addOwner(db: Database, email: string, invoices: number, passwordHash: string | null): Promise<Owner> {
  const now = Temporal.Now.instant()
  const { id } = await createAccount(
    db,
    { displayName: 'Asha Rao', email, timezone: 'Asia/Kolkata', passwordHash, emailVerifiedAt: now },
    now,
  )
  const sessionId = newId()
  await db.insert(sessions).values({ id: sessionId, ownerId: id, refreshHash: sessionId, rotatedAt: now, createdAt: now, lastSeenAt: now })
  await db.execute(sql`
    INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, status, created_at, updated_at)
    SELECT gen_random_uuid(), ${id}::uuid, 'INV-' || n, 'Kaveri Foods ' || n, 'billing' || n || '@kaveri.example', 500000 + n, current_date - 10, 'overdue', now() - n * interval '1 second', now() FROM generate_series(1, ${invoices}::int) n`)
  return { id, email, sessionId, authorization: `Bearer ${await signAccessToken(secretKey, sessionId, now)}` }
}

/** How many statements a server with `counting` has run in the database at `url`, BEGIN and COMMIT included. */
export async function statementsAt(url: string): Promise<number> {
  await query(url, 'CREATE EXTENSION IF NOT EXISTS pg_stat_statements')
  const [found] = await query<{ count: number }>(
    url,
    `SELECT coalesce(sum(calls), 0)::float8 AS count FROM pg_stat_statements
     WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND query NOT LIKE '%pg_stat_statements%'`,
  )
  return found?.count ?? 0
}

/** What `/proc` says of a process, its times in ms: it counts in hundredths of a second. */
function processOf(pid: number | string): { parent: number; own: number; ended: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ').map(Number) ?? []
  const [, parent = 0, , , , , , , , , , user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields
  return { parent, own: (user + system) * 10, ended: (endedUser + endedSystem) * 10 }
}

/** CPU of a process so far, in ms. */
export const cpuMs = (pid: number | string) => processOf(pid).own

/** CPU so far of the PostgreSQL server at `url`, in ms, with its processes that have ended. */
export function cpuOfServer(url: string): number {
  const servers = readdirSync('/proc').flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid) || readFileSync(`/proc/${pid}/comm`, 'utf8') !== 'postgres\n') return []
      return [
        {
          pid: Number(pid),
          first: readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`\0-p\0${new URL(url).port}\0`),
          ...processOf(pid),
        },
      ]
    } catch {
      // It has ended meanwhile.
      return []
    }
  })
  const first = servers.find((one) => one.first)
  return servers.reduce((sum, one) => sum + (one.parent === first?.pid ? one.own : 0), (first?.own ?? 0) + (first?.ended ?? 0))
}

/** Memory of a process, in MB. */
export function residentMb(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes ?? 0) / 1024
}

/** The value below which this share of all values lies. */
export function quantile(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0
}
