import { and, eq, inArray, isNotNull, isNull, or, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { isOtherClients, renamedInvoice } from '#contract/import/again.ts'
import { type ImportResult, type InvoiceDraft, type InvoiceImport, invoiceDraft } from '#contract/invoices.ts'
import { toMinor } from '#contract/money.ts'
import type { AccountRow } from '#server/accounts/accounts.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import { analyzeGrown, arrayText, type Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { openPace } from '#server/platform/pace.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { type Line, type MadeLine, madeBefore, rememberLines } from './idempotency.ts'
import { changedBefore, followLines, importIdFor, lockByImportedAs, lockByReference } from './import-again.ts'
import { createInvoices, localDate, lockOwner, refusedAmount } from './invoices.ts'
import { heldImport, noteHeldImports } from './pauses.ts'
import { type AfterChange, invoiceChanges, invoices, manyInvoices, writtenInBulk } from './tables.ts'
import { texts } from './texts.ts'

/** Lines per transaction; in between, others get their turn. */
const chunk = 100
/** Units of work of a line that is wrong. */
const ofLine = 1_000

type Outcome = ImportResult['lines'][number]
/**
 * `key`: the Idempotency-Key of the request; null without one. `seen`: the first line of each invoice so far, by its id. `named`: the references of
 * all lines.
 */
type Asked = Pick<InvoiceImport, 'pastDue' | 'keepDuplicates' | 'onExisting' | 'source'> & {
  key: string | null
  importId: string
  seen: Map<string, number>
  named: Set<string>
}

/**
 * Creates the valid lines by `createInvoices`, and reports the error of every other. A created line stays, even if later ones fail. Within
 * a day the same lines under the same key get the invoices created before; without a key they are duplicates and add nothing, unless
 * duplicates are kept. With `update`, a line whose reference an invoice has brings that invoice up to date. Invoices past due are held in the statement that creates them where daily reminders are on: no email may follow from
 * an import whose last question was never answered.
 */
export async function importInvoices(
  db: Database,
  ownerId: string,
  { lines, ...about }: InvoiceImport & { key: string | null; importId?: string },
  now: Instant,
  afterChange: AfterChange,
  config: Pick<Deps['config'], 'razorpay'>,
): Promise<ImportResult> {
  const { importId = about.key === null ? newId() : importIdFor(ownerId, about.key) } = about
  const outcomes: Outcome[] = []
  const seen = new Map<string, number>()
  const good: Line[] = []
  const pace = openPace()
  for (const [index, given] of lines.entries()) {
    const parsed = invoiceDraft.safeParse(given)
    if (parsed.success) good.push({ line: index + 1, draft: parsed.data })
    else outcomes.push({ line: index + 1, ...inWords(parsed.error) })
    await pace.did(ofLine)
  }
  const named = new Set(good.flatMap(({ draft }) => draft.reference ?? []))
  for (let start = 0; start < good.length; start += chunk) {
    const part = good.slice(start, start + chunk)
    const asked = { ...about, lines: part, importId, seen, named }
    const written = await db.transaction((tx) => writeDown(tx, ownerId, asked, now, afterChange, config))
    outcomes.push(...written)
  }
  if (good.length >= manyInvoices) await analyzeGrown(db, writtenInBulk)
  outcomes.sort((one, other) => one.line - other.line)
  const count = (wanted: string) => outcomes.filter((one) => 'outcome' in one && one.outcome === wanted).length
  return { importId, imported: count('created'), updated: count('updated'), unchanged: count('unchanged'), lines: outcomes }
}

async function writeDown(
  tx: Database,
  ownerId: string,
  { lines, keepDuplicates, pastDue, onExisting, source, key, importId, seen, named }: { lines: Line[] } & Asked,
  now: Instant,
  afterChange: AfterChange,
  config: Pick<Deps['config'], 'razorpay'>,
): Promise<Outcome[]> {
  const owner = await lockOwner(tx, ownerId)
  const made = key === null ? new Map<number, MadeLine>() : await madeBefore(tx, ownerId, { key, lines }, now)
  const outcomes = [...made].map(([line, before]) => again(line, before))
  for (const [line, { invoiceId }] of made) if (invoiceId !== null) seen.set(invoiceId, line)
  const left = lines.filter(({ line }) => !made.has(line))
  const isUpdate = onExisting === 'update'
  const followed = isUpdate ? await follow(tx, owner, { lines: left, source, importId, seen, named }, now, afterChange) : []
  outcomes.push(...followed.map(({ outcome }) => outcome))
  const there = new Set(followed.map(({ outcome }) => outcome.line))
  const unmade = left.filter(({ line }) => !there.has(line))
  const known = keepDuplicates ? new Map<string, string>() : await alike(tx, ownerId, unmade, isUpdate ? source : null)
  const fresh: Line[] = []
  const before = new Map<string, Map<string | undefined, number>>()
  for (const { line, draft } of unmade) {
    const look = lookOf(draft, owner.currency)
    const { reference } = draft
    const same = before.get(look) ?? new Map<string | undefined, number>()
    // Two lines may be alike in everything but their numbers.
    const twin = reference === undefined ? [...same.values()][0] : (same.get(reference) ?? same.get(undefined))
    const first = known.get(look) ?? (twin === undefined ? undefined : texts.line.name(twin))
    if (first !== undefined && !keepDuplicates) outcomes.push({ line, code: 'duplicate', message: texts.line.duplicate(first) })
    else {
      fresh.push({ line, draft })
      before.set(look, same.set(reference, line))
    }
  }
  const today = localDate(now, owner.timezone)
  const isHeld = ({ status, dueDate }: InvoiceDraft) => pastDue === 'hold' && owner.remindersActive && status !== 'paid' && dueDate < today
  const created = await createInvoices(
    tx,
    owner,
    fresh.map(({ draft }) => ({ ...draft, source, ...(isHeld(draft) ? heldImport(now) : {}) })),
    now,
    config,
    { origin: 'import', importId },
  )
  const written: (Line & { invoiceId: string })[] = []
  for (const [index, asked] of fresh.entries()) {
    const row = created[index]
    if (!row) continue
    if (row instanceof ProblemError) outcomes.push({ line: asked.line, ...row.problem })
    else {
      outcomes.push({ line: asked.line, _id: row.id, held: row.pausedAt !== null, outcome: 'created', note: null })
      written.push({ ...asked, invoiceId: row.id })
      seen.set(row.id, asked.line)
    }
  }
  if (isUpdate) {
    const ids = followed.flatMap(({ invoiceId }) => invoiceId ?? [])
    // These references are the source's own now. That of a paid line may be ours: it is how a missing invoice is marked as paid.
    const same = new Set(left.flatMap(({ draft: { reference, status } }) => (status === 'paid' ? [] : (reference ?? []))))
    if (source !== null && ids.length > 0)
      await tx
        .update(invoices)
        .set({ source, importedAs: null })
        .where(
          and(
            eq(invoices.ownerId, ownerId),
            inArray(invoices.id, ids),
            or(
              sql`${invoices.source} IS DISTINCT FROM ${source}`,
              and(isNotNull(invoices.importedAs), sql`${invoices.reference} = ANY(${arrayText([...same])}::text[])`),
            ),
          ),
        )
  }
  if (fresh.some(({ draft }) => isHeld(draft))) await noteHeldImports(tx, ownerId, now)
  if (key !== null) await rememberLines(tx, ownerId, { key, lines: written }, now)
  return outcomes
}

const noneRenamed: Awaited<ReturnType<typeof lockByImportedAs>> = new Map()

/** Brings the invoices of lines up to date: those that have their references, or had them in the source. Answers for those lines only. */
async function follow(
  tx: Database,
  owner: AccountRow,
  { lines, source, importId, seen, named }: { lines: Line[] } & Pick<Asked, 'source' | 'importId' | 'seen' | 'named'>,
  now: Instant,
  afterChange: AfterChange,
): Promise<{ invoiceId: string | null; outcome: Outcome }[]> {
  const references = lines.flatMap(({ draft }) => draft.reference ?? [])
  const byReference = await lockByReference(tx, owner.id, references)
  const others = references.filter((reference) => !byReference(reference))
  const renamed = source === null ? noneRenamed : await lockByImportedAs(tx, { ownerId: owner.id, source, references: others })
  const refused: Outcome[] = []
  const matched = lines.flatMap(({ line, draft }) => {
    const { reference } = draft
    const row = reference === undefined ? undefined : (byReference(reference) ?? renamedInvoice(renamed.get(reference), draft, named))
    if (!row) return []
    const twin = seen.get(row.id)
    const unfit = refusedAmount(draft, draft.currency ?? owner.currency)
    if (unfit) refused.push({ line, ...unfit.problem })
    // A transaction that is run again meets its own lines.
    else if (twin !== undefined && twin !== line)
      refused.push({ line, code: 'duplicate', message: texts.again.sameReference(twin, row.reference) })
    else {
      seen.set(row.id, line)
      return [{ row, draft, line }]
    }
    return []
  })
  const before = await changedBefore(
    tx,
    owner.id,
    importId,
    matched.map(({ row }) => row.id),
  )
  const done = await followLines(tx, owner, matched, { importId, origin: 'import' }, now, afterChange)
  return [
    ...refused.map((outcome) => ({ invoiceId: null, outcome })),
    ...done.map(({ row, changed, note }, at) => {
      const { id } = row
      const outcome = changed || before.has(id) ? ('updated' as const) : ('unchanged' as const)
      const { draft, line } = matched[at] as (typeof matched)[number]
      // One of another client does not come from there: it would count as paid once it is missing.
      return { invoiceId: isOtherClients(row, draft) ? null : id, outcome: { line, _id: id, held: false, outcome, note } }
    }),
  ]
}

/** The result for a line that was already created under the same key. */
function again(line: number, { draft, invoiceId, held }: MadeLine): Outcome {
  if (draft === 'another') return { line, code: 'conflict', message: texts.line.keyUsed }
  if (invoiceId === null) return { line, code: 'conflict', message: texts.line.deleted }
  return { line, _id: invoiceId, held, outcome: 'created', note: null }
}

/**
 * The references of existing invoices with the client email, amount, currency and due date of one of the lines. Those of `source` differ
 * by their numbers.
 */
async function alike(tx: Database, ownerId: string, lines: Line[], source: string | null): Promise<Map<string, string>> {
  const emails = [...new Set(lines.map(({ draft }) => draft.clientEmail.toLowerCase()))]
  const email = sql<string>`lower(${invoices.clientEmail})`
  const found = await tx
    .select({ email, amount: invoices.amountMinor, currency: invoices.currency, dueDate: invoices.dueDate, reference: invoices.reference })
    .from(invoices)
    .where(
      and(
        eq(invoices.ownerId, ownerId),
        isNull(invoices.deletedAt),
        inArray(email, emails),
        source === null ? undefined : sql`${invoices.source} IS DISTINCT FROM ${source}`,
      ),
    )
  return new Map(found.map((row) => [`${row.email} ${row.amount} ${row.currency} ${row.dueDate}`, row.reference]))
}

function lookOf({ clientEmail, amount, currency, dueDate }: InvoiceDraft, usual: string): string {
  const its = currency ?? usual
  return `${clientEmail.toLowerCase()} ${toMinor(amount, its)} ${its} ${dueDate}`
}

function inWords({ issues }: z.ZodError): Omit<Extract<Outcome, { message: string }>, 'line'> {
  const errors = issues.map(({ path, message }) => ({ path: path.join('.'), message }))
  return { code: 'invalid', message: errors[0]?.message ?? texts.line.invalid, errors }
}

/** Which of these imports made changes that were not undone yet: also where the owner has to take back a later change first. */
export async function undoableOf(db: Database, ownerId: string, importIds: string[]): Promise<Set<string>> {
  const found = await db
    .selectDistinct({ id: invoiceChanges.importId })
    .from(invoiceChanges)
    .where(and(eq(invoiceChanges.ownerId, ownerId), inArray(invoiceChanges.importId, importIds), isNull(invoiceChanges.undoneAt)))
  return new Set(found.flatMap(({ id }) => id ?? []))
}
