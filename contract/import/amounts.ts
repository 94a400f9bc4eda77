import { decimalsOf } from '#contract/currencies.ts'
import { isCurrency } from '#contract/currency-codes.ts'
import { toMinor } from '#contract/money.ts'
import type { CellValue, FileRow } from './csv.ts'
import { plainDigits } from './days.ts'
import { type Answers, asked, certain, type Evidence, type Meaning, type Question, refused } from './meaning.ts'
import { cellValue, textOf } from './table.ts'
import { texts as importTexts } from './texts.ts'

/** An amount as it is written, taken apart. */
export interface WrittenAmount {
  /** Digits with their separators, or a number of a workbook. */
  digits: string | number
  /** Below zero: `-5`, `5-` or `(5.00)`. The Indian `500/-` is not. */
  minus: boolean
  plus: boolean
  /** `CR`, `(Dr)`, `H` or `S` beside it. */
  side: 'in' | 'out' | null
  /** A code, a sign or a word, as written. */
  currency: string | null
}

const sides: Record<string, 'in' | 'out'> = {
  cr: 'in',
  credit: 'in',
  h: 'in',
  haben: 'in',
  dr: 'out',
  db: 'out',
  debit: 'out',
  s: 'out',
  soll: 'out',
}
const sideBefore = /^(cr|dr|db|credit|debit)[.:]?\s*(?=[\d.,+\-(]|\p{Sc})/iu
const sideBehind = /(?<=\d|\)|\p{Sc}|[A-Z]{3})\s*\(?(cr|dr|db|credit|debit|haben|soll|h|s)\.?\)?$/iu

/** Takes an amount apart; null where a cell is none. */
export function takeApart(cell: string, value?: CellValue): WrittenAmount | null {
  if (value !== undefined && 'number' in value)
    return /%\s*$/.test(cell)
      ? null
      : { digits: Math.abs(value.number), minus: value.number < 0, plus: false, side: null, currency: value.currency }
  if (value !== undefined) return null
  let bare = plainDigits(cell.normalize('NFKC'))
    .replace(/[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '')
    .replace(/[−–—‐‑]/g, '-')
    .trim()
    .replace(/\s*\/-$/, '')
  if (!/\d/.test(bare)) return null
  const found: Omit<WrittenAmount, 'digits'> = { minus: false, plus: false, side: null, currency: null }
  // Each mark once, in any order, at either end.
  for (let before = ''; before !== bare; ) {
    before = bare
    const side = sideBefore.exec(bare) ?? sideBehind.exec(bare)
    if (side && found.side === null) {
      found.side = sides[(side[1] ?? '').toLowerCase()] ?? null
      bare = (side.index === 0 ? bare.slice(side[0].length) : bare.slice(0, side.index)).trim()
      continue
    }
    if (/^\(.*\)$/.test(bare) && !found.minus) {
      found.minus = true
      bare = bare.slice(1, -1).trim()
      continue
    }
    const sign = /^[+-]|[+-]$/.exec(bare)
    if (sign && !found.minus && !found.plus) {
      if (sign[0] === '-') found.minus = true
      else found.plus = true
      bare = (sign.index === 0 ? bare.slice(1) : bare.slice(0, -1)).trim()
      continue
    }
    const named = /^(?:[a-z]{0,3}\p{Sc}|[\p{L}]{1,9}\.?)(?=[\s\d.,+\-(])|(?<=[\d\s.,)-])(?:[a-z]{0,3}\p{Sc}|[\p{L}]{1,9}\.?)$/iu.exec(bare)
    if (named && found.currency === null) {
      found.currency = named[0].trim()
      bare = (named.index === 0 ? bare.slice(named[0].length) : bare.slice(0, named.index)).trim()
    }
  }
  return /^[\d.,][\d.,'’´\s]*$/.test(bare) && /\d/.test(bare) ? { ...found, digits: bare.replace(/[.,]$/, '') } : null
}

/** What groups or divides the digits of an amount: a point before decimals, or a comma. */
export type Decimals = 'point' | 'comma'

/** The values that digits can have. One, or where they can be read in two ways, one for each; null where there is none. */
export type Reading = { value: number; proves: Decimals | null } | { point: number; comma: number } | null

/** Currencies of countries that write a point before decimals, and a comma between groups. */
const pointCountries = new Set(
  'INR USD GBP AUD CAD NZD SGD HKD MYR PHP THB JPY CNY KRW TWD ILS NGN KES GHS UGX TZS ZMW EGP SAR AED QAR KWD BHD OMR JOD PKR LKR BDT NPR MXN'.split(
    ' ',
  ),
)

/** Reads digits with separators. `1.234` is a thousand, or one and a fraction: both are given unless the currency tells them apart. */
export function readDigits(text: string, currency: string): Reading {
  const digits = text.replace(/['’´\s]/g, (gap) => (gap.trim() === '' ? ' ' : "'"))
  const groups = /^\d{1,3}(?:[ ']\d{3})+(?=$|[.,])/.exec(digits)?.[0]
  const bare = groups === undefined ? digits : `${groups.replace(/[ ']/g, '')}${digits.slice(groups.length)}`
  if (/[ ']/.test(bare)) return null
  const [points, commas] = [bare.split('.').length - 1, bare.split(',').length - 1]
  if (points === 0 && commas === 0) return { value: Number(bare), proves: null }
  if (points > 0 && commas > 0) {
    const comma = bare.lastIndexOf(',') > bare.lastIndexOf('.')
    return withDecimals(bare, comma ? 'comma' : 'point', currency)
  }
  const decimal = points > 0 ? 'point' : 'comma'
  const group = points > 0 ? 'comma' : 'point'
  if (points + commas > 1) return grouped(bare) ? { value: Number(bare.replace(/[.,]/g, '')), proves: group } : null
  const [whole = '', part = ''] = bare.split(/[.,]/)
  const asDecimal = withDecimals(bare, decimal, currency)
  if (part.length !== 3 || whole === '' || /^0|^\d{4}/.test(whole)) return asDecimal
  const thousands = Number(whole + part)
  if (decimalsOf(currency) === 0) return { value: thousands, proves: null }
  return decimal === 'point'
    ? { point: Number(`${whole}.${part}`), comma: thousands }
    : { point: thousands, comma: Number(`${whole}.${part}`) }
}

/** 1,234,567 or 12,34,567: groups of three, or of two before the last three. */
function grouped(text: string): boolean {
  return /^\d{1,3}([.,])\d{3}(?:\1\d{3})*$/.test(text) || /^\d{1,2}(?:,\d{2})*,\d{3}$/.test(text)
}

function withDecimals(text: string, decimals: Decimals, currency: string): Reading {
  const mark = decimals === 'point' ? '.' : ','
  const [whole = '', part = '', ...more] = text.split(mark)
  const other = decimals === 'point' ? ',' : '.'
  if (more.length > 0 || part.includes(other) || part === '') return null
  if (whole.includes(other) && !grouped(whole)) return null
  const value = Number(`${whole.replaceAll(other, '') || '0'}.${part}`)
  // 1.234,567 has more decimals than most currencies: it is refused with its value.
  return Number.isFinite(value)
    ? { value, proves: part.length < 3 || whole.includes(other) || decimalsOf(currency) === 3 ? decimals : null }
    : null
}

function fits(value: number, currency: string): boolean {
  return toMinor(value, currency) !== null
}

/** The decimals that the cells of the columns with money prove; null where none does, or they contradict each other. */
export function provenDecimals(rows: FileRow[], columns: number[], currency: string): Decimals | null {
  const proofs = new Set<Decimals>()
  for (const row of rows)
    for (const column of columns) {
      const written = takeApart(textOf(row, column), cellValue(row, column))
      const reading = written === null || typeof written.digits === 'number' ? null : readDigits(written.digits, currency)
      if (reading && 'proves' in reading && reading.proves !== null) proofs.add(reading.proves)
    }
  const [only] = proofs
  return proofs.size === 1 && only !== undefined ? only : null
}

const texts = {
  notAnAmount: (text: string) => `“${text.slice(0, 40)}” is no amount.`,
  noMoney: (value: number, currency: string) => `${value} is no amount of ${currency}: it has more decimals, or is too large.`,
  noCurrency: (text: string) => `Duely does not know the currency “${text.slice(0, 20)}”.`,
  severalCurrencies: (all: string[]) => `The row names several currencies: ${all.join(', ')}.`,
}

/** What the amounts of a column are read with. */
export interface AmountColumn {
  heading: string
  /** What answers about it are kept by. */
  key: string
  /** Proven by the columns with money, else said by the layout. */
  decimals: Decimals | null
  answers: Answers
}

/** An amount above or at 0, without its sign: how many decimals it has must be proven, or answered. */
export function amountOf(
  { cell, value, written, currency }: { cell: string; value?: CellValue | undefined; written: WrittenAmount | null; currency: string },
  { key, decimals, answers }: AmountColumn,
): Meaning<number> & { both?: { point: number; comma: number } } {
  if (value !== undefined && 'formula' in value) return refused(importTexts.formula)
  if (written === null) return refused(texts.notAnAmount(cell))
  const fine = (found: number, by: Evidence): Meaning<number> =>
    fits(found, currency) ? certain(found, by) : refused(texts.noMoney(found, currency))
  // The last digits of a number in a workbook are those of its arithmetic.
  if (typeof written.digits === 'number') return fine(Number(written.digits.toPrecision(15)), 'workbook')
  const reading = readDigits(written.digits, currency)
  if (reading === null) return refused(texts.notAnAmount(cell))
  if ('value' in reading) return fine(reading.value, 'written')
  if (decimals !== null) return fine(reading[decimals], 'column')
  const id = `decimals/${key}`
  const answer = answers[id]
  if (answer === 'point' || answer === 'comma') return fine(reading[answer], 'answer')
  if (pointCountries.has(currency) && (written.digits.includes(',') || decimalsOf(currency) === 3)) return fine(reading.point, 'written')
  return { ...asked(id), both: reading }
}

/** Signs and words of currencies that several have. */
const shared: [RegExp, string[]][] = [
  [
    /^(\$|dollars?)$/i,
    'USD AUD CAD NZD SGD HKD TWD JMD BBD BSD BZD BMD FJD GYD KYD LRD NAD SBD SRD TTD XCD MXN ARS CLP COP UYU DOP'.split(' '),
  ],
  [/^[¥￥]$/, ['JPY', 'CNY']],
  [/^(kr|kronor|kroner|kronur)\.?$/i, ['SEK', 'NOK', 'DKK', 'ISK']],
  [/^(rs|rupees?|₨)\.?$/i, ['INR', 'PKR', 'LKR', 'NPR', 'MUR', 'SCR']],
  [/^(£|pounds?)$/i, ['GBP', 'EGP', 'SDG', 'SYP', 'LBP', 'FKP', 'GIP', 'SHP']],
  [/^(dirhams?|dhs?)\.?$/i, ['AED', 'MAD']],
  [/^(fr|francs?|sfr)\.?$/i, ['CHF', 'XAF', 'XOF', 'XPF', 'BIF', 'DJF', 'GNF', 'KMF', 'RWF', 'CDF']],
  [/^(yen|円)$/i, ['JPY']],
  [/^(元|rmb|cn¥|yuan)$/i, ['CNY']],
  [/^(r\$|reais|real)$/i, ['BRL']],
  [/^(€|euros?|eur\.)$/i, ['EUR']],
  [/^₹$/, ['INR']],
  [/^us ?\$$/i, ['USD']],
  [/^au?\$$/i, ['AUD']],
  [/^ca?\$$/i, ['CAD']],
  [/^nz\$$/i, ['NZD']],
  [/^s\$$/i, ['SGD']],
  [/^hk\$$/i, ['HKD']],
  [/^nt\$$/i, ['TWD']],
  [/^mx\$$/i, ['MXN']],
  [/^₦$/, ['NGN']],
  [/^₩$/, ['KRW']],
  [/^₽$/, ['RUB']],
  [/^₺$/, ['TRY']],
  [/^₪$/, ['ILS']],
  [/^₫$/, ['VND']],
  [/^₱$/, ['PHP']],
  [/^฿$/, ['THB']],
  [/^₴$/, ['UAH']],
  [/^₡$/, ['CRC']],
  [/^₲$/, ['PYG']],
  [/^₵$/, ['GHS']],
  [/^₸$/, ['KZT']],
  [/^₼$/, ['AZN']],
  [/^₾$/, ['GEL']],
  [/^₭$/, ['LAK']],
  [/^₮$/, ['MNT']],
  [/^৳$/, ['BDT']],
  [/^(zł|zl)$/i, ['PLN']],
  [/^kč$/i, ['CZK']],
  [/^ft$/i, ['HUF']],
  [/^rp\.?$/i, ['IDR']],
  [/^rm$/i, ['MYR']],
]

/**
 * The currencies that a code, sign or word can be; empty where it is none. A sign of several is that of the account, where that has one of them only:
 * `held` are those in use there.
 */
export function currenciesNamed(text: string, held: readonly string[]): string[] {
  const bare = text.normalize('NFKC').trim()
  const code = bare.toUpperCase().replace(/\.$/, '')
  if (/^[A-Z]{3}$/.test(code) && isCurrency(code)) return [code]
  // `inr - Indian Rupee`.
  const within = /^([a-z]{3})\s*[-–(:]/i.exec(bare)?.[1]?.toUpperCase() ?? /\b([A-Z]{3})\b/.exec(bare)?.[1]
  if (within !== undefined && isCurrency(within)) return [within]
  const all = shared.find(([pattern]) => pattern.test(bare))?.[1] ?? []
  const own = all.filter((one) => held.includes(one))
  return own.length === 1 ? own : all
}

/** The currency that all of these names can mean: certain, asked where there are several, or refused where one is none, or they differ. */
export function currencyOf(
  named: string[],
  held: readonly string[],
  ask: (id: string, choices: readonly string[]) => Meaning<string>,
): Meaning<string> {
  const possible = named.map((written) => ({ written, codes: currenciesNamed(written, held) }))
  const unknown = possible.find(({ codes }) => codes.length === 0)
  if (unknown) return refused(texts.noCurrency(unknown.written))
  const codes = possible.reduce<string[]>((all, one) => all.filter((code) => one.codes.includes(code)), possible[0]?.codes ?? [])
  const [only] = codes
  if (only === undefined) return refused(texts.severalCurrencies(possible.map((one) => one.written)))
  return codes.length === 1 ? certain(only, 'written') : ask(`currency/${possible[0]?.written ?? ''}`, codes)
}

/** The question in which way amounts such as `1.200` are read. */
export function decimalsQuestion(
  { heading, key }: Pick<AmountColumn, 'heading' | 'key'>,
  waiting: { cell: string; both: { point: number; comma: number } }[],
): Question | null {
  const [first] = waiting
  return first ? { id: `decimals/${key}`, rows: waiting.length, kind: 'decimals', heading, example: first.cell, ...first.both } : null
}
