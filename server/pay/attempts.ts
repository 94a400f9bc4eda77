import { and, asc, eq, isNull, ne, type SQL, sql } from 'drizzle-orm'
import { isTestKey } from '#contract/payment-settings.ts'
import { lockAccount } from '#server/accounts/accounts.ts'
import { balanceMinor } from '#server/invoices/balance.ts'
import { type AfterChange, type InvoiceRow, invoices } from '#server/invoices/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import { arrayText, type Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { type Keys, paysOnline, providerFor, readKeys, sealForAttempt } from './keys.ts'
import { type PaymentProvider, ProviderError, type ProviderLink } from './razorpay.ts'
import { payAttemptInvoices, payAttempts } from './tables.ts'
import { pageTexts } from './texts.ts'
import type { Opened } from './view.ts'

export type Attempt = typeof payAttempts.$inferSelect
type Part = Pick<typeof payAttemptInvoices.$inferSelect, 'invoiceId' | 'place' | 'amountMinor' | 'balanceMinor'>

/** A link at the provider lives so long. */
const linkLives = { hours: 1 }
/** One of the same amount is used again for so long: a client who goes back and presses again pays by the same link. */
const reusedFor = { minutes: 10 }
/** Emails wait for an attempt at most so long. */
const longestHold = { hours: 2 }
/** Attempts that hold the emails of an invoice within a day: beginning again and again must not silence its reminders. */
const mostHolds = 3
/** When the provider is asked for the first time. */
const firstAsk = { seconds: 20 }
/** The provider takes no less, in paise. */
const leastOnline = 100

export const isOpen = ({ state }: Pick<Attempt, 'state'>) => state === 'starting' || state === 'open'
export const openStates = sql`('starting', 'open')`

/** What a client wants to pay, in paise: `amountMinor` of `balanceMinor`, which the page showed. */
export interface Wanted {
  amountMinor: number
  balanceMinor: number
  /** The address of the page, where the provider leads back to. */
  callbackUrl: string
}

/**
 * Starts a payment of an invoice, or of all open ones of a client, and answers the attempt whose link the client opens: `changed` where the balance
 * is another one now, `failed` where the provider has made no link that is known of. Nothing was charged then.
 */
export async function startPayment(deps: Deps, opened: Opened, wanted: Wanted, now: Instant): Promise<Attempt | 'changed' | 'failed'> {
  const begun = await begin(deps, opened, wanted, now)
  if (begun === 'changed' || begun === 'failed') return begun
  const { attempt, keys, known, description } = begun
  if (attempt.state === 'open') return attempt
  const provider = providerFor(deps.config, keys)
  try {
    if (!known) return await makeLink(deps, provider, attempt, { description, callbackUrl: wanted.callbackUrl })
    const link = await provider.find(attempt.id)
    if (link) return await openLink(deps.db, provider, attempt.id, link)
  } catch (error) {
    return noLink(deps, attempt, error)
  }
  // Its making was not answered, and there is none: should it appear after all, it is cancelled.
  await cancelAttempts(deps.db, eq(payAttempts.id, attempt.id), now)
  return startPayment(deps, opened, wanted, now)
}

/** Makes the link of an attempt; one whose making is not answered is looked for before it counts as not made. */
async function makeLink(
  { db }: Pick<Deps, 'db'>,
  provider: PaymentProvider,
  attempt: Attempt,
  about: { description: string; callbackUrl: string },
): Promise<Attempt> {
  const { id, amountMinor, expiresAt } = attempt
  let link: ProviderLink | null
  try {
    link = await provider.begin({ ...about, amount: amountMinor, reference: id, expiresAt })
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    link = await provider.find(id)
    if (!link && error.kind === 'refused')
      await db.update(payAttempts).set({ state: 'failed', nextAskAt: null, sealedSecret: null }).where(eq(payAttempts.id, id))
    if (!link) throw error
  }
  return openLink(db, provider, id, link)
}

/** Where the account was deleted meanwhile, its link is cancelled: nothing could record its payment. */
async function openLink(db: Database, provider: PaymentProvider, id: string, link: ProviderLink): Promise<Attempt> {
  const attempt = await markOpen(db, id, link)
  if (attempt) return attempt
  await provider.cancel(link.id)
  throw new ProviderError('refused', 'The account of an online payment was deleted while its link was made.')
}

function noLink({ log }: Pick<Deps, 'log'>, { id }: Attempt, error: unknown): 'failed' {
  if (!(error instanceof ProviderError)) throw error
  log.warn({ err: error, attemptId: id }, 'An online payment could not be started.')
  return 'failed'
}

/** The provider has the link. The background may have found it first. Null where the account is deleted. */
export async function markOpen(db: Database, id: string, { id: providerId, url }: ProviderLink): Promise<Attempt | null> {
  await db
    .update(payAttempts)
    .set({ state: 'open', providerId, url })
    .where(and(eq(payAttempts.id, id), eq(payAttempts.state, 'starting')))
  const [attempt] = await db.select().from(payAttempts).where(eq(payAttempts.id, id))
  return attempt ?? null
}

interface Begun {
  attempt: Attempt
  keys: Keys
  /** The provider may have its link already. */
  known: boolean
  description: string
}

/** The row before the provider is asked. An open attempt over one of the invoices is used again, or cancelled: two links could both be paid. */
async function begin(deps: Deps, opened: Opened, wanted: Wanted, now: Instant): Promise<Begun | 'changed' | 'failed'> {
  const { config } = deps
  const { ownerId, linkId } = opened
  return deps.db.transaction(async (tx) => {
    const owner = await lockAccount(tx, ownerId)
    const keys = owner && (await readKeys(tx, config, ownerId))
    if (!keys || !paysOnline(config, keys)) return 'failed'
    const payable = await readPayable(tx, opened)
    const balance = payable.reduce((sum, row) => sum + balanceMinor(row), 0)
    const { amountMinor } = wanted
    if (balance !== wanted.balanceMinor || amountMinor > balance || amountMinor < leastOnline) return 'changed'
    const parts = divide(payable, amountMinor)
    const description = pageTexts.onlineFor(parts.map(({ invoiceId }) => payable.find(({ id }) => id === invoiceId)?.reference ?? ''))
    const same = sql`${payAttempts.linkId} = ${linkId}::uuid AND ${payAttempts.keyId} = ${keys.keyId} AND ${payAttempts.amountMinor} = ${amountMinor}::bigint
      AND ${payAttempts.startedAt} > ${now.subtract(reusedFor).toString()}::timestamptz AND NOT ${payAttempts.cancelWanted}
      AND ${sameParts(parts)}`
    const open = and(eq(payAttempts.ownerId, ownerId), sql`${payAttempts.state} IN ${openStates}`)
    const [again] = await tx.select().from(payAttempts).where(and(open, same)).orderBy(asc(payAttempts.startedAt)).limit(1)
    const ids = arrayText(parts.map(({ invoiceId }) => invoiceId))
    const ofThese = sql`EXISTS (SELECT 1 FROM pay_attempt_invoices x WHERE x.attempt_id = ${payAttempts.id} AND x.invoice_id = ANY(${ids}::uuid[]))`
    await cancelAttempts(tx, and(open, ofThese, again && ne(payAttempts.id, again.id)), now)
    if (again) return { attempt: again, keys, known: true, description }
    const since = sql`${payAttempts.startedAt} > ${now.subtract({ hours: 24 }).toString()}::timestamptz AND ${payAttempts.state} <> 'paid'`
    const holds = (await tx.$count(payAttempts, and(eq(payAttempts.ownerId, ownerId), since, ofThese))) < mostHolds
    const attempt = await storeAttempt(deps, tx, { ownerId, linkId, amountMinor, keys, parts, holds }, now)
    return { attempt, keys, known: false, description }
  })
}

/** A new attempt, with its parts. */
async function storeAttempt(
  { config }: Pick<Deps, 'config'>,
  tx: Database,
  about: { ownerId: string; linkId: string | null; amountMinor: number; keys: Keys; parts: Part[]; holds: boolean },
  now: Instant,
): Promise<Attempt> {
  const { keys, parts, holds, ...attempt } = about
  const id = newId()
  const [stored] = await tx
    .insert(payAttempts)
    .values({
      ...attempt,
      id,
      state: 'starting',
      keyId: keys.keyId,
      sealedSecret: sealForAttempt(config, id, keys.keySecret),
      startedAt: now,
      expiresAt: now.add(linkLives),
      holdUntil: holds ? now.add(longestHold) : now,
      nextAskAt: now.add(firstAsk),
    })
    .returning()
  if (!stored) throw new Error('An attempt to pay was not stored.')
  if (parts.length > 0)
    await tx.insert(payAttemptInvoices).values(parts.map((part) => ({ ...part, ownerId: about.ownerId, attemptId: id })))
  return stored
}

/**
 * A link over ₹1.00 by keys of the test mode, for the owner to try. Answers its address; throws ProviderError, and answers null where the keys are not
 * of the test mode.
 */
export async function startTrial(deps: Deps, ownerId: string, callbackUrl: string, now: Instant): Promise<string | null> {
  const keys = await readKeys(deps.db, deps.config, ownerId)
  if (!keys || !isTestKey(keys.keyId)) return null
  const attempt = await deps.db.transaction((tx) =>
    storeAttempt(deps, tx, { ownerId, linkId: null, amountMinor: leastOnline, keys, parts: [], holds: false }, now),
  )
  const { url } = await makeLink(deps, providerFor(deps.config, keys), attempt, { description: pageTexts.onlineTrial, callbackUrl })
  return url
}

/** What a link can pay online: its invoice, or every open one of its client, oldest first. */
async function readPayable(tx: Database, { ownerId, clientKey, invoice }: Opened): Promise<InvoiceRow[]> {
  const which = invoice ? eq(invoices.id, invoice.id) : sql`lower(${invoices.clientEmail}) = ${clientKey}`
  return tx
    .select()
    .from(invoices)
    .where(and(eq(invoices.ownerId, ownerId), which, eq(invoices.currency, 'INR'), isNull(invoices.deletedAt), ne(invoices.status, 'paid')))
    .orderBy(asc(invoices.dueDate), asc(invoices.id))
    .limit(500)
}

function divide(payable: InvoiceRow[], amountMinor: number): Part[] {
  let left = amountMinor
  return payable.flatMap((row, place) => {
    const part = Math.min(left, balanceMinor(row))
    left -= part
    return part === 0 ? [] : [{ invoiceId: row.id, place, amountMinor: part, balanceMinor: balanceMinor(row) }]
  })
}

function sameParts(parts: Part[]): SQL {
  const wanted = parts.map(({ invoiceId, amountMinor, balanceMinor }) => `${invoiceId} ${amountMinor} ${balanceMinor}`)
  return sql`ARRAY(SELECT x.invoice_id || ' ' || x.amount_minor || ' ' || x.balance_minor FROM pay_attempt_invoices x
    WHERE x.attempt_id = ${payAttempts.id} ORDER BY x.place) = ${arrayText(wanted)}::text[]`
}

/** Has open attempts cancelled at the provider, in the background and within seconds. One that turns out to be paid is recorded. */
export async function cancelAttempts(tx: Database, which: SQL | undefined, now: Instant): Promise<void> {
  await tx
    .update(payAttempts)
    .set({ cancelWanted: true, nextAskAt: now, wakes: sql`${payAttempts.wakes} + 1` })
    .where(and(sql`${payAttempts.state} IN ${openStates}`, eq(payAttempts.cancelWanted, false), which))
}

/** Cancels what was started over another balance, or from a link that is dead. Runs when invoices have changed. */
export async function cancelChanged(...[tx, ownerId, invoiceIds, now]: Parameters<AfterChange>): Promise<void> {
  if (invoiceIds.length === 0) return
  const changed = sql`EXISTS (
    SELECT 1 FROM pay_attempt_invoices x JOIN invoices i ON i.id = x.invoice_id
    WHERE x.attempt_id = ${payAttempts.id} AND x.invoice_id = ANY(${arrayText(invoiceIds)}::uuid[])
      AND (i.deleted_at IS NOT NULL OR i.currency <> 'INR' OR i.amount_minor - i.paid_minor <> x.balance_minor
        OR NOT EXISTS (SELECT 1 FROM pay_links l WHERE l.id = ${payAttempts.linkId} AND l.client_key = lower(i.client_email))))`
  await cancelAttempts(tx, and(eq(payAttempts.ownerId, ownerId), changed), now)
}

/** After a restore from a backup: the provider is asked about everything that was open then, and emails about it wait until it has answered. */
export async function askAgain(tx: Database, now: Instant): Promise<void> {
  await tx
    .update(payAttempts)
    .set({ nextAskAt: now, holdUntil: now.add(longestHold), wakes: sql`${payAttempts.wakes} + 1` })
    .where(sql`${payAttempts.state} IN ${openStates}`)
}
