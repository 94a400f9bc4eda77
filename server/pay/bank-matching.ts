import type { BankEvidence, Verdict } from '#contract/bank-file.ts'
import { openPace, type Pace } from '#server/platform/pace.ts'
import {
  type Form,
  formOf,
  holds,
  isWrittenAs,
  longestOf,
  References,
  type Run,
  readRuns,
  type Token,
  wordsIn,
  wordsOfName,
} from './bank-text.ts'
import { bankTexts as texts } from './texts.ts'

/*
 * Which invoices a line of a bank file pays. A wrong proposal that is ticked would record a payment that never came, so `sure` needs a whole
 * reference in the text, or one that the client named. All else is looked at by a person. The work grows with the text and the invoices, not with
 * one times the other: both can be made by someone who wants to keep the server busy.
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
  evidence: BankEvidence[]
  /** It was perhaps recorded before: no payment of its own. */
  again?: boolean
}

export interface Known {
  /** The open ones, and those that are paid and whose reference is in a line. */
  invoices: Payable[]
  answers: OpenAnswer[]
  payments: NamedPayment[]
  /** The names of all clients: a word that two of them share is no evidence of one. */
  clients: string[]
}

/** Formats minor units for a reason. */
type Format = (minor: number) => string

/** In days: the same amount on the same invoice within so few is perhaps one payment seen twice. */
const nearby = 3
/** In days: who records a transfer by hand does so as it arrives, or when they come to it, and its day is then that one. */
export const recordedWithin = 14
/** Invoices of one line, as many as its import takes. */
const mostOfLine = 100
/** Clients that share a word and are owed the same amount; more of them are not looked at. */
const mostAlike = 50
/** Units of work of a line or an invoice, besides its text. */
const aRecord = 50

/**
 * Matches lines with invoices, in the order of their dates: what a line surely pays is no longer open for the others, and what one likely pays
 * only where nothing else fits.
 */
export async function matchLines(lines: BankLine[], known: Known, format: Format, pace: Pace = openPace()): Promise<Match[]> {
  const index = await indexOf(lines, known, pace)
  const inOrder = lines.toSorted((a, b) => compare(a.date, b.date))
  const readings = new Map<BankLine, Reading>()
  for (const line of inOrder) {
    if (!line.recorded) readings.set(line, readLine(line, index))
    await pace.did(aRecord + line.description.length + line.reference.length + line.name.length)
  }
  const matches = new Map<BankLine, Match>()
  for (const isSureOnly of [true, false])
    for (const line of inOrder) {
      const reading = readings.get(line)
      if (!reading || matches.has(line)) continue
      const match = matchLine(line, reading, index, format)
      await pace.did(aRecord * (1 + reading.named.length + reading.words.size))
      if (match.verdict === 'sure') for (const { invoiceId, amountMinor } of match.invoices) index.open.pay(invoiceId, amountMinor)
      else if (isSureOnly) continue
      else if (!match.again) for (const { invoiceId } of match.invoices) index.open.likely.add(invoiceId)
      matches.set(line, match)
    }
  return lines.map((line) => matches.get(line) ?? (line.recorded ? { ...none, verdict: 'recorded', reason: texts.recorded } : none))
}

const none: Match = { verdict: 'none', invoices: [], reason: '', evidence: [] }
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const dayOf = (date: string) => Date.parse(date) / 86_400_000

/** What a reference in a text can be one of. */
type Referred =
  | { kind: 'invoice'; form: Form; invoice: Payable }
  /** Written without the zeros that its number begins with: INV 9 for INV-0009. */
  | { kind: 'short'; invoice: Payable }
  | { kind: 'payment'; payment: NamedPayment }
  | { kind: 'answer'; answer: OpenAnswer; nth: number }

/** A client, by one spelling of the name. */
interface Client {
  words: string[]
  /** The words that no other client has. */
  own: Set<string>
  /** The whole name as one word; empty where it has one word only. */
  joined: string
}

interface Index {
  references: References<Referred>
  /** Words of the names of clients. */
  words: Set<string>
  clients: Map<string, Client>
  open: Open
}

async function indexOf(lines: BankLine[], { invoices, answers, payments, clients: names }: Known, pace: Pace): Promise<Index> {
  const clients = await clientsOf([...names, ...invoices.map(({ clientName }) => clientName)], pace)
  const words = new Set<string>()
  for (const client of clients.values()) for (const word of keysOf(client)) words.add(word)
  const references = new References<Referred>()
  const own = new Set<string>()
  for (const invoice of invoices) {
    const form = formOf(invoice.reference)
    own.add(form.text)
    references.add(form.text, { kind: 'invoice', form, invoice })
    await pace.did(aRecord + invoice.reference.length)
  }
  for (const invoice of invoices) {
    const short = withoutZeros(formOf(invoice.reference).text)
    // The number of another invoice as it is written is that one's.
    if (!own.has(short)) references.add(short, { kind: 'short', invoice })
    await pace.did(aRecord + invoice.reference.length)
  }
  for (const payment of payments) {
    const { text } = formOf(payment.reference)
    // The reference of an invoice is in each of its transfers, and says nothing about one of them.
    if (!own.has(text)) references.add(text, { kind: 'payment', payment })
    await pace.did(aRecord + payment.reference.length)
  }
  for (const [nth, answer] of answers.entries()) {
    references.add(formOf(answer.reference).text, { kind: 'answer', answer, nth })
    await pace.did(aRecord + answer.reference.length)
  }
  const open = new Open(new Set(lines.map(({ amountMinor }) => amountMinor)))
  for (const invoice of invoices.toSorted((a, b) => compare(a.dueDate, b.dueDate))) {
    const client = clients.get(invoice.clientName)
    if (client) open.add(invoice, client)
    await pace.did(aRecord)
  }
  return { references, words, clients, open }
}

/** Letters and a number that begins with zeros, without them; else empty. */
function withoutZeros(reference: string): string {
  const [, letters, number] = /^(\p{L}{2,})0+([1-9]\d*)$/u.exec(reference) ?? []
  return letters === undefined ? '' : `${letters}${number}`
}

async function clientsOf(names: string[], pace: Pace): Promise<Map<string, Client>> {
  const clients = new Map<string, Client>()
  /** Whose a word is; null: of several. */
  const only = new Map<string, string | null>()
  for (const name of names) {
    await pace.did(aRecord + name.length)
    if (clients.has(name)) continue
    const { words, joined } = wordsOfName(name)
    const who = words.join(' ')
    clients.set(name, { words, joined, own: new Set() })
    for (const word of words) only.set(word, (only.get(word) ?? who) === who && only.get(word) !== null ? who : null)
  }
  for (const { words, own } of clients.values()) {
    for (const word of words) if (only.get(word) !== null) own.add(word)
    await pace.did(aRecord)
  }
  return clients
}

function keysOf({ words, joined }: Client): string[] {
  return joined === '' ? words : [...words, joined]
}

/** Invoices of one client and one balance, the oldest first. */
interface Group {
  client: Client
  invoices: Payable[]
  /** Those before are paid or, of the second one, likely paid by earlier lines: they stay so, and are not passed over again. */
  from: { open: number; free: number }
}

/** What is left to pay of each invoice while lines are matched, and which ones have a certain amount left. */
class Open {
  /** What earlier lines likely pay. */
  readonly likely = new Set<string>()
  private readonly amounts: Set<number>
  private readonly byId = new Map<string, Payable>()
  private readonly left = new Map<string, number>()
  private readonly having = new Map<number, Set<Payable>>()
  private readonly groups = new Map<string, Group>()
  private readonly byWord = new Map<string, Group[]>()
  private readonly recorded = new Map<string, Set<string>>()

  /** Only invoices with one of these amounts are found by it. */
  constructor(amounts: Set<number>) {
    this.amounts = amounts
  }

  /** To be called in the order of the due dates. */
  add(invoice: Payable, client: Client): void {
    const { id, balanceMinor, clientName } = invoice
    this.byId.set(id, invoice)
    this.left.set(id, balanceMinor)
    if (balanceMinor <= 0 || !this.amounts.has(balanceMinor)) return
    this.having.set(balanceMinor, (this.having.get(balanceMinor) ?? new Set()).add(invoice))
    const known = this.groups.get(`${balanceMinor} ${clientName}`)
    if (known) {
      known.invoices.push(invoice)
      return
    }
    const group = { client, invoices: [invoice], from: { open: 0, free: 0 } }
    this.groups.set(`${balanceMinor} ${clientName}`, group)
    for (const word of keysOf(client)) {
      const alike = this.byWord.get(`${balanceMinor} ${word}`)
      if (!alike) this.byWord.set(`${balanceMinor} ${word}`, [group])
      else if (alike.length < mostAlike) alike.push(group)
    }
  }

  get(id: string): Payable | undefined {
    return this.byId.get(id)
  }

  balanceOf({ id }: Payable): number {
    return this.left.get(id) ?? 0
  }

  pay(id: string, amountMinor: number): void {
    const invoice = this.byId.get(id)
    if (!invoice) return
    this.left.set(id, Math.max(0, this.balanceOf(invoice) - amountMinor))
    this.having.get(invoice.balanceMinor)?.delete(invoice)
  }

  /** The only invoice with this balance. */
  only(amountMinor: number): Payable | null {
    const all = this.having.get(amountMinor)
    const [first = null] = all?.size === 1 ? all : []
    return first
  }

  /** The clients with an invoice of this balance whose names have one of these words, and their next invoice. */
  withWords(amountMinor: number, words: Iterable<string>): { client: Client; invoice: Payable }[] {
    const open = this.having.get(amountMinor)
    if (!open?.size) return []
    const groups = new Set<Group>()
    for (const word of words) for (const group of this.byWord.get(`${amountMinor} ${word}`) ?? []) groups.add(group)
    return [...groups].flatMap(({ client, invoices, from }) => {
      const next = (at: number, isPassed: (invoice: Payable) => boolean) => {
        let place = at
        for (let one = invoices[place]; one && isPassed(one); one = invoices[place]) place += 1
        return place
      }
      from.open = next(from.open, (one) => !open.has(one))
      from.free = next(Math.max(from.open, from.free), (one) => !open.has(one) || this.likely.has(one.id))
      const invoice = invoices[from.free] ?? invoices[from.open]
      return invoice ? [{ client, invoice }] : []
    })
  }

  /** Whether this amount was recorded of an invoice within a few days of a date. */
  isNearby({ id, payments }: Payable, { date, amountMinor }: BankLine): boolean {
    if (payments.length === 0) return false
    const recorded = this.recorded.get(id) ?? new Set(payments.map((one) => `${one.amountMinor} ${dayOf(one.paidOn)}`))
    this.recorded.set(id, recorded)
    for (let apart = -nearby; apart <= nearby; apart += 1) if (recorded.has(`${amountMinor} ${dayOf(date) + apart}`)) return true
    return false
  }
}

/** Words of a row: which of its texts, and where in it. */
interface Quote {
  at: number
  from: number
  to: number
}

/** What is in the text of a line. */
interface Reading {
  named: Named[]
  payments: { payment: NamedPayment; quote: Quote }[]
  answers: { answer: OpenAnswer; nth: number; quote: Quote }[]
  /** Words that are in the names of clients, and whether only spaces or dashes are between one and the word before. */
  words: Map<string, Quote & { run: number; isNext: boolean }>
}

interface Named {
  invoice: Payable
  /** Whether it is this reference without a doubt. */
  whole: boolean
  /** It is, where the client is named too. */
  isShort: boolean
  quote: Quote
}

const textsOf = ({ description, reference, name }: BankLine) => [description, reference, name]
const fields = ['description', 'reference', 'name'] as const

function readLine(line: BankLine, { references, words: known }: Index): Reading {
  const runs = readRuns(textsOf(line))
  const reading: Reading = { named: [], payments: [], answers: [], words: new Map() }
  const [exact, short]: { token: Token; named: Named }[][] = [[], []]
  const seen = new Set<string>()
  for (const token of references.in(runs)) {
    const quote = quoteOf(runs, token)
    const again = seen.size === seen.add(token.text).size
    const all = references.get(token.text)
    const count = (kind: Referred['kind']) => all.filter((one) => one.kind === kind).length
    for (const one of all)
      if (one.kind === 'payment') !again && reading.payments.push({ payment: one.payment, quote })
      else if (one.kind === 'answer') !again && reading.answers.push({ answer: one.answer, nth: one.nth, quote })
      else if (one.kind === 'invoice' && isWrittenAs(token, one.form))
        exact?.push({ token, named: { invoice: one.invoice, whole: count('invoice') === 1 && !token.continued, isShort: false, quote } })
      else if (one.kind === 'short' && token.joints.length === 0 && !token.continued && count('short') === 1)
        short?.push({ token, named: { invoice: one.invoice, whole: false, isShort: true, quote } })
  }
  const found = exact?.length ? exact : (short ?? [])
  const longest = new Set(longestOf([...new Set(found.map(({ token }) => token))]))
  const byId = new Map<string, Named>()
  for (const { token, named } of found) {
    if (!longest.has(token)) continue
    const before = byId.get(named.invoice.id)
    if (!before) byId.set(named.invoice.id, named)
    else if (named.whole) before.whole = true
  }
  reading.named.push(...byId.values())
  for (const [word, run] of wordsIn(runs)) {
    const isNext = runs[run - 1]?.kind === 'gap'
    if (known.has(word) && !reading.words.has(word)) reading.words.set(word, { ...quoteOf(runs, { from: run, to: run }), run, isNext })
  }
  return reading
}

function quoteOf(runs: Run[], { from, to }: { from: number; to: number }): Quote {
  const [first, last] = [runs[from], runs[to]]
  return { at: first?.at ?? 0, from: first?.from ?? 0, to: last?.to ?? 0 }
}

/**
 * The words of a row that name a client: two words of the name, one that no other client has, or the whole name without its spaces. Empty where
 * it is not named.
 */
function nameIn({ words }: Reading, { words: its, own, joined }: Client): Quote[] {
  if (words.size === 0) return []
  const whole = joined === '' ? undefined : words.get(joined)
  if (whole) return [whole]
  const found = its.flatMap((word) => words.get(word) ?? [])
  if (found.length < 2 && !its.some((word) => own.has(word) && words.has(word))) return []
  const quotes: (Quote & { run: number })[] = []
  for (const { run, isNext, ...quote } of found.toSorted((a, b) => a.run - b.run)) {
    const before = quotes.at(-1)
    if (before && isNext && run === before.run + 2) Object.assign(before, { to: quote.to, run })
    else quotes.push({ ...quote, run })
  }
  return quotes
}

function matchLine(line: BankLine, reading: Reading, { open, clients }: Index, format: Format): Match {
  const evidenceOf = (quotes: Quote[], kind: BankEvidence['kind']): BankEvidence[] =>
    quotes.map(({ at, from, to }) => ({ field: fields[at] ?? 'description', text: (textsOf(line)[at] ?? '').slice(from, to), kind }))
  const nameOf = ({ clientName }: Payable): Quote[] => {
    const client = clients.get(clientName)
    return client ? nameIn(reading, client) : []
  }
  const again = (invoiceId: string, invoice: string, evidence: BankEvidence[]): Match => ({
    verdict: 'likely',
    invoices: [{ invoiceId, amountMinor: line.amountMinor }],
    reason: texts.perhapsRecorded(invoice),
    evidence,
    again: true,
  })
  const pays = ({ id }: Payable, amountMinor = line.amountMinor) => ({ invoiceId: id, amountMinor })

  const twice = reading.named.find(({ invoice }) => open.isNearby(invoice, line))
  if (twice) return again(twice.invoice.id, twice.invoice.reference, evidenceOf([twice.quote], 'reference'))
  const recorded = reading.payments.find(
    ({ payment: { amountMinor, paidOn } }) =>
      amountMinor === line.amountMinor && Math.abs(dayOf(line.date) - dayOf(paidOn)) <= recordedWithin,
  )
  if (recorded) return again(recorded.payment.invoiceId, recorded.payment.invoice, evidenceOf([recorded.quote], 'payment'))

  const named = reading.named.filter(({ invoice }) => open.balanceOf(invoice) > 0)
  if (named.length > 0) {
    const all = named.slice(0, mostOfLine).map((one) => ({ ...one, name: nameOf(one.invoice) }))
    const names = new Map(all.flatMap(({ name }) => name).map((quote) => [`${quote.at} ${quote.from}`, quote]))
    const references = evidenceOf(
      all.map(({ quote }) => quote),
      'reference',
    )
    const evidence = [...references, ...evidenceOf([...names.values()], 'name')]
    const owed = all.reduce((sum, { invoice }) => sum + open.balanceOf(invoice), 0)
    const certain = all.length === named.length && all.every((one) => one.whole || (one.isShort && one.name.length > 0))
    const [only] = all
    if (only && all.length === 1) {
      const fits = line.amountMinor <= owed
      const reason = fits ? texts.named(evidence) : texts.namedButMore(references, only.invoice.reference, format(owed))
      return { verdict: certain && fits ? 'sure' : 'likely', invoices: [pays(only.invoice)], reason, evidence }
    }
    const invoices = all.map(({ invoice }) => invoice)
    if (owed === line.amountMinor) {
      const shares = invoices.map((invoice) => pays(invoice, open.balanceOf(invoice)))
      return { verdict: certain ? 'sure' : 'likely', invoices: shares, reason: texts.namedTogether(references), evidence }
    }
    const shares = spread(invoices, line.amountMinor, (invoice) => open.balanceOf(invoice))
    return { verdict: 'likely', invoices: shares, reason: texts.namedButOther(references, format(owed)), evidence }
  }

  const [answer] = reading.answers
    .filter(({ answer: { amountMinor } }) => amountMinor === line.amountMinor)
    .toSorted((a, b) => a.nth - b.nth)
  const answered = answer && open.get(answer.answer.invoiceId)
  if (answered) {
    const evidence = evidenceOf([answer.quote], 'payment')
    if (open.isNearby(answered, line)) return again(answered.id, answered.reference, evidence)
    if (open.balanceOf(answered) >= line.amountMinor)
      return { verdict: 'sure', invoices: [pays(answered)], reason: texts.answered(evidence, answered.clientName), evidence }
  }

  const byName = open.withWords(line.amountMinor, reading.words.keys()).flatMap(({ client, invoice }) => {
    const quotes = nameIn(reading, client)
    return quotes.length > 0 ? [{ invoice, quotes }] : []
  })
  const isTaken = ({ id }: Payable) => Number(open.likely.has(id))
  const [best] = byName.toSorted((a, b) => isTaken(a.invoice) - isTaken(b.invoice) || compare(a.invoice.dueDate, b.invoice.dueDate))
  const alone = best ? null : open.only(line.amountMinor)
  const invoice = best?.invoice ?? alone
  if (!invoice) return none
  const evidence = evidenceOf(best?.quotes ?? [], 'name')
  if (open.isNearby(invoice, line)) return again(invoice.id, invoice.reference, evidence)
  const reason = best ? texts.amountAndName(evidence, invoice.reference) : texts.amountOnly(invoice.reference)
  return { verdict: 'likely', invoices: [pays(invoice)], reason, evidence }
}

/** An amount over invoices, the oldest first; what is left over is on the last one. */
function spread(invoices: Payable[], amountMinor: number, balanceOf: (invoice: Payable) => number): Match['invoices'] {
  let rest = amountMinor
  const parts = invoices
    .toSorted((a, b) => compare(a.dueDate, b.dueDate))
    .map((invoice, at, { length }) => {
      const part = at === length - 1 ? rest : Math.min(rest, balanceOf(invoice))
      rest -= part
      return { invoiceId: invoice.id, amountMinor: part }
    })
  return parts.filter((part) => part.amountMinor > 0)
}

/** Whether a recorded payment is the one that a reference means: it has this reference, or its texts hold it. */
export function isReferredTo({ reference, note }: { reference: string; note: string }, named: string): boolean {
  const plain = (text: string) => text.trim().toLowerCase()
  return plain(named) !== '' && (plain(reference) === plain(named) || holds([reference, note].join(' | '), named))
}
