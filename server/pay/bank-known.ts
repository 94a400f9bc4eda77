import { createHash } from 'node:crypto'
import { and, between, eq, inArray, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { BankLine } from '#contract/bank-file.ts'
import { invoicePayments } from '#server/invoices/tables.ts'
import { arrayText, type Database } from '#server/platform/database.ts'
import type { Pace } from '#server/platform/pace.ts'

/*
 * Whether a transfer of a bank file is recorded already: by the same line, by the bank's own id of it, or by another file, in another format perhaps,
 * that has the same transfer in other words.
 */

/** A transfer, in the minor units of its currency. */
export interface Transfer extends Pick<BankLine, 'date' | 'valueDate' | 'description' | 'reference' | 'name' | 'bankId' | 'place'> {
  amountMinor: number
  currency: string
}

/** Units of work of one hash, besides its text. */
const ofHash = 50
/** In days: the bank's id of a transfer on another day is another transfer's. */
const idDays = 7

/**
 * The hash of each line: date, amount and text, and how many lines of that day are the same before it, so that two equal transfers of one day are
 * two, and the same file, or one that overlaps it, is recognised.
 */
export async function hashesOf(lines: Transfer[], pace: Pace): Promise<string[]> {
  const counts = new Map<string, number>()
  const hashes: string[] = []
  for (const line of lines) {
    const text = textOf(line)
    const key = JSON.stringify([line.date, line.currency, line.amountMinor, text])
    const count = line.place ?? counts.get(key) ?? 0
    counts.set(key, count + 1)
    hashes.push(createHash('sha256').update(`${key}${count}`).digest('base64url'))
    await pace.did(ofHash + text.length)
  }
  return hashes
}

function textOf({ description, reference, name }: Transfer): string {
  return [description, reference, name].join('\n').normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim()
}

/** A transfer that was recorded from a bank file, and is not taken back as a whole. */
interface Recorded {
  hash: string
  bankId: string | null
  date: string
  currency: string
  /** What counts of it. */
  amountMinor: number
  text: string
}

/**
 * Which of the lines are recorded, by their places. With `inOtherWords` also those that another file has in other words: a proposal, since two transfers
 * of one day can be alike; what a person ticks all the same is recorded.
 */
export async function recordedLines(
  db: Database,
  ownerId: string,
  { lines, hashes, inOtherWords }: { lines: Transfer[]; hashes: string[]; inOtherWords: boolean },
  pace: Pace,
): Promise<Set<number>> {
  const known = await recordedTransfers(db, ownerId, lines, hashes)
  const found = new Set<number>()
  const byHash = new Map(known.map((one) => [one.hash, one]))
  const left = new Set(known)
  for (const [at, hash] of hashes.entries()) {
    const same = byHash.get(hash)
    if (!same) continue
    found.add(at)
    left.delete(same)
  }
  const ids = new Map<string, number>()
  for (const { bankId } of lines) if (bankId !== '') ids.set(bankId, (ids.get(bankId) ?? 0) + 1)
  const byId = Map.groupBy(left, ({ bankId }) => bankId ?? '')
  for (const [at, line] of lines.entries()) {
    // An id that several lines of a file have is none.
    if (found.has(at) || line.bankId === '' || ids.get(line.bankId) !== 1) continue
    const same = byId.get(line.bankId)?.find((one) => left.has(one) && isAlike(one, line) && daysApart(one.date, line.date) <= idDays)
    if (!same) continue
    found.add(at)
    left.delete(same)
  }
  if (!inOtherWords || left.size === 0) return found
  const byDay = Map.groupBy(left, ({ date, amountMinor, currency }) => `${date} ${amountMinor} ${currency}`)
  for (const [at, line] of lines.entries()) {
    if (found.has(at)) continue
    const days = new Set([line.date, line.valueDate ?? line.date])
    const those = [...days].flatMap((day) => byDay.get(`${day} ${line.amountMinor} ${line.currency}`) ?? [])
    const words = those.length === 0 ? null : wordsOf(textOf(line))
    await pace.did(ofHash + those.length * ofHash)
    const same = words && those.find((one) => left.has(one) && isSameText(words, wordsOf(one.text)))
    if (!same) continue
    found.add(at)
    left.delete(same)
  }
  return found
}

function isAlike(one: Recorded, other: Transfer): boolean {
  return one.currency === other.currency && one.amountMinor === other.amountMinor
}

function daysApart(one: string, other: string): number {
  return Math.abs(Date.parse(one) - Date.parse(other)) / 86_400_000
}

/** The transfers of bank files that one of the lines may be. Also one of which only a part counts: what was taken back of it is recorded by hand. */
async function recordedTransfers(db: Database, ownerId: string, lines: Transfer[], hashes: string[]): Promise<Recorded[]> {
  const base = sql<string>`split_part(${invoicePayments.bankLineHash}, '.', 1)`
  const dates = lines.flatMap(({ date, valueDate }) => (valueDate === null ? [date] : [date, valueDate])).toSorted()
  const [first, last = first] = [dates[0], dates.at(-1)]
  if (first === undefined || last === undefined) return []
  const days = { days: idDays }
  const around: SQL = between(
    invoicePayments.paidOn,
    Temporal.PlainDate.from(first).subtract(days).toString(),
    Temporal.PlainDate.from(last).add(days).toString(),
  )
  const found = await db
    .select({
      hash: base,
      bankId: invoicePayments.bankId,
      date: invoicePayments.paidOn,
      currency: invoicePayments.currency,
      amountMinor: invoicePayments.amountMinor,
      reference: invoicePayments.reference,
      note: invoicePayments.note,
    })
    .from(invoicePayments)
    .where(
      and(
        eq(invoicePayments.ownerId, ownerId),
        isNotNull(invoicePayments.bankLineHash),
        isNull(invoicePayments.voidedAt),
        or(
          and(around, inArray(invoicePayments.currency, [...new Set(lines.map(({ currency }) => currency))])),
          sql`${base} = ANY(${arrayText(hashes)}::text[])`,
        ),
      ),
    )
  const whole = new Map<string, Recorded>()
  for (const { hash, bankId, date, currency, amountMinor, reference, note } of found) {
    const before = whole.get(hash)
    if (before) before.amountMinor += amountMinor
    else whole.set(hash, { hash, bankId, date, currency, amountMinor, text: `${note} ${reference}`.normalize('NFKC').toLowerCase() })
  }
  return [...whole.values()]
}

/** The words of a text, and of these the ones that could be a reference: with a figure, and at least five characters. */
interface Words {
  all: Set<string>
  references: Set<string>
}

/** What banks write themselves, and so differently in each format. */
const ofBanks = new Set(
  'neft imps rtgs upi sepa ach credit debit transfer payment from the and for von und der die das virement transferencia bonifico gutschrift ueberweisung überweisung svwz eref kref mref cred bank gmbh ltd inc'.split(
    ' ',
  ),
)

function wordsOf(text: string): Words {
  const all = new Set<string>()
  const references = new Set<string>()
  for (const [word] of text.matchAll(/[\p{L}\p{N}\p{M}]+(?:[-/][\p{L}\p{N}\p{M}]+)*/gu)) {
    const whole = word.replace(/[-/]/g, '')
    if (whole.length >= 5 && /\p{N}/u.test(whole)) references.add(whole)
    for (const part of word.split(/[-/]/)) if (part.length >= 3 && !ofBanks.has(part)) all.add(part)
  }
  return { all, references }
}

/** Whether two texts are of one transfer: all references of one are in the other, or most words of the shorter one are. */
function isSameText(one: Words, other: Words): boolean {
  const isIn = (some: Set<string>, all: Set<string>) => some.size > 0 && [...some].every((word) => all.has(word))
  if (isIn(one.references, other.references) || isIn(other.references, one.references)) return true
  const [few, many] = one.all.size <= other.all.size ? [one.all, other.all] : [other.all, one.all]
  const shared = [...few].filter((word) => many.has(word)).length
  return shared >= 1 && shared * 3 >= few.size * 2
}
