import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { type ImportResult, type InvoiceDraft, type InvoiceImport, invoiceDraft } from '#contract/invoices.ts'
import { toMinor } from '#contract/money.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { Refusal } from '#server/platform/refusal.ts'
import { type AfterChange, createInvoices, lockOwner } from './invoices.ts'
import { invoices } from './tables.ts'

/** So many lines share a commit; in between, others get their turn. */
const chunk = 100

type Outcome = ImportResult['lines'][number]
interface Line {
  line: number
  draft: InvoiceDraft
}

/**
 * Writes down the lines that keep the rules, by `createInvoices` as every other, and says of every other why not. A line that was written down
 * stays, whatever becomes of those behind it. Sending the same lines again adds nothing, unless duplicates are to be kept.
 */
export async function importInvoices(
  db: Database,
  ownerId: string,
  { lines, keepDuplicates }: InvoiceImport,
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
    const written = await db.transaction((tx) =>
      writeDown(tx, ownerId, { lines: part, duplicates: keepDuplicates ? 'keep' : 'refuse' }, now, afterChange, config),
    )
    outcomes.push(...written)
  }
  outcomes.sort((one, other) => one.line - other.line)
  return { imported: outcomes.filter((outcome) => '_id' in outcome).length, lines: outcomes }
}

async function writeDown(
  tx: Database,
  ownerId: string,
  { lines, duplicates }: { lines: Line[]; duplicates: 'keep' | 'refuse' },
  now: Instant,
  afterChange: AfterChange,
  config: Pick<Deps['config'], 'razorpay'>,
): Promise<Outcome[]> {
  const owner = await lockOwner(tx, ownerId)
  const outcomes: Outcome[] = []
  const known = duplicates === 'keep' ? new Map<string, string>() : await alike(tx, ownerId, lines)
  const fresh: Line[] = []
  for (const { line, draft } of lines) {
    const key = keyOf(draft)
    const twin = known.get(key)
    if (twin === undefined || duplicates === 'keep') fresh.push({ line, draft })
    else outcomes.push({ line, code: 'duplicate', message: `${twin} already has this client email, amount and due date.` })
    if (twin === undefined) known.set(key, `Line ${line}`)
  }
  const created = await createInvoices(
    tx,
    owner,
    fresh.map(({ draft }) => draft),
    now,
    afterChange,
    config,
  )
  for (const [index, row] of created.entries()) {
    const line = fresh[index]?.line ?? 0
    outcomes.push(row instanceof Refusal ? { line, ...row.problem } : { line, _id: row.id })
  }
  return outcomes
}

/** The references of invoices with the client email, amount and due date of one of the lines. */
async function alike(tx: Database, ownerId: string, lines: Line[]): Promise<Map<string, string>> {
  const emails = [...new Set(lines.map(({ draft }) => draft.clientEmail.toLowerCase()))]
  const email = sql<string>`lower(${invoices.clientEmail})`
  const found = await tx
    .select({ email, amount: invoices.amountMinor, dueDate: invoices.dueDate, reference: invoices.reference })
    .from(invoices)
    .where(and(eq(invoices.ownerId, ownerId), isNull(invoices.deletedAt), inArray(email, emails)))
  return new Map(found.map((row) => [`${row.email} ${row.amount} ${row.dueDate}`, row.reference]))
}

function keyOf({ clientEmail, amount, dueDate }: InvoiceDraft): string {
  return `${clientEmail.toLowerCase()} ${toMinor(amount)} ${dueDate}`
}

function inWords({ issues }: z.ZodError): Omit<Extract<Outcome, { message: string }>, 'line'> {
  const errors = issues.map(({ path, message }) => ({ path: path.join('.'), message }))
  return { code: 'invalid', message: errors[0]?.message ?? 'Please check this line.', errors }
}
