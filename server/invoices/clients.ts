import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import {
  type Client,
  type ClientAnswer,
  type ClientCopy,
  type ClientDetails,
  type ClientEmail,
  type ClientEvent,
  type clientChange,
  mostCopies,
} from '#contract/clients.ts'
import { invoicePause } from '#contract/invoices.ts'
import { type Money, toMoney } from '#contract/money.ts'
import type { AccountRow } from '#server/accounts/accounts.ts'
import type { Instant } from '#server/platform/clock.ts'
import { instantText } from '#server/platform/columns.ts'
import { type Database, rows } from '#server/platform/database.ts'
import { invalid, ProblemError } from '#server/platform/problem-error.ts'
import { newestPayments, toPayment } from './balance.ts'
import { chosenSequence, notDeliveredSince, toInvoice } from './invoices.ts'
import { type Clients, pauseInvoice, readClients } from './pauses.ts'
import { type AfterChange, clients, invoicePayments, invoices } from './tables.ts'
import { texts } from './texts.ts'

/** The most invoices on a client's page. */
const mostListed = 500
const mostEvents = 200

/** The emails about a client's invoices, newest first; the slice above that sends them has them. */
export type ReadEmails = (db: Database, ownerId: string, emailKey: string) => Promise<ClientEmail[]>
/** What the client said about these invoices, newest first; likewise. */
export type ReadAnswers = (db: Database, ownerId: string, emailKey: string) => Promise<ClientAnswer[]>

type Owner = Pick<AccountRow, 'id' | 'currency'>

/** What a client owes in one currency. */
const part = z.object({
  key: z.string(),
  currency: z.string(),
  name: z.string(),
  email: z.string(),
  newestAt: instantText,
  invoices: z.number(),
  openInvoices: z.number(),
  oldestDueDate: z.string().nullable(),
  undeliveredSince: instantText.nullable(),
  undeliveredReply: z.string().nullable(),
  saidAt: instantText.nullable(),
  said: invoicePause.shape.because.nullable(),
  saidUntil: z.string().nullable(),
  overdue: z.number(),
  open: z.number(),
  paid: z.number(),
})
type Part = z.output<typeof part>

/** How many clients an account has; those beyond `most` count as one. */
export function countClients(db: Database, ownerId: string, most: number): Promise<number> {
  return db.$count(
    db
      .select({ id: clients.id })
      .from(clients)
      .where(eq(clients.ownerId, ownerId))
      .limit(most + 1)
      .as('counted'),
  )
}

/** The clients with an invoice, those with the most overdue first; with `key` only that one. */
export async function listClients(db: Database, owner: Owner, key?: string): Promise<Client[]> {
  const open = sql`i.status <> 'paid'`
  const said = sql`${open} AND i.paused_at IS NOT NULL AND i.pause_because <> 'owner'`
  const parts = await rows(
    db,
    part,
    sql`SELECT lower(i.client_email) AS key, i.currency, (array_agg(i.client_name ORDER BY i.created_at DESC, i.id DESC))[1] AS name,
          (array_agg(i.client_email ORDER BY i.created_at DESC, i.id DESC))[1] AS email, max(i.created_at) AS "newestAt",
          count(*)::int AS invoices, count(*) FILTER (WHERE ${open})::int AS "openInvoices", (min(i.due_date) FILTER (WHERE ${open}))::text AS "oldestDueDate",
          min(i.undelivered_since) FILTER (WHERE ${open}) AS "undeliveredSince",
          (array_agg(i.undelivered_reply ORDER BY i.undelivered_since) FILTER (WHERE ${open}))[1] AS "undeliveredReply",
          max(i.paused_at) FILTER (WHERE ${said}) AS "saidAt", (array_agg(i.pause_because ORDER BY i.paused_at DESC) FILTER (WHERE ${said}))[1] AS said,
          (array_agg(i.paused_until::text ORDER BY i.paused_at DESC) FILTER (WHERE ${said}))[1] AS "saidUntil",
          coalesce(sum(greatest(0, i.amount_minor - i.paid_minor)) FILTER (WHERE i.status = 'overdue'), 0)::float8 AS overdue,
          coalesce(sum(greatest(0, i.amount_minor - i.paid_minor)) FILTER (WHERE ${open}), 0)::float8 AS open,
          coalesce(sum(i.paid_minor), 0)::float8 AS paid
        FROM invoices i
        WHERE i.owner_id = ${owner.id}::uuid AND i.deleted_at IS NULL ${key === undefined ? sql`` : sql`AND lower(i.client_email) = ${key}`}
        GROUP BY 1, 2`,
  )
  const which = and(eq(clients.ownerId, owner.id), key === undefined ? undefined : eq(clients.emailKey, key))
  const ids = await db.select().from(clients).where(which)
  const known = await readClients(db, owner.id, key === undefined ? undefined : [{ clientEmail: key }])
  // Joined here: without statistics PostgreSQL would compare every pair of ten thousand.
  const byKey = Map.groupBy(parts, (one) => one.key)
  const list = ids.flatMap((one) => {
    const [first, ...others] = byKey.get(one.emailKey) ?? []
    return first ? [toClient(one, [first, ...others], known, owner)] : []
  })
  return list.toSorted(
    (one, other) => byAmount(one.overdue, other.overdue, owner) || byAmount(one.open, other.open, owner) || byName(one, other),
  )
}

/** The parts that have this instant, in its order. As text, one with a fraction of a second would be before the whole second. */
function inTime(parts: Part[], at: 'undeliveredSince' | 'saidAt'): Part[] {
  return parts
    .flatMap((one) => (one[at] === null ? [] : [{ one, at: Temporal.Instant.from(one[at]) }]))
    .toSorted((a, b) => Temporal.Instant.compare(a.at, b.at))
    .map(({ one }) => one)
}

function toClient(row: typeof clients.$inferSelect, parts: [Part, ...Part[]], known: Clients, { currency }: Owner): Client {
  const { id, emailKey: key } = row
  const { name, email } = parts.reduce((newest, one) => (Temporal.Instant.compare(one.newestAt, newest.newestAt) > 0 ? one : newest))
  const sums = (of: 'overdue' | 'open' | 'paid') =>
    toMoney(new Map(parts.filter((one) => one[of] > 0).map((one) => [one.currency, one[of]])), currency)
  const count = (of: 'invoices' | 'openInvoices') => parts.reduce((sum, one) => sum + one[of], 0)
  const [oldestDueDate = null] = parts.flatMap((one) => one.oldestDueDate ?? []).toSorted()
  const [undelivered] = inTime(parts, 'undeliveredSince')
  const said = inTime(parts, 'saidAt').at(-1)
  const pause = known.pauses.get(key)
  const hold = count('openInvoices') === 0 ? undefined : known.holds.get(key)
  return {
    _id: id,
    name,
    email,
    overdue: sums('overdue'),
    open: sums('open'),
    paid: sums('paid'),
    invoices: count('invoices'),
    openInvoices: count('openInvoices'),
    oldestDueDate,
    pause: pause ? { until: pause.pausedUntil, note: pause.pauseNote, promised: pause.pausePromised } : null,
    said: said?.said ? { because: said.said, until: said.saidUntil } : null,
    notDelivered: notDeliveredSince(undelivered?.undeliveredSince ?? null, undelivered?.undeliveredReply ?? null),
    addressHold: hold ? { since: hold.heldSince.toString(), words: texts.addressHeld(email, hold.reply), reply: hold.reply } : null,
    sequence: chosenSequence(row),
    secondContact: row.secondContact,
    copies: copiesIn(row),
    mailbox: row.mailboxId,
    language: row.language,
    country: row.country,
    region: row.region,
    timezone: row.timezone,
    smart: row.smart,
  }
}

/** One client with the invoices and what happened. Refuses with `not_found`. */
export async function readClient(
  db: Database,
  owner: Owner,
  id: string,
  { readEmails, readAnswers }: { readEmails: ReadEmails; readAnswers: ReadAnswers },
): Promise<ClientDetails> {
  const { emailKey } = await findClient(db, owner.id, id)
  const [client] = await listClients(db, owner, emailKey)
  if (!client) throw noClient()
  const list = await db
    .select()
    .from(invoices)
    .where(of(owner.id, emailKey))
    .orderBy(sql`${invoices.status} = 'paid'`, desc(invoices.dueDate), desc(invoices.id))
    .limit(mostListed)
  const known = await readClients(db, owner.id, [{ clientEmail: emailKey }])
  const events = [
    ...(await readEmails(db, owner.id, emailKey)),
    ...(await readAnswers(db, owner.id, emailKey)),
    ...(await readPayments(db, owner.id, emailKey)),
  ]
  const timeline = events.toSorted((one, other) => Temporal.Instant.compare(other.at, one.at)).slice(0, mostEvents)
  return { ...client, list: list.map((row) => toInvoice(row, known)), timeline }
}

/** The payments and refunds of a client, newest first, also those that were taken back. */
async function readPayments(db: Database, ownerId: string, emailKey: string): Promise<ClientEvent[]> {
  const found = await db
    .select({ payment: invoicePayments, reference: invoices.reference })
    .from(invoicePayments)
    .innerJoin(invoices, and(eq(invoices.ownerId, invoicePayments.ownerId), eq(invoices.id, invoicePayments.invoiceId)))
    .where(of(ownerId, emailKey))
    .orderBy(...newestPayments)
    .limit(mostEvents)
  return found.map(({ payment, reference }) => ({
    kind: 'payment' as const,
    _id: payment.id,
    at: payment.recordedAt.toString(),
    payment: toPayment(payment),
    reference,
  }))
}

/** Pauses every invoice of a client or ends that pause, and keeps its further recipients. Refuses with `not_found`, and a past date. */
export async function changeClient(
  db: Database,
  owner: Owner,
  id: string,
  {
    pause,
    smart,
    language,
    ...recipients
  }: Pick<z.output<typeof clientChange>, 'pause' | 'secondContact' | 'copies' | 'smart' | 'language'>,
  now: Instant,
  afterChange: AfterChange,
): Promise<Client> {
  const row = await findClient(db, owner.id, id)
  const { emailKey } = row
  const [one] = await db.select({ id: invoices.id }).from(invoices).where(of(owner.id, emailKey)).limit(1)
  if (!one) throw noClient()
  if (pause !== undefined) {
    const change = pause === null ? { paused: false as const } : { paused: true as const, ...pause }
    await pauseInvoice(db, owner.id, one.id, { ...change, scope: 'client' }, now, afterChange)
  }
  const chosen = recipientsOf(row, recipients)
  if (chosen || smart !== undefined || language !== undefined)
    await db
      .update(clients)
      .set({ ...chosen, smart, language })
      .where(and(eq(clients.ownerId, owner.id), eq(clients.emailKey, emailKey)))
  if (language !== undefined) {
    const its = await db.select({ id: invoices.id }).from(invoices).where(of(owner.id, emailKey))
    // Emails about several of them may have two languages now.
    await afterChange(
      db,
      owner.id,
      its.map((invoice) => invoice.id),
      now,
    )
  }
  const [client] = await listClients(db, owner, emailKey)
  if (!client) throw noClient()
  return client
}

/** The second contact first. */
function copiesIn({ secondContact, copies }: typeof clients.$inferSelect): ClientCopy[] {
  return [...(secondContact === null ? [] : [{ email: secondContact, gets: 'ticked_steps' as const, step: null }]), ...(copies ?? [])]
}

/** How the further recipients of a client are stored; null where they stay. Refuses with `invalid`. */
function recipientsOf(
  row: typeof clients.$inferSelect,
  { secondContact, copies }: Pick<z.output<typeof clientChange>, 'secondContact' | 'copies'>,
): Pick<typeof clients.$inferSelect, 'secondContact' | 'copies'> | null {
  if (secondContact === undefined && copies === undefined) return null
  const wanted = copies ?? copiesIn({ ...row, secondContact: secondContact ?? null })
  const own = wanted.findIndex(({ email }) => email.toLowerCase() === row.emailKey)
  if (copies !== undefined && own !== -1) throw invalid(`copies.${own}.email`, texts.ownAddress)
  if (wanted.length > mostCopies) throw invalid(copies === undefined ? 'secondContact' : 'copies', texts.mostCopies(mostCopies))
  const others = wanted.filter(({ gets }) => gets !== 'ticked_steps')
  return { secondContact: wanted.find(({ gets }) => gets === 'ticked_steps')?.email ?? null, copies: others.length === 0 ? null : others }
}

async function findClient(db: Database, ownerId: string, id: string): Promise<typeof clients.$inferSelect> {
  const [row] = await db
    .select()
    .from(clients)
    .where(and(eq(clients.ownerId, ownerId), sql`${clients.id}::text = ${id}`))
  if (!row) throw noClient()
  return row
}

function of(ownerId: string, emailKey: string) {
  return and(eq(invoices.ownerId, ownerId), sql`lower(${invoices.clientEmail}) = ${emailKey}`, isNull(invoices.deletedAt))
}

/** By the account's currency, then by the first other one: amounts of different currencies are never compared. */
function byAmount(one: Money[], other: Money[], { currency }: Owner): number {
  const its = (sums: Money[]) => sums.find((sum) => sum.currency === currency)?.amount ?? 0
  const rest = (sums: Money[]) => sums.find((sum) => sum.currency !== currency)
  const [first, second] = [rest(one), rest(other)]
  if (its(one) !== its(other)) return its(other) - its(one)
  if (first?.currency !== second?.currency) return (first?.currency ?? '~') < (second?.currency ?? '~') ? -1 : 1
  return (second?.amount ?? 0) - (first?.amount ?? 0)
}

function byName({ name: one }: Client, { name: other }: Client): number {
  return one < other ? -1 : one > other ? 1 : 0
}

function noClient(): ProblemError {
  return new ProblemError('not_found', texts.noClient)
}
