import { lt, sql } from 'drizzle-orm'
import { z } from 'zod'
import { type Database, preparedRows } from '#server/platform/database.ts'
import { webhookHosts } from './tables.ts'
import { isZapiers, type WebhookRow } from './webhooks.ts'

/** At most ten calls a second to a host: they leave this far apart, in ms. */
const apart = 100
/** A host whose next free turn is later than this, in ms, has no turn: it is asked for again. */
const furthest = 2_000
/** Hosts that were not called for this long are forgotten. */
const kept = sql`interval '1 hour'`

/**
 * Takes the next turn of a webhook's host, over all accounts and processes; returns in how many ms it is, or null where that is too far away.
 * Zapier's turns are counted by account: it makes its addresses itself, limits their use, and has those of every customer on one host.
 */
export async function takeTurn(db: Database, { url, ownerId }: Pick<WebhookRow, 'url' | 'ownerId'>): Promise<number | null> {
  const host = hostKey({ url, ownerId })
  const gap = sql`make_interval(secs => ${apart}::float8 / 1000)`
  const [turn] = await preparedRows(
    db,
    z.object({ wait: z.number() }),
    // One further ahead than a minute is of a clock that was set back since.
    sql`INSERT INTO hook_hosts AS h (host, next_call_at) VALUES (${host}, clock_timestamp() + ${gap})
        ON CONFLICT (host) DO UPDATE SET next_call_at = ${gap} +
          CASE WHEN h.next_call_at > clock_timestamp() + interval '1 minute' THEN clock_timestamp()
               ELSE greatest(h.next_call_at, clock_timestamp()) END
        WHERE NOT h.next_call_at BETWEEN clock_timestamp() + make_interval(secs => ${furthest}::float8 / 1000)
          AND clock_timestamp() + interval '1 minute'
        RETURNING (extract(epoch FROM next_call_at - clock_timestamp()) * 1000)::float8 AS wait`,
  )
  return turn ? Math.max(0, turn.wait - apart) : null
}

/** What shares a host's turns. */
export function hostKey({ url, ownerId }: Pick<WebhookRow, 'url' | 'ownerId'>): string {
  const { hostname } = new URL(url)
  return isZapiers(url) ? `${hostname} ${ownerId}` : hostname
}

/** Called by a worker. */
export async function pruneWebhookHosts(db: Database): Promise<void> {
  await db.delete(webhookHosts).where(lt(webhookHosts.nextCallAt, sql`now() - ${kept}`))
}
