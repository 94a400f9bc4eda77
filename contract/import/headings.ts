import { isCurrency } from '#contract/currency-codes.ts'

/** The name of a column, taken apart. */
export interface Heading {
  /** As the file has it. */
  written: string
  /** Its words in lower case, without accents and without the currency of its amounts: `*InvoiceAmountDue (INR)` is `invoice`, `amount`, `due`. */
  words: string[]
  /** The words joined by spaces: what headings are compared by. Empty where the cell is. */
  key: string
  /** The currency that its amounts are in: a code, or a sign or word that may be of several, such as `$`. */
  currency: string | null
}

/** Codes that are words too, and taken for a currency only in brackets. */
const alsoWords = new Set('ALL TOP TRY MOP BAM LAK GEL PEN CUP MAD SOS COP ILS RON ARS SAR DOP ERN'.split(' '))
/** Written in small letters as the last word, as `amount_eur`. */
const inSmall = /^(eur|usd|gbp|inr|chf|aud|cad|sgd|jpy|aed|sek|nok|dkk|pln|nzd|brl)$/
/** Names of currencies, and signs with letters; each may be of several currencies. */
const currencyWord = /^(rs|rupees?|euros?|dollars?|pounds?|dirhams?|francs?|yen|kr|reais)$/

const bracketed = /[([]\s*([^()[\]]{1,12}?)\s*[)\]]/u

/** Takes the name of a column apart. */
export function headingOf(cell: string): Heading {
  const written = cell
    .normalize('NFKC')
    .replace(/[\u200b-\u200f\ufeff]/g, '')
    .trim()
  let [bare, currency] = [written, null as string | null]
  const inBrackets = bracketed.exec(bare)?.[1] ?? ''
  if (isNameOfCurrency(inBrackets)) [currency, bare] = [inBrackets, bare.replace(bracketed, ' ')]
  // `Montant en €`, `Betrag CHF`, `Amount in INR`.
  const last = /(?:^|[\s_.-])(?:(?:in|en|em)[\s_]+)?([A-Z]{3}|[a-z]{3})\.?$/u.exec(bare)
  const code = last?.[1] ?? ''
  if (currency === null && last && last.index > 0 && ((isCode(code) && !alsoWords.has(code)) || inSmall.test(code)))
    [currency, bare] = [code.toUpperCase(), bare.slice(0, last.index)]
  const sign = /[A-Z]{0,2}\p{Sc}/u.exec(bare)
  if (sign) [currency, bare] = [currency ?? sign[0], bare.replace(sign[0], ' ').replace(/\b(in|en|em)\s*$/, ' ')]
  const words = wordsOf(bare)
  const name = words.at(-1) ?? ''
  if (words.length > 1 && currencyWord.test(name)) [currency, words.length] = [currency ?? name, words.length - 1]
  return {
    written,
    words,
    key: words.join(' '),
    currency: currency === null || !isCode(currency.toUpperCase()) ? currency : currency.toUpperCase(),
  }
}

function isCode(text: string): boolean {
  return /^[A-Z]{3}$/.test(text) && isCurrency(text)
}

function isNameOfCurrency(text: string): boolean {
  return (
    (isCode(text) && text !== 'ALL') ||
    inSmall.test(text) ||
    /^[a-z]{0,2}\p{Sc}$/iu.test(text) ||
    currencyWord.test(text.toLowerCase().replace(/\.$/, ''))
  )
}

/** Letters that have no accent to take off. */
const latin: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ł: 'l', ø: 'o', đ: 'd' }

/** The words of a text in lower case without accents; `CreditDebit` has two. */
export function wordsOf(text: string): string[] {
  const isPlain = !/[\u0080-\uffff]/.test(text)
  if (isPlain)
    return (
      text
        .replace(/([a-z])(?=[A-Z])/g, '$1 ')
        .toLowerCase()
        .match(/[a-z\d]+/g) ?? []
    )
  const plain = text
    .normalize('NFKC')
    .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[ßæœłøđ]/g, (letter) => latin[letter] ?? letter)
  return plain.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
}

/** A word or a short text as vocabularies have it: `Umsatz vorgemerkt`, `ACH_CREDIT` and `Dr.` are `umsatz vorgemerkt`, `ach credit` and `dr`. */
export function wordKey(text: string): string {
  const words = wordsOf(text)
  return words.length > 0 ? words.join(' ') : text.trim()
}

/** Of a vocabulary: its entries, each on a line of its own or between bars. */
export const list = (text: string) =>
  text
    .trim()
    .split(/\s*[|\n]\s*/)
    .filter((one) => one !== '')

/** Of a vocabulary: single words. */
export const words = (text: string) => new Set(text.trim().split(/\s+/))
