import { and, asc, desc, eq, isNull, ne, not, sql } from 'drizzle-orm'
import { z } from 'zod'
import { daysBetween } from '#contract/dates.ts'
import { fromMinor } from '#contract/money.ts'
import type { Statement } from '#contract/pay-links.ts'
import { findAccount } from '#server/accounts/accounts.ts'
import { readBrand } from '#server/accounts/brand.ts'
import { entitlementsOf } from '#server/billing/billing.ts'
import { balanceMinor } from '#server/invoices/balance.ts'
import { type InvoiceRow, invoicePayments, invoices } from '#server/invoices/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { type Database, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { hashToken } from '#server/platform/secrets.ts'
import { saidByFormer } from './answers.ts'
import { paysOnline } from './keys.ts'
import { type InvoicePage, type Owed, type PageFrom, type StatementPage, statementSums } from './page.ts'
import { payAnswers, payKeys, paymentLogos, paymentSettings } from './tables.ts'

/** A page ends so long after its invoice was paid. */
const shownPaid = { hours: 180 * 24 }
/** The most invoices that a statement lists. */
const mostListed = 500

/** What a link opens: one invoice, or everything that is open of one client. */
export interface Opened {
  linkId: string
  ownerId: string
  clientKey: string
  invoice: InvoiceRow | null
}

const uuid = z.uuid()

/**
 * Finds what a link leads to; `invoiceId`: one of the invoices of a client's link. Null for a link that is unknown, revoked, of a deleted invoice or
 * of one that was paid long ago: the same statement for each, so that its time tells nothing.
 */
export async function openLink(db: Database, token: string, invoiceId: string | null, now: Instant): Promise<Opened | null> {
  const asked = invoiceId === null ? null : uuid.safeParse(invoiceId).success ? invoiceId : '00000000-0000-0000-0000-000000000000'
  const since = now.subtract(shownPaid).toString()
  const shown = (table: 'i' | 'o') =>
    sql.raw(
      `${table}.deleted_at IS NULL AND lower(${table}.client_email) = l.client_key AND (${table}.status <> 'paid' OR ${table}.paid_at > `,
    )
  const [found] = await rows(
    db,
    z.object({
      linkId: z.string(),
      ownerId: z.string(),
      clientKey: z.string(),
      invoiceId: z.string().nullable(),
      isStatement: z.boolean(),
      there: z.boolean(),
    }),
    sql`SELECT l.id AS "linkId", l.owner_id AS "ownerId", l.client_key AS "clientKey", i.id AS "invoiceId", l.invoice_id IS NULL AS "isStatement",
          EXISTS (SELECT 1 FROM invoices o WHERE o.owner_id = l.owner_id AND ${shown('o')} ${since}::timestamptz)) AS there
        FROM pay_links l
        LEFT JOIN invoices i ON i.owner_id = l.owner_id AND i.id = coalesce(l.invoice_id, ${asked}::uuid) AND ${shown('i')} ${since}::timestamptz)
        WHERE l.token_hash = ${hashToken(token)} AND (l.invoice_id IS NULL OR ${asked}::uuid IS NULL)`,
  )
  if (!found) return null
  const { isStatement, there, ...link } = found
  if (link.invoiceId === null) return isStatement && asked === null && there ? { ...link, invoice: null } : null
  const [invoice] = await db.select().from(invoices).where(eq(invoices.id, link.invoiceId))
  return invoice ? { ...link, invoice } : null
}

/** What every page of an account has. */
async function readFrom(
  { db, config }: Pick<Deps, 'db' | 'config'>,
  ownerId: string,
  { path, confirming }: { path: string; confirming: boolean },
  now: Instant,
): Promise<PageFrom | null> {
  const owner = await findAccount(db, ownerId)
  if (!owner) return null
  const [settings] = await db.select().from(paymentSettings).where(eq(paymentSettings.ownerId, ownerId))
  const { abilities } = await entitlementsOf(db, ownerId, now, config)
  const [keys] = await db.select({ keyId: payKeys.keyId, offeredTo: payKeys.offeredTo }).from(payKeys).where(eq(payKeys.ownerId, ownerId))
  const own = await readBrand(db, ownerId)
  const [logo] = await db.select({ isBrand: paymentLogos.inEmails }).from(paymentLogos).where(eq(paymentLogos.ownerId, ownerId))
  const { upi = null, bank = null, ownLink = null, businessName = '', details = '' } = settings ?? {}
  return {
    path,
    business: businessName === '' ? owner.displayName : businessName,
    details,
    logo: logo ? `${path}/logo` : null,
    hasWideLogo: logo?.isBrand ?? false,
    namesDuely: !abilities.includes('whiteLabel'),
    brand: abilities.includes('whiteLabel') ? own : { ...own, colour: null },
    methods: { upi, bank, ownLink, online: paysOnline(config, keys) },
    confirming,
    today: now.toZonedDateTimeISO(owner.timezone).toPlainDate().toString(),
  }
}

export async function readInvoicePage(
  deps: Pick<Deps, 'db' | 'config'>,
  opened: Opened & { invoice: InvoiceRow },
  about: { path: string; confirming: boolean; asked: number | null; error: InvoicePage['error'] },
  now: Instant,
): Promise<InvoicePage | null> {
  const { invoice, ownerId } = opened
  const { db } = deps
  const { asked, error } = about
  const from = await readFrom(deps, ownerId, about, now)
  if (!from) return null
  return {
    ...from,
    reference: invoice.reference,
    clientName: invoice.clientName,
    dueDate: invoice.dueDate,
    daysOverdue: daysBetween(invoice.dueDate, from.today),
    owed: owedOf(invoice),
    payments: await countedPayments(db, invoice),
    asked,
    answer: await lastAnswer(db, invoice, from.today),
    hasFile: invoice.fileId !== null,
    error,
  }
}

/** The payments and refunds that count, newest first; a refund is below 0. */
async function countedPayments(db: Database, { ownerId, id, currency }: InvoiceRow): Promise<InvoicePage['payments']> {
  const found = await db
    .select()
    .from(invoicePayments)
    .where(and(eq(invoicePayments.ownerId, ownerId), eq(invoicePayments.invoiceId, id), isNull(invoicePayments.voidedAt)))
    .orderBy(desc(invoicePayments.paidOn), desc(invoicePayments.id))
    .limit(mostListed)
  return found.map(({ kind, paidOn, amountMinor }) => ({
    date: paidOn,
    amount: fromMinor(amountMinor, currency) * (kind === 'refund' ? -1 : 1),
    isCredit: kind === 'credit',
  }))
}

/**
 * What the page repeats of the last answer: one that the client took back or that the owner settled is over, and so is a promise after its day.
 * What a former client said is none of this one's.
 */
async function lastAnswer(db: Database, { ownerId, id }: InvoiceRow, today: string): Promise<InvoicePage['answer']> {
  const [last] = await db
    .select()
    .from(payAnswers)
    .where(and(eq(payAnswers.ownerId, ownerId), eq(payAnswers.invoiceId, id), not(saidByFormer(id))))
    .orderBy(desc(payAnswers.at), desc(payAnswers.id))
    .limit(1)
  if (!last) return null
  const { kind, state, date, pausedUntil } = last
  if (state === 'replaced' || state === 'ended') return null
  if ((state === 'declined' && kind !== 'paid') || (state === 'accepted' && kind !== 'promise')) return null
  if (kind === 'promise' && (date ?? '') < today) return null
  return { kind, state, date, pausedUntil }
}

export async function readStatementPage(
  deps: Pick<Deps, 'db' | 'config'>,
  { ownerId, clientKey }: Pick<Opened, 'ownerId' | 'clientKey'>,
  about: { path: string; confirming: boolean; error: InvoicePage['error'] },
  now: Instant,
): Promise<StatementPage | null> {
  const from = await readFrom(deps, ownerId, about, now)
  if (!from) return null
  const { db } = deps
  const its = and(eq(invoices.ownerId, ownerId), sql`lower(${invoices.clientEmail}) = ${clientKey}`, isNull(invoices.deletedAt))
  const found = await db
    .select()
    .from(invoices)
    .where(and(its, ne(invoices.status, 'paid')))
    .orderBy(asc(invoices.dueDate), asc(invoices.id))
    .limit(mostListed)
  const [newest] = await db.select().from(invoices).where(its).orderBy(desc(invoices.createdAt), desc(invoices.id)).limit(1)
  return {
    ...from,
    error: about.error,
    clientName: newest?.clientName ?? '',
    clientEmail: newest?.clientEmail ?? clientKey,
    invoices: found.map((row) => ({
      id: row.id,
      reference: row.reference,
      dueDate: row.dueDate,
      daysOverdue: daysBetween(row.dueDate, from.today),
      owed: owedOf(row),
    })),
  }
}

/** What a statement says, for the owner. */
export function toStatement({ clientName, clientEmail, today, ...page }: StatementPage): Statement {
  return {
    client: { name: clientName, email: clientEmail },
    date: today,
    open: statementSums(page).map(({ currency, amount }) => ({ currency, amount })),
    invoices: page.invoices.map(({ id, reference, dueDate, daysOverdue, owed: { total, paid, balance, currency } }) => ({
      _id: id,
      reference,
      dueDate,
      daysOverdue,
      amount: total,
      amountPaid: paid,
      balance,
      currency,
    })),
  }
}

function owedOf(row: InvoiceRow): Owed {
  const { amountMinor, paidMinor, currency } = row
  return {
    currency,
    balance: fromMinor(balanceMinor(row), currency),
    total: fromMinor(amountMinor, currency),
    paid: fromMinor(paidMinor, currency),
  }
}
