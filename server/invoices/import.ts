import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { type ImportResult, type InvoiceDraft, type InvoiceImport, invoiceDraft } from '#contract/invoices.ts'
import { toMinor } from '#contract/money.ts'
import type { Instant } from '#server/platform/clock.ts'
import { analyzeGrown, type Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { type Line, type MadeLine, madeBefore, rememberLines } from './idempotency.ts'
import { createInvoices, localDate, lockOwner } from './invoices.ts'
import { heldImport, noteHeldImports } from './pauses.ts'
import { type AfterChange, invoices, manyInvoices, writtenInBulk } from './tables.ts'
import { texts } from './texts.ts'

/** Lines per transaction; in between, others get their turn. */
const chunk = 100

type Outcome = ImportResult['lines'][number]
/** `key`: the Idempotency-Key of the request; null without one. */
type Asked = { duplicates: 'keep' | 'refuse'; pastDue: InvoiceImport['pastDue']; key: string | null }

/**
 * Creates the valid lines by `createInvoices`, and reports the error of every other. A created line stays, even if later ones fail. Within
 * a day the same lines under the same key get the invoices created before; without a key they are duplicates and add nothing, unless
 * duplicates are kept. Invoices past due are held in the statement that creates them where daily reminders are on: no email may follow from
 * an import whose last question was never answered.
 */
export async function importInvoices(
  db: Database,
  ownerId: string,
  { lines, keepDuplicates, pastDue, key }: InvoiceImport & { key: string | null },
  now: Instant,
  afterChange: AfterChange,
  config: Pick<Deps['config'], 'razorpay'>,
): Promise<ImportResult> {
  const outcomes: Outcome[] = []
  const good: Line[] = []
  for (const [index, given] of lines.entries()) {
    const parsed = invoiceDraft.safeParse(given)
    if (parsed.success) good.push({ line: index + 1, draft: parsed.data })
    else outcomes.push({ line: index + 1, ...inWords(parsed.error) })
  }
  for (let start = 0; start < good.length; start += chunk) {
    const part = good.slice(start, start + chunk)
    const asked: Asked = { duplicates: keepDuplicates ? 'keep' : 'refuse', pastDue, key }
    const written = await db.transaction((tx) => writeDown(tx, ownerId, { lines: part, ...asked }, now, afterChange, config))
    outcomes.push(...written)
  }
  if (good.length >= manyInvoices) await analyzeGrown(db, writtenInBulk)
  outcomes.sort((one, other) => one.line - other.line)
  return { imported: outcomes.filter((outcome) => '_id' in outcome).length, lines: outcomes }
}

async function writeDown(
  tx: Database,
  ownerId: string,
  { lines, duplicates, pastDue, key }: { lines: Line[] } & Asked,
  now: Instant,
  afterChange: AfterChange,
  config: Pick<Deps['config'], 'razorpay'>,
): Promise<Outcome[]> {
  const owner = await lockOwner(tx, ownerId)
  const made = key === null ? new Map<number, MadeLine>() : await madeBefore(tx, ownerId, { key, lines }, now)
  const outcomes = [...made].map(([line, before]) => again(line, before))
  const unmade = lines.filter(({ line }) => !made.has(line))
  const known = duplicates === 'keep' ? new Map<string, string>() : await alike(tx, ownerId, unmade)
  const fresh: Line[] = []
  const before = new Map<string, Map<string | undefined, number>>()
  for (const { line, draft } of unmade) {
    const look = lookOf(draft, owner.currency)
    const { reference } = draft
    const same = before.get(look) ?? new Map<string | undefined, number>()
    // Two lines may be alike in everything but their numbers.
    const twin = reference === undefined ? [...same.values()][0] : (same.get(reference) ?? same.get(undefined))
    const first = known.get(look) ?? (twin === undefined ? undefined : texts.line.name(twin))
    if (first !== undefined && duplicates === 'refuse') outcomes.push({ line, code: 'duplicate', message: texts.line.duplicate(first) })
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
    fresh.map(({ draft }) => (isHeld(draft) ? { ...draft, ...heldImport(now) } : draft)),
    now,
    afterChange,
    config,
    'import',
  )
  const written: (Line & { invoiceId: string })[] = []
  for (const [index, asked] of fresh.entries()) {
    const row = created[index]
    if (!row) continue
    if (row instanceof ProblemError) outcomes.push({ line: asked.line, ...row.problem })
    else {
      outcomes.push({ line: asked.line, _id: row.id, held: row.pausedAt !== null })
      written.push({ ...asked, invoiceId: row.id })
    }
  }
  if (fresh.some(({ draft }) => isHeld(draft))) await noteHeldImports(tx, ownerId, now)
  if (key !== null) await rememberLines(tx, ownerId, { key, lines: written }, now)
  return outcomes
}

/** The result for a line that was already created under the same key. */
function again(line: number, { draft, invoiceId, held }: MadeLine): Outcome {
  if (draft === 'another') return { line, code: 'conflict', message: texts.line.keyUsed }
  if (invoiceId === null) return { line, code: 'conflict', message: texts.line.deleted }
  return { line, _id: invoiceId, held }
}

/** The references of existing invoices with the client email, amount, currency and due date of one of the lines. */
async function alike(tx: Database, ownerId: string, lines: Line[]): Promise<Map<string, string>> {
  const emails = [...new Set(lines.map(({ draft }) => draft.clientEmail.toLowerCase()))]
  const email = sql<string>`lower(${invoices.clientEmail})`
  const found = await tx
    .select({ email, amount: invoices.amountMinor, currency: invoices.currency, dueDate: invoices.dueDate, reference: invoices.reference })
    .from(invoices)
    .where(and(eq(invoices.ownerId, ownerId), isNull(invoices.deletedAt), inArray(email, emails)))
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
