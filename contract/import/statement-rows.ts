import { formatMoney, toMinor } from '#contract/money.ts'
import { amountOf, currenciesNamed, decimalsQuestion, takeApart } from './amounts.ts'
import { type BankContext, type BankReading, type BankRow, type Left, leftOf, markReturns } from './bank.ts'
import type { FileRow } from './csv.ts'
import { daysOf } from './days.ts'
import { asked, certain, type Meaning, type Question, refused } from './meaning.ts'
import type { StatementAccount, StatementEntry, StatementFile } from './statement.ts'
import { readWords } from './words.ts'

/* The rows of a statement whose format says what each entry is: the review of a bank file is the same for both. */

const texts = {
  noDate: 'This entry has no date.',
  noCurrency: (code: string) => `Duely does not know the currency “${code.slice(0, 20)}”.`,
  noMoney: (amount: string, currency: string) => `${amount} is no amount of ${currency}: it has more decimals, or is too large.`,
  cards: (names: string[]) =>
    `Left out ${names.length === 1 ? 'the card account' : 'the card accounts'} ${names.join(', ')}: nothing there is a payment from a client.`,
  /** What stands for a state that its format does not define. */
  states: { MT942: 'noted in a report within the day (MT942)' } as Record<string, string>,
}

/** The question which account clients pay into, and its answer for all of them. */
const accountQuestion = 'account/file'
const allAccounts = 'all'

/** What an account is called, and its answer is kept by. */
export function accountName({ id, name, currency }: StatementAccount, place: number): string {
  return [id ?? name ?? `#${place + 1}`, currency ?? ''].filter((part) => part !== '').join(' ')
}

/** Reads the entries of a statement. What its format does not define, and what the file leaves open, is a question. */
export function readBankStatement(file: StatementFile, { today, held, answers }: BankContext): BankReading {
  const names = file.accounts.map(accountName)
  const used = [...new Set(file.entries.map(({ account }) => account))].toSorted((one, other) => one - other)
  const [cards, accounts] = [used.filter((at) => file.accounts[at]?.isCard), used.filter((at) => !file.accounts[at]?.isCard)]
  const start = {
    layout: file.formats.join(', '),
    isCard: cards.length > 0 && accounts.length === 0,
    headings: keyOf(file),
    headingRow: null,
    fields: {},
    choosable: [],
    notes: [...file.notes, ...(cards.length > 0 ? [texts.cards(cards.map((at) => names[at] ?? ''))] : [])],
  }
  if (start.isCard) return { ...start, questions: [], rows: [] }
  const choices = [...accounts.map((at) => names[at] ?? ''), allAccounts]
  const chosen = accounts.length > 1 ? choices.find((choice) => choice === answers[accountQuestion]) : allAccounts
  if (chosen === undefined) {
    const question: Question = { id: accountQuestion, rows: file.entries.length, kind: 'choice', about: 'account', heading: '', choices }
    return { ...start, questions: [question], rows: [] }
  }
  const entries = file.entries.flatMap((entry, at) => {
    const isShown = accounts.includes(entry.account) && (chosen === allAccounts || names[entry.account] === chosen)
    return isShown && /[1-9]/.test(entry.amount) ? [{ entry, row: rowOf(entry, at + 1) }] : []
  })
  const questions: Question[] = []
  const rows = entries.map(({ row }) => row)
  const withDates = rows.filter(({ cells }) => cells[0] !== '')
  const days = daysOf(withDates, { column: 0, heading: 'Date', key: 'date', order: null, answers })
  const states = readWords(
    rows.filter((_, nth) => entries[nth]?.entry.state === null),
    {
      column: 1,
      heading: '',
      key: 'file',
      about: 'state',
      means: () => null,
      choices: ['booked', 'leave'] as const,
      answers,
      example: ({ cells }) => cells[2] ?? '',
    },
  )
  if (days.question) questions.push(days.question)
  if (states.question) questions.push(states.question)
  const unclear: { cell: string; both: { point: number; comma: number } }[] = []
  const withoutCurrency = entries.filter(({ entry }) => entry.currency === null).length
  const currencyOf = ({ currency }: StatementEntry): Meaning<string> => {
    const answer = answers['currency/file'] ?? ''
    const named = currency ?? (/^[A-Z]{3}$/.test(answer) ? answer : null)
    if (named === null) return held.length === 1 && held[0] !== undefined ? certain(held[0], 'heading') : asked('currency/file')
    const [code] = currenciesNamed(named, held)
    return code === named ? certain(named, currency === null ? 'answer' : 'format') : refused(texts.noCurrency(named))
  }
  const read = entries.map(({ entry, row }): BankRow => {
    const currency = currencyOf(entry)
    const code = currency.kind === 'certain' ? currency.value : (held[0] ?? 'EUR')
    const { both, ...amount } = amountIn(entry, code, answers)
    if (both) unclear.push({ cell: entry.amountText ?? '', both })
    return {
      number: row.number,
      place: entry.position,
      cells: [entry.raw],
      date: days.of.get(row) ?? dateIn(entry),
      writtenDate: entry.dateText ?? '',
      valued: entry.valued,
      amount,
      writtenAmount: entry.amountText ?? entry.amount,
      currency,
      direction: certain(entry.direction, 'format'),
      state: entry.state === null ? (states.of.get(row) ?? asked(`state/file`)) : certain('booked', 'format'),
      description: entry.text.slice(0, 1_000),
      reference: [entry.endToEndId ?? '', ...entry.references]
        .filter((one) => one !== '')
        .join(' ')
        .slice(0, 200),
      name: (entry.name ?? '').slice(0, 200),
      bankId: (entry.bankId ?? '').slice(0, 200),
      fee: entry.charges ? moneyText(entry.charges, code) : '',
      sent: entry.original ? moneyText(entry.original, code) : '',
      unclear: entry.unclear,
      left: leftIn(entry),
      returnedIn: null,
    }
  })
  const waiting = read.filter(({ currency }) => currency.kind === 'asked').length
  if (withoutCurrency > 0 && waiting > 0)
    questions.push({ id: 'currency/file', rows: waiting, kind: 'choice', about: 'currency', heading: 'file', choices: [...held] })
  const decimals = decimalsQuestion({ heading: 'Amount', key: 'amount' }, unclear)
  if (decimals) questions.push(decimals)
  for (const row of read) row.left ??= leftOf(row, today)
  markReturns(read)
  return { ...start, questions, rows: read }
}

/** What asks about an entry see of it: its date as written, the word of its state, and an example. */
function rowOf(entry: StatementEntry, number: number): FileRow {
  const state = entry.stateText ?? ''
  return {
    number,
    cells: [entry.dateText ?? '', texts.states[state] ?? state, [entry.name, entry.text].filter(Boolean).join(': ').slice(0, 80)],
  }
}

/** The booking date before the value date. */
function dateIn({ booked, valued }: StatementEntry): Meaning<string> {
  const day = booked ?? valued
  return day === null ? refused(texts.noDate) : certain(day, 'format')
}

function amountIn(
  { amount, amountText }: StatementEntry,
  currency: string,
  answers: BankContext['answers'],
): Meaning<number> & { both?: { point: number; comma: number } } {
  if (amountText !== null)
    return amountOf(
      { cell: amountText, written: takeApart(amountText), currency },
      { heading: 'Amount', key: 'amount', decimals: null, answers },
    )
  const value = Number(amount)
  return toMinor(value, currency) === null ? refused(texts.noMoney(amount, currency)) : certain(value, 'format')
}

/** Why an entry is no payment that came in, as its format says. */
function leftIn({ state, direction, reversal, returned }: StatementEntry): Left | null {
  if (state === 'pending' || state === 'info') return state
  if (direction === 'out') return null
  return reversal ? 'reversal' : returned !== null ? 'came-back' : null
}

function moneyText({ amount, currency }: { amount: string; currency: string | null }, usual: string): string {
  return formatMoney(Number(amount), currency ?? usual)
}

/** What files of the same accounts have in common; empty where a file names none, so that it could be of any bank. */
function keyOf({ formats, accounts }: StatementFile): string {
  if (accounts.length === 0 || accounts.some(({ id }) => id === null)) return ''
  const ids = new Set(accounts.map(accountName))
  return [formats.toSorted().join('+'), ...[...ids].toSorted()].join('|')
}
