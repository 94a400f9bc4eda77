import { setImmediate } from 'node:timers/promises'
import type { Verdict } from '#contract/bank-file.ts'
import { bankTexts as texts } from './texts.ts'

/*
 * Which invoices a line of a bank file pays. A wrong proposal that is ticked would record a payment that never came, so `sure` needs a whole
 * reference in the text, or one that the client named. All else is looked at by a person.
 */

/** An invoice as the matching sees it. Amounts in minor units. */
export interface Payable {
  id: string
  reference: string
  clientName: string
  dueDate: string
  /** 0 where it is paid: its reference still counts, so that a shorter one inside it is not taken for it. */
  balanceMinor: number
  /** What was recorded of it and when, without what was taken back. */
  payments: { amountMinor: number; paidOn: string }[]
}

/** What a client said about a payment, not decided yet. */
export interface OpenAnswer {
  invoiceId: string
  reference: string
  amountMinor: number
}

/** A payment that was recorded with a reference of its own, such as a UTR. Not those of bank files: they are known by their lines. */
export interface NamedPayment {
  invoiceId: string
  /** The reference of the invoice. */
  invoice: string
  reference: string
  amountMinor: number
  paidOn: string
}

export interface BankLine {
  date: string
  amountMinor: number
  description: string
  reference: string
  name: string
  /** It is recorded already, by its hash. */
  recorded: boolean
}

export interface Match {
  verdict: Verdict
  invoices: { invoiceId: string; amountMinor: number }[]
  reason: string
  /** It was perhaps recorded before: no payment of its own. */
  again?: boolean
}

/** Formats minor units for a reason. */
type Format = (minor: number) => string

/** Runs of letters or of digits that are read together as one reference at most: more than any numbering scheme has. */
const longestReference = 8
/** In days: the same amount on the same invoice within so few is perhaps one payment seen twice. */
const nearby = 3
/** In days: who records a transfer by hand does so as it arrives, or when they come to it, and its day is then that one. */
export const recordedWithin = 14

/**
 * Matches lines with invoices, in the order of their dates: what a line surely pays is no longer open for the others, and what one likely pays
 * only where nothing else fits. `invoices` are the open ones, and those that are paid and whose reference is in a line.
 */
export async function matchLines(
  lines: BankLine[],
  known: { invoices: Payable[]; answers: OpenAnswer[]; payments: NamedPayment[] },
  format: Format,
): Promise<Match[]> {
  const index = indexOf(known.invoices, known.payments)
  const left = new Map(known.invoices.map(({ id, balanceMinor }) => [id, balanceMinor]))
  const likely = new Set<string>()
  const matches = new Map<BankLine, Match>()
  const inOrder = lines.toSorted((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0))
  for (const isSureOnly of [true, false])
    for (const [at, line] of inOrder.entries()) {
      // Calls to this process must not wait for a whole file.
      if (at % 100 === 99) await setImmediate()
      if (matches.has(line)) continue
      const match = matchLine(line, { index, left, likely, answers: known.answers, format })
      if (match.verdict === 'sure')
        for (const { invoiceId, amountMinor } of match.invoices) left.set(invoiceId, Math.max(0, (left.get(invoiceId) ?? 0) - amountMinor))
      else if (isSureOnly) continue
      else if (!match.again) for (const { invoiceId } of match.invoices) likely.add(invoiceId)
      matches.set(line, match)
    }
  return lines.map((line) => matches.get(line) ?? none)
}

const none: Match = { verdict: 'none', invoices: [], reason: '' }

interface Index {
  byId: Map<string, Payable>
  byReference: Map<string, Payable[]>
  byBalance: Map<number, Payable[]>
  byPayment: Map<string, NamedPayment[]>
}

interface Known {
  index: Index
  /** What is left to pay of each invoice, without what earlier lines surely pay. */
  left: Map<string, number>
  /** What earlier lines likely pay. */
  likely: Set<string>
  answers: OpenAnswer[]
  format: Format
}

function indexOf(invoices: Payable[], payments: NamedPayment[]): Index {
  const byReference = Map.groupBy(invoices, ({ reference }) => bare(reference))
  // The reference of an invoice is in each of its transfers, and says nothing about one of them.
  const own = payments.filter(({ reference }) => !byReference.has(bare(reference)))
  return {
    byId: new Map(invoices.map((invoice) => [invoice.id, invoice])),
    byReference,
    byPayment: Map.groupBy(own, ({ reference }) => bare(reference)),
    byBalance: Map.groupBy(invoices, ({ balanceMinor }) => balanceMinor),
  }
}

function matchLine(line: BankLine, { index, left, likely, answers, format }: Known): Match {
  if (line.recorded) return { ...none, verdict: 'recorded', reason: texts.recorded }
  const text = asText(line)
  const named = namedIn(text, index.byReference)
  const balanceOf = ({ id }: Payable) => left.get(id) ?? 0
  const open = named.filter((one) => balanceOf(one.invoice) > 0)
  const all = (list: Payable[], amounts = list.map(balanceOf)) =>
    list.map(({ id }, at) => ({ invoiceId: id, amountMinor: amounts[at] ?? 0 }))

  const again = (invoiceId: string, reference: string): Match => ({
    verdict: 'likely',
    invoices: [{ invoiceId, amountMinor: line.amountMinor }],
    reason: texts.perhapsRecorded(reference),
    again: true,
  })
  const twice = named.map(({ invoice }) => invoice).find((invoice) => isNearby(invoice, line))
  if (twice) return again(twice.id, twice.reference)
  const recorded = (index.byPayment.size === 0 ? [] : tokensIn(line))
    .flatMap((token) => index.byPayment.get(token) ?? [])
    .find(({ amountMinor, paidOn }) => amountMinor === line.amountMinor && daysApart(line.date, paidOn) <= recordedWithin)
  if (recorded) return again(recorded.invoiceId, recorded.invoice)

  const [only] = open
  const certain = open.every(({ whole }) => whole)
  const owed = open.reduce((sum, { invoice }) => sum + balanceOf(invoice), 0)
  const references = open.map(({ invoice }) => invoice.reference)
  if (only && open.length === 1) {
    const fits = line.amountMinor <= owed
    return {
      verdict: certain && fits ? 'sure' : 'likely',
      invoices: all([only.invoice], [line.amountMinor]),
      reason: fits ? texts.named(references) : texts.namedButMore(only.invoice.reference, format(owed)),
    }
  }
  if (open.length > 1)
    return owed === line.amountMinor
      ? { verdict: certain ? 'sure' : 'likely', invoices: all(open.map(({ invoice }) => invoice)), reason: texts.namedTogether(references) }
      : {
          verdict: 'likely',
          ...spread(
            open.map(({ invoice }) => invoice),
            line.amountMinor,
            balanceOf,
          ),
          reason: texts.namedButOther(references, format(owed)),
        }

  const answer = answers.find(({ reference, amountMinor }) => amountMinor === line.amountMinor && isNamed(text, reference))
  const answered = answer && index.byId.get(answer.invoiceId)
  if (answered && isNearby(answered, line)) return again(answered.id, answered.reference)
  if (answered && balanceOf(answered) >= line.amountMinor)
    return { verdict: 'sure', invoices: all([answered], [line.amountMinor]), reason: texts.answered(answered.clientName) }

  const equal = (index.byBalance.get(line.amountMinor) ?? []).filter((invoice) => balanceOf(invoice) === line.amountMinor)
  const words = wordsOf(text)
  const byName = equal.filter(({ clientName }) => [...wordsOf(clientName)].some((word) => words.has(word)))
  const candidates = byName.length > 0 ? byName : equal.length === 1 ? equal : []
  const isTaken = ({ id }: Payable) => Number(likely.has(id))
  const [best] = candidates.toSorted((a, b) => isTaken(a) - isTaken(b) || (a.dueDate < b.dueDate ? -1 : 1))
  if (!best) return none
  if (isNearby(best, line)) return again(best.id, best.reference)
  const reason = byName.length > 0 ? texts.amountAndName(best.reference, best.clientName) : texts.amountOnly(best.reference)
  return { verdict: 'likely', invoices: all([best], [line.amountMinor]), reason }
}

/** An amount over invoices, the oldest first; what is left over is on the last one. */
function spread(invoices: Payable[], amountMinor: number, balanceOf: (invoice: Payable) => number): Pick<Match, 'invoices'> {
  let rest = amountMinor
  const parts = invoices
    .toSorted((a, b) => (a.dueDate < b.dueDate ? -1 : 1))
    .map((invoice, at, { length }) => {
      const part = at === length - 1 ? rest : Math.min(rest, balanceOf(invoice))
      rest -= part
      return { invoiceId: invoice.id, amountMinor: part }
    })
  return { invoices: parts.filter((part) => part.amountMinor > 0) }
}

const daysApart = (one: string, other: string) => Math.abs(Temporal.PlainDate.from(one).until(other, { largestUnit: 'days' }).days)

function isNearby({ payments }: Payable, { date, amountMinor }: BankLine): boolean {
  return payments.some((payment) => payment.amountMinor === amountMinor && daysApart(date, payment.paidOn) <= nearby)
}

/** A reference without case, spaces, `-` and `/`; empty where it is too short, or has no figure, to be recognised in a text. */
export function bare(reference: string): string {
  const text = reference
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s/-]/gu, '')
  return text.length >= 4 && /\p{N}/u.test(text) ? text : ''
}

/** A run of letters or of digits, or of anything else. */
interface Run {
  text: string
  kind: 'letters' | 'digits' | 'gap' | 'other'
}

function runsOf(text: string): Run[] {
  const found = text
    .normalize('NFKC')
    .toLowerCase()
    .matchAll(/(?<letters>[\p{L}\p{M}]+)|(?<digits>\p{N}+)|(?<gap>[\s/-]+)|(?<other>[^\p{L}\p{M}\p{N}\s/-]+)/gu)
  return [...found].map(({ 0: run, groups }) => ({
    text: run,
    kind: groups?.letters ? 'letters' : groups?.digits ? 'digits' : groups?.gap ? 'gap' : 'other',
  }))
}

interface Token {
  text: string
  /** Where it begins and ends, in runs. */
  from: number
  to: number
  /** After which of its characters two groups of digits, or two words, meet. */
  joints: Set<number>
  /** A group of digits follows or precedes it behind nothing but `-` or `/`: perhaps it is a part of a longer number. */
  continued: boolean
}

/** Everything in a text that could be a reference: runs that follow each other with nothing but spaces, `-` and `/` in between. */
function* tokensOf(text: string): Generator<Token> {
  const runs = runsOf(text)
  const isPart = (at: number) => runs[at]?.kind === 'letters' || runs[at]?.kind === 'digits'
  const tight = (at: number) => runs[at]?.kind === 'gap' && !/\s/u.test(runs[at]?.text ?? '')
  for (let from = 0; from < runs.length; from += 1) {
    // Not in the middle of a word such as REF0042.
    if (!isPart(from) || isPart(from - 1)) continue
    let joined = ''
    let last: Run['kind'] | null = null
    const joints = new Set<number>()
    for (let to = from, parts = 0; to < runs.length && parts < longestReference; to += 1) {
      const run = runs[to] as Run
      if (run.kind === 'other') break
      if (run.kind === 'gap') continue
      if (last === run.kind) joints.add(joined.length)
      joined += run.text
      last = run.kind
      parts += 1
      if (isPart(to + 1)) continue
      const before = runs[from]?.kind === 'digits' && tight(from - 1) && runs[from - 2]?.kind === 'digits'
      const behind = run.kind === 'digits' && tight(to + 1) && runs[to + 2]?.kind === 'digits'
      yield { text: joined, from, to, joints: new Set(joints), continued: before || behind }
    }
  }
}

interface Named {
  invoice: Payable
  /** Whether it is this reference without a doubt. */
  whole: boolean
}

/** The invoices whose references are in a text, each once. Of references inside one another only the longest counts. */
function namedIn(text: string, byReference: Map<string, Payable[]>): Named[] {
  const found = [...tokensOf(text)].flatMap((token) => {
    const all = token.text.length >= 4 ? (byReference.get(token.text) ?? []) : []
    // 15/01 is no invoice 1501: where figures meet in the text, they must meet in the reference.
    const invoices = all.filter(({ reference }) => [...token.joints].every((joint) => jointsOf(reference).has(joint)))
    return invoices.map((invoice) => ({ token, invoice, whole: all.length === 1 && !token.continued }))
  })
  const longest = found.filter(
    ({ token }) =>
      !found.some(
        ({ token: other }) =>
          other !== token && other.from <= token.from && other.to >= token.to && other.to - other.from > token.to - token.from,
      ),
  )
  const once = Map.groupBy(longest, ({ invoice }) => invoice.id)
  return [...once.values()].flatMap((same) => same.slice(0, 1).map(({ invoice }) => ({ invoice, whole: same.some(({ whole }) => whole) })))
}

function jointsOf(reference: string): Set<number> {
  const joints = new Set<number>()
  let length = 0
  let last: Run['kind'] | null = null
  for (const run of runsOf(reference)) {
    if (run.kind === 'gap') continue
    if (run.kind === last) joints.add(length)
    length += run.text.length
    last = run.kind
  }
  return joints
}

/** Whether a text holds the reference of a payment, such as a UTR, as a whole token. */
function isNamed(text: string, reference: string): boolean {
  const wanted = bare(reference)
  return wanted !== '' && [...tokensOf(text)].some((token) => token.text === wanted)
}

/** Whether a recorded payment is the one that a reference means: it has this reference, or its texts hold it. */
export function isReferredTo({ reference, note }: { reference: string; note: string }, named: string): boolean {
  const plain = (text: string) => text.trim().toLowerCase()
  return plain(named) !== '' && (plain(reference) === plain(named) || isNamed([reference, note].join(' | '), named))
}

/** Words of at least four letters, without accents. */
function wordsOf(text: string): Set<string> {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return new Set((plain.match(/\p{L}{4,}/gu) ?? []).filter((word) => !everywhere.has(word)))
}

/** Words that are in many names, and in what banks write themselves. */
const everywhere = new Set(
  'private limited company services solutions enterprises traders india from payment invoice transfer credit neft imps rtgs sepa bank gmbh'.split(
    ' ',
  ),
)

/** Everything in a line that could be the reference of an invoice, as `bare` writes it. */
export function tokensIn({ description, reference, name }: { description: string; reference: string; name: string }): string[] {
  return [...tokensOf(asText({ description, reference, name }))].flatMap(({ text }) =>
    text.length >= 4 && /\p{N}/u.test(text) ? [text] : [],
  )
}

/** The bar keeps the end of one column and the beginning of the next apart. */
function asText({ description, reference, name }: { description: string; reference: string; name: string }): string {
  return [description, reference, name].join(' | ')
}
