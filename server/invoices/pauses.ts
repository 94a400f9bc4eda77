import { and, asc, eq, isNotNull, isNull, ne, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { AddressHold, InvoicePause, PauseChange } from '#contract/invoices.ts'
import { fromMinor, type Money, sumByCurrency } from '#contract/money.ts'
import { screens } from '#contract/screens.ts'
import { type AccountRow, findAccount, lockAccount } from '#server/accounts/accounts.ts'
import { notify, notifyOwner, withdrawNotices } from '#server/accounts/notices.ts'
import { accounts } from '#server/accounts/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { packed } from '#server/platform/columns.ts'
import { arrayText, type Database, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { invalid, ProblemError } from '#server/platform/problem-error.ts'
import { balanceMinor } from './balance.ts'
import { type AfterChange, addressHolds, clientPauses, clients, type InvoiceRow, invoices } from './tables.ts'
import { texts } from './texts.ts'

/** What is known about the clients of an account: their pauses and the holds of their addresses, by lower-case email address. */
export interface Clients {
  pauses: Map<string, typeof clientPauses.$inferSelect>
  holds: Map<string, typeof addressHolds.$inferSelect>
}

export const noClients: Clients = { pauses: new Map(), holds: new Map() }

export const pauseRow = packed(clientPauses)
export const holdRow = packed(addressHolds)
const packedRows = z.array(z.array(z.unknown())).nullable()
/** `json_agg` of `pauseRow` and of `holdRow`. */
export const packedClients = z.object({ pauses: packedRows, holds: packedRows })

export function unpackClients({ pauses, holds }: z.output<typeof packedClients>): Clients {
  const by = <T extends { clientKey: string }>(all: T[]) => new Map(all.map((one) => [one.clientKey, one]))
  return { pauses: by((pauses ?? []).map(pauseRow.read)), holds: by((holds ?? []).map(holdRow.read)) }
}

/** Of all clients of an account, or of these invoices: an account may have tens of thousands. */
export async function readClients(db: Database, ownerId: string, its?: Pick<InvoiceRow, 'clientEmail'>[]): Promise<Clients> {
  const emails = its && arrayText(its.map(({ clientEmail }) => clientEmail.toLowerCase()))
  const of = (key: typeof clientPauses.clientKey | typeof addressHolds.clientKey) =>
    emails === undefined ? undefined : sql`${key} = ANY(${emails}::text[])`
  const pauses = sql`SELECT json_agg(${pauseRow.row}) FROM ${clientPauses} WHERE ${and(eq(clientPauses.ownerId, ownerId), of(clientPauses.clientKey))}`
  const holds = sql`SELECT json_agg(${holdRow.row}) FROM ${addressHolds} WHERE ${and(eq(addressHolds.ownerId, ownerId), of(addressHolds.clientKey))}`
  const [found] = await rows(db, packedClients, sql`SELECT (${pauses}) AS pauses, (${holds}) AS holds`)
  return found ? unpackClients(found) : noClients
}

/** Why reminders to the address of an invoice are held; null where they are not, or it is paid. */
export function holdOf({ clientEmail, status }: InvoiceRow, { holds }: Clients): AddressHold | null {
  const hold = status === 'paid' ? undefined : holds.get(clientEmail.toLowerCase())
  return hold ? { since: hold.heldSince.toString(), words: texts.addressHeld(clientEmail, hold.reply), reply: hold.reply } : null
}

/** The pause of an invoice: its own before its client's. */
export function pauseOf(row: InvoiceRow, { pauses }: Clients): InvoicePause | null {
  const client = pauses.get(row.clientEmail.toLowerCase())
  if (row.pausedAt) {
    const { pausedUntil: until, pauseNote: note, pausePromised: promised, pauseBecause: because } = row
    return { until, note, promised, scope: 'invoice', because }
  }
  if (!client) return null
  const { pausedUntil: until, pauseNote: note, pausePromised: promised } = client
  return { until, note, promised, scope: 'client', because: 'owner' }
}

/**
 * Pauses an invoice, or every invoice of its client's address, or ends that pause. Pending emails about them are closed in the same
 * transaction. Refuses a past date, and with `not_found`.
 */
export async function pauseInvoice(
  db: Database,
  ownerId: string,
  id: string,
  change: PauseChange,
  now: Instant,
  afterChange: AfterChange,
): Promise<InvoiceRow> {
  return db.transaction(async (tx) => {
    const account = await lockAccount(tx, ownerId)
    const here = and(eq(invoices.ownerId, ownerId), sql`${invoices.id}::text = ${id}`, isNull(invoices.deletedAt))
    const [row] = await tx.select().from(invoices).where(here)
    if (!account || !row) throw new ProblemError('not_found', texts.noInvoice)
    if (change.paused) refusePast(change.until, now.toZonedDateTimeISO(account.timezone).toPlainDate().toString())
    if (change.scope === 'client') await pauseClient(tx, row, change, now)
    else
      await tx
        .update(invoices)
        .set(change.paused ? { ...paused(change, now), ...byOwner } : notPaused)
        .where(eq(invoices.id, row.id))
    const touched =
      change.scope === 'invoice'
        ? [row]
        : await tx
            .select({ id: invoices.id })
            .from(invoices)
            .where(
              and(
                eq(invoices.ownerId, ownerId),
                sql`lower(${invoices.clientEmail}) = ${row.clientEmail.toLowerCase()}`,
                ne(invoices.status, 'paid'),
                isNull(invoices.deletedAt),
              ),
            )
    await afterChange(
      tx,
      ownerId,
      touched.map((one) => one.id),
      now,
    )
    const [after = row] = await tx.select().from(invoices).where(here)
    return after
  })
}

const byOwner = { pauseBecause: 'owner' as const }
export const notPaused = { pausedAt: null, pausedUntil: null, pauseNote: '', pausePromised: false, ...byOwner }

/** The columns of a pause that an owner begins. */
export function paused(change: Pick<PauseChange & { paused: true }, 'until' | 'note' | 'promised'>, now: Instant) {
  return {
    pausedAt: now,
    pausedUntil: change.until,
    pauseNote: change.note,
    pausePromised: change.promised && change.until !== null,
    pauseBecause: 'owner' as const,
  }
}

/**
 * Whose pause one of many invoices is: of an invoice that its client's answer had paused exactly so it is that of the answer again, because this is how
 * the change that replaced it is undone. Else it is the owner's. By name: answers are in a slice above.
 */
export function becauseOf({ until, note, promised }: Pick<PauseChange & { paused: true }, 'until' | 'note' | 'promised'>): SQL {
  return sql`coalesce((
    SELECT CASE x.kind WHEN 'paid' THEN 'says_paid' WHEN 'promise' THEN 'promised' ELSE x.kind END FROM pay_answers x
    WHERE x.owner_id = ${invoices.ownerId} AND x.invoice_id = ${invoices.id} AND (x.state = 'open' OR (x.state = 'accepted' AND x.kind = 'promise'))
      AND x.paused_until = ${until}::date AND (x.kind = 'promise' AND x.paused_until = x.date) = ${promised}::boolean AND ${note}::text = ''
    ORDER BY x.at DESC LIMIT 1), 'owner')`
}

/** Why a client's answer pauses an invoice. */
export type AnswerPause = Exclude<InvoiceRow['pauseBecause'], 'owner'>

/**
 * Pauses an invoice by what its client said; a note of the owner stays. `promised`: the client promised to pay by its last day. The row is locked;
 * the caller closes waiting emails.
 */
export async function pauseByClient(
  tx: Database,
  row: InvoiceRow,
  about: { until: string; because: AnswerPause; promised: boolean },
  now: Instant,
): Promise<void> {
  const { until, because, promised } = about
  await tx
    .update(invoices)
    .set({ pausedAt: now, pausedUntil: until, pausePromised: promised, pauseBecause: because })
    .where(eq(invoices.id, row.id))
}

/** Ends the pause that a client's answer began; one of the owner stays. `promised`: the day of a promise that keeps it paused all the same. */
export async function resumeByClient(tx: Database, row: InvoiceRow, promised: string | null, now: Instant): Promise<void> {
  if (row.pauseBecause === 'owner') return
  if (promised === null) await tx.update(invoices).set(notPaused).where(eq(invoices.id, row.id))
  else await pauseByClient(tx, row, { until: promised, because: 'promised', promised: true }, now)
}

async function pauseClient(tx: Database, row: InvoiceRow, change: PauseChange, now: Instant): Promise<void> {
  const key = { ownerId: row.ownerId, clientKey: row.clientEmail.toLowerCase() }
  if (!change.paused) {
    await tx.delete(clientPauses).where(and(eq(clientPauses.ownerId, key.ownerId), eq(clientPauses.clientKey, key.clientKey)))
    return
  }
  const { pauseBecause: _because, ...values } = paused(change, now)
  await tx
    .insert(clientPauses)
    .values({ ...key, ...values })
    .onConflictDoUpdate({ target: [clientPauses.ownerId, clientPauses.clientKey], set: values })
}

/** The pause that an import begins with; its note finds the invoices again. */
export const heldImport = (now: Instant) => paused({ until: null, note: texts.line.held, promised: false }, now)

/** Creates or updates the notice about imported invoices that are still held, or withdraws it. */
export async function noteHeldImports(tx: Database, ownerId: string, now: Instant): Promise<void> {
  const held = await tx.$count(
    invoices,
    and(
      eq(invoices.ownerId, ownerId),
      isNull(invoices.deletedAt),
      ne(invoices.status, 'paid'),
      isNotNull(invoices.pausedAt),
      eq(invoices.pauseNote, texts.line.held),
    ),
  )
  if (held === 0) return withdrawNotices(tx, ownerId, ['imports_held'])
  const link = `${screens.dashboard}?${new URLSearchParams({ search: texts.line.held })}`
  await notify(tx, ownerId, { kind: 'imports_held', title: texts.importsHeld.title(held), text: texts.importsHeld.text, link }, now)
}

export function refusePast(until: string | null, today: string): void {
  if (until !== null && until < today) throw invalid('until', texts.pastDay)
}

/** What ends pauses. `sayNext`: what the daily schedule of an account does next, in a sentence, and whether it runs at all. */
export interface EndingPauses extends Deps {
  sayNext(tx: Database, owner: AccountRow, now: Instant): Promise<{ runs: boolean; next: string }>
  /** What is done about a client's answer that the owner did not decide while it paused the invoice. */
  onAnswerLapsed(tx: Database, row: InvoiceRow, because: AnswerPause, now: Instant): Promise<void>
}

/**
 * Ends the pauses whose last day is over in the account's zone and in that of the client. A promise that passed unpaid is reported to the owner
 * once. A pause that fails is left for the next call and does not delay the others; its error is thrown at the end.
 */
export async function endPauses(deps: EndingPauses): Promise<void> {
  const { db, clock } = deps
  const now = clock.now()
  const failures: unknown[] = []
  // No time zone is more than 14 hours ahead: the index finds the candidates, the dates there decide.
  const furthest = now.add({ hours: 14 }).toZonedDateTimeISO('UTC').toPlainDate().toString()
  const ofInvoices = (last: { until: string | null; id: string } | undefined) =>
    db
      .select({ id: invoices.id, until: invoices.pausedUntil, here: accounts.timezone, there: clients.timezone })
      .from(invoices)
      .innerJoin(accounts, eq(accounts.id, invoices.ownerId))
      .leftJoin(clients, and(eq(clients.ownerId, invoices.ownerId), eq(clients.emailKey, sql`lower(${invoices.clientEmail})`)))
      .where(
        and(
          isNotNull(invoices.pausedUntil),
          sql`${invoices.pausedUntil} < ${furthest}::date`,
          last && sql`(${invoices.pausedUntil}, ${invoices.id}) > (${last.until}::date, ${last.id}::uuid)`,
        ),
      )
      .orderBy(asc(invoices.pausedUntil), asc(invoices.id))
      .limit(atOnce)
  await inPages(ofInvoices, async (one) => (isOver(one, now) ? endInvoicePause(deps, one) : undefined), failures)
  const ofClients = (last: { until: string | null; ownerId: string; clientKey: string } | undefined) =>
    db
      .select({
        ownerId: clientPauses.ownerId,
        clientKey: clientPauses.clientKey,
        until: clientPauses.pausedUntil,
        here: accounts.timezone,
        there: clients.timezone,
      })
      .from(clientPauses)
      .innerJoin(accounts, eq(accounts.id, clientPauses.ownerId))
      .leftJoin(clients, and(eq(clients.ownerId, clientPauses.ownerId), eq(clients.emailKey, clientPauses.clientKey)))
      .where(
        and(
          sql`${clientPauses.pausedUntil} < ${furthest}::date`,
          last &&
            sql`(${clientPauses.pausedUntil}, ${clientPauses.ownerId}, ${clientPauses.clientKey}) > (${last.until}::date, ${last.ownerId}::uuid, ${last.clientKey})`,
        ),
      )
      .orderBy(asc(clientPauses.pausedUntil), asc(clientPauses.ownerId), asc(clientPauses.clientKey))
      .limit(atOnce)
  await inPages(ofClients, async (one) => (isOver(one, now) ? endClientPause(deps, one) : undefined), failures)
  if (failures.length > 0) throw new AggregateError(failures, 'Some pauses could not be ended.')
}

/** Pauses read at a time. */
const atOnce = 1_000

/** Reads page after page, so that pauses that are not over yet do not hide those behind them. */
async function inPages<T>(
  read: (last: T | undefined) => Promise<T[]>,
  each: (one: T) => Promise<void>,
  failures: unknown[],
): Promise<void> {
  for (let last: T | undefined; ; ) {
    const page = await read(last)
    for (const one of page) await each(one).catch((error: unknown) => failures.push(error))
    last = page.at(-1)
    if (page.length < atOnce) return
  }
}

function isOver({ until, here, there }: { until: string | null; here: string; there: string | null }, now: Instant): boolean {
  return until !== null && [here, there ?? here].every((zone) => until < now.toZonedDateTimeISO(zone).toPlainDate().toString())
}

/** `until`: the day that is over. The owner may have changed the pause since it was read: that one stays. */
async function endInvoicePause(deps: EndingPauses, { id, until }: { id: string; until: string | null }): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const [row] = await tx.select().from(invoices).where(eq(invoices.id, id)).for('update', { skipLocked: true })
    if (!row?.pausedUntil || row.pausedUntil !== until) return
    await tx.update(invoices).set(notPaused).where(eq(invoices.id, id))
    if (row.status === 'paid' || row.deletedAt) return
    if (row.pauseBecause !== 'owner') await deps.onAnswerLapsed(tx, row, row.pauseBecause, deps.clock.now())
    if (!row.pausePromised) return
    await breakPromise(tx, eq(invoices.id, id), row.pausedUntil, deps.clock.now())
    await notifyBrokenPromise(tx, deps, row.ownerId, {
      client: row.clientName,
      reference: row.reference,
      owed: [{ currency: row.currency, amount: fromMinor(balanceMinor(row), row.currency) }],
      promisedBy: row.pausedUntil,
      address: null,
      invoiceId: row.id,
    })
  })
}

/** The same for the pause of a client. */
async function endClientPause(deps: EndingPauses, about: { ownerId: string; clientKey: string; until: string | null }): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const over = sql`${clientPauses.pausedUntil} = ${about.until}::date`
    const [ended] = await tx
      .delete(clientPauses)
      .where(and(eq(clientPauses.ownerId, about.ownerId), eq(clientPauses.clientKey, about.clientKey), over))
      .returning()
    if (!ended?.pausePromised || !ended.pausedUntil) return
    const open = await tx
      .select({
        id: invoices.id,
        clientName: invoices.clientName,
        amountMinor: invoices.amountMinor,
        paidMinor: invoices.paidMinor,
        currency: invoices.currency,
      })
      .from(invoices)
      .where(
        and(
          eq(invoices.ownerId, about.ownerId),
          sql`lower(${invoices.clientEmail}) = ${about.clientKey}`,
          ne(invoices.status, 'paid'),
          isNull(invoices.deletedAt),
        ),
      )
    const [first] = open
    if (!first) return
    const ids = arrayText(open.map(({ id }) => id))
    await breakPromise(tx, sql`${invoices.id} = ANY(${ids}::uuid[])`, ended.pausedUntil, deps.clock.now())
    await notifyBrokenPromise(tx, deps, about.ownerId, {
      client: first.clientName,
      reference: null,
      owed: open.map((row) => ({ currency: row.currency, amount: fromMinor(balanceMinor(row), row.currency) })),
      promisedBy: ended.pausedUntil,
      address: about.clientKey,
      invoiceId: first.id,
    })
  })
}

/** The day after counts as a step of a sequence. A trigger makes it an event. */
async function breakPromise(tx: Database, which: SQL, until: string, now: Instant): Promise<void> {
  await tx.update(invoices).set({ promisedUntil: until, updatedAt: now }).where(which)
}

async function notifyBrokenPromise(
  tx: Database,
  deps: EndingPauses,
  ownerId: string,
  about: { client: string; reference: string | null; owed: Money[]; promisedBy: string; address: string | null; invoiceId: string },
): Promise<void> {
  const owner = await findAccount(tx, ownerId)
  if (!owner) return
  const now = deps.clock.now()
  const { runs, next } = await deps.sayNext(tx, owner, now)
  const resumed = runs ? `${texts.brokenPromise.resumed(about.address)} ${next}` : next
  const notification = {
    kind: 'promise_broken' as const,
    cause: about.address ?? about.invoiceId,
    summary: texts.brokenPromise.summary(about.client),
    clients: [{ clientName: about.client, invoiceId: about.invoiceId, reference: about.reference ?? '' }],
    title: texts.brokenPromise.title(about.client),
    text: `${texts.brokenPromise.text({ ...about, owed: sumByCurrency(about.owed, owner.currency) })} ${resumed}`,
    link: screens.invoice(about.invoiceId),
  }
  await notifyOwner(tx, deps, owner, notification, now)
}
