import { and, eq, inArray, isNull, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { InvoiceRow } from '#server/invoices/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import { arrayText, type Database, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import type { Log } from '#server/platform/log.ts'
import type { SealedColumn } from '#server/platform/reseal.ts'
import { hashToken, newToken, seal, unseal } from '#server/platform/secrets.ts'
import { cancelAttempts } from './attempts.ts'
import { payAttempts, payLinks } from './tables.ts'

const purpose = 'pay-link'
const placeOf = (id: string) => `pay_links.${id}.sealedToken`
export const sealedPayLinks: SealedColumn = { table: 'pay_links', column: 'sealed_token', key: 'id', purpose, place: placeOf }

/** Whose link is wanted: of one invoice, or of everything of a client (`invoiceId` null). `clientKey`: the address in lower case. */
interface LinkWanted {
  ownerId: string
  invoiceId: string | null
  clientKey: string
}

const keyOf = ({ ownerId, invoiceId, clientKey }: LinkWanted) => invoiceId ?? `${ownerId} ${clientKey}`

/**
 * The address of each link, in the order wanted; links that are missing, revoked, of an earlier address of the client or sealed with a key that is
 * gone are made. Reading many costs one statement, making them one more.
 */
export async function payLinksFor(
  { db, config: { publicUrl, secretKey }, log }: Pick<Deps, 'db' | 'config' | 'log'>,
  wanted: LinkWanted[],
  now: Instant,
): Promise<string[]> {
  const missing = new Map(wanted.map((one) => [keyOf(one), one]))
  const tokens = new Map<string, string>()
  for (let tries = 0; missing.size > 0; tries += 1) {
    if (tries === 10) throw new Error('A pay link could neither be read nor made.')
    const found = await readLinks(db, [...missing.values()])
    for (const { id, sealedToken, clientKey, ...link } of found) {
      const key = keyOf({ ...link, clientKey })
      const one = missing.get(key)
      if (!one) continue
      const token = sealedToken !== null && clientKey === one.clientKey ? opened(secretKey, { id, sealedToken }, log) : null
      if (token !== null) {
        tokens.set(key, token)
        missing.delete(key)
      } else await replace(db, secretKey, { ...link, id, sealedToken }, one.clientKey)
    }
    const known = new Set(found.map((link) => keyOf(link)))
    const fresh = [...missing.values()].filter((one) => !known.has(keyOf(one)))
    if (fresh.length === 0) continue
    const values = fresh.map((one) => ({ one, link: made(secretKey, newId()) }))
    // At nine o'clock thousands are made at once: a row of VALUES costs the program more than its code and its seal.
    const store = async (those: typeof values, onlyOne: SQL) => {
      if (those.length === 0) return []
      const column = (of: (one: (typeof values)[number]) => string | null) => arrayText(those.map(of))
      // Without naming the index, PostgreSQL looks for every new link in all of them.
      return rows(
        db,
        z.object({ id: z.string() }),
        sql`INSERT INTO pay_links (id, owner_id, invoice_id, client_key, token_hash, sealed_token, created_at)
            SELECT l.*, ${now.toString()}::timestamptz FROM unnest(${column(({ link }) => link.id)}::uuid[], ${column(({ one }) => one.ownerId)}::uuid[],
              ${column(({ one }) => one.invoiceId)}::uuid[], ${column(({ one }) => one.clientKey)}::text[],
              ${column(({ link }) => link.tokenHash)}::text[], ${column(({ link }) => link.sealedToken)}::text[]) l
            ON CONFLICT ${onlyOne} DO NOTHING RETURNING id`,
      )
    }
    const stored = [
      ...(await store(
        values.filter(({ one }) => one.invoiceId !== null),
        sql`(invoice_id) WHERE invoice_id IS NOT NULL`,
      )),
      ...(await store(
        values.filter(({ one }) => one.invoiceId === null),
        sql`(owner_id, client_key) WHERE invoice_id IS NULL`,
      )),
    ]
    const ids = new Set(stored.map(({ id }) => id))
    // One that another process made meanwhile is read.
    for (const { one, link } of values) {
      if (!ids.has(link.id)) continue
      tokens.set(keyOf(one), link.token)
      missing.delete(keyOf(one))
    }
  }
  return wanted.map((one) => `${publicUrl}/pay/${tokens.get(keyOf(one))}`)
}

/** Null where it does not open: a reminder must not wait for that, nor those of other accounts. */
function opened(secretKey: string, { id, sealedToken }: { id: string; sealedToken: string }, log: Log): string | null {
  try {
    return unseal(secretKey, purpose, placeOf(id), sealedToken)
  } catch (error) {
    log.warn({ err: error, linkId: id }, 'A pay link does not open with SECRET_KEY and is replaced by another one.')
    return null
  }
}

function made(secretKey: string, id: string): { id: string; token: string; tokenHash: string; sealedToken: string } {
  const token = newToken()
  return { id, token, tokenHash: hashToken(token), sealedToken: seal(secretKey, purpose, placeOf(id), token) }
}

async function readLinks(db: Database, wanted: LinkWanted[]) {
  const ofInvoices = wanted.flatMap(({ invoiceId }) => invoiceId ?? [])
  const ofClients = wanted.filter(({ invoiceId }) => invoiceId === null)
  const found = []
  if (ofInvoices.length > 0)
    found.push(
      ...(await db
        .select()
        .from(payLinks)
        .where(sql`${payLinks.invoiceId} = ANY(${arrayText(ofInvoices)}::uuid[])`)),
    )
  if (ofClients.length > 0)
    found.push(
      ...(await db
        .select()
        .from(payLinks)
        .where(
          and(
            isNull(payLinks.invoiceId),
            sql`(${payLinks.ownerId}, ${payLinks.clientKey}) IN (SELECT * FROM unnest(${arrayText(ofClients.map(({ ownerId }) => ownerId))}::uuid[], ${arrayText(ofClients.map(({ clientKey }) => clientKey))}::text[]))`,
          ),
        )),
    )
  return found
}

/** The old link is dead. Of two that replace it at a time one wins, and the other reads that. */
async function replace(
  db: Database,
  secretKey: string,
  link: Pick<typeof payLinks.$inferSelect, 'id' | 'sealedToken' | 'revision'>,
  clientKey: string,
): Promise<void> {
  const { tokenHash, sealedToken } = made(secretKey, link.id)
  await db
    .update(payLinks)
    .set({ tokenHash, sealedToken, clientKey, revision: sql`${payLinks.revision} + 1` })
    .where(and(eq(payLinks.id, link.id), eq(payLinks.revision, link.revision)))
}

/** The link stops working, and what was started from it is cancelled; the next that is needed is another one. */
export async function revokePayLink(db: Database, { ownerId, invoiceId, clientKey }: LinkWanted, now: Instant): Promise<void> {
  const which = invoiceId === null ? and(isNull(payLinks.invoiceId), eq(payLinks.clientKey, clientKey)) : eq(payLinks.invoiceId, invoiceId)
  await revoke(db, and(eq(payLinks.ownerId, ownerId), which), now)
}

/** Ends every link of an account. */
export async function dropLinks(db: Database, ownerId: string, now: Instant): Promise<void> {
  await revoke(db, eq(payLinks.ownerId, ownerId), now)
}

type Client = Pick<InvoiceRow, 'id' | 'ownerId' | 'clientEmail'>

/** The row of an invoice's link, without a token where it is new: from now on it records whose the answers are. */
export async function noteClient(tx: Database, { id, ownerId, clientEmail }: Client, now: Instant): Promise<void> {
  await tx.insert(payLinks).values({ ownerId, invoiceId: id, clientKey: clientEmail.toLowerCase(), createdAt: now }).onConflictDoNothing()
}

/** An invoice has another client: the former one's link stays dead, also should their address come back. */
export async function changeClient(tx: Database, { id, clientEmail }: Client, now: Instant): Promise<void> {
  await revoke(tx, eq(payLinks.invoiceId, id), now, { clientKey: clientEmail.toLowerCase(), createdAt: now })
}

async function revoke(
  db: Database,
  which: SQL | undefined,
  now: Instant,
  set: Partial<Pick<typeof payLinks.$inferSelect, 'clientKey' | 'createdAt'>> = {},
): Promise<void> {
  const revoked = await db
    .update(payLinks)
    .set({ ...set, tokenHash: null, sealedToken: null, revision: sql`${payLinks.revision} + 1` })
    .where(which)
    .returning({ id: payLinks.id })
  const ids = revoked.map(({ id }) => id)
  if (ids.length > 0) await cancelAttempts(db, inArray(payAttempts.linkId, ids), now)
}
