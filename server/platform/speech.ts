import { decimalsOf } from '#contract/currencies.ts'
import { english } from '#contract/english.ts'
import { listedIn, words } from '#contract/language-texts.ts'
import { isLanguage, type Speech } from '#contract/speech.ts'

/** Whose formats a language has; any other tag has its own. */
const locales: Record<string, string> = {
  hi: 'hi-IN',
  de: 'de-DE',
  fr: 'fr-FR',
  es: 'es-ES',
  pt: 'pt-BR',
  it: 'it-IT',
  nl: 'nl-NL',
}
/** Between these a text keeps its own direction. */
const [isolate, endOfIsolate] = ['\u2068', '\u2069']

const known = new Map<string, Speech>([['en', english]])
/** Owners may write texts in any language: formats of more than these are not kept. */
const mostKept = 100

/** How emails are worded in a language. A language without texts of ours has its own formats and English words about paying. */
export function speechOf(language: string): Speech {
  const kept = known.get(language)
  if (kept) return kept
  const made = makeSpeech(language)
  if (known.size < mostKept) known.set(language, made)
  return made
}

function makeSpeech(language: string): Speech {
  const locale = locales[language] ?? language
  const dir = new Intl.Locale(locale).getTextInfo().direction === 'rtl' ? 'rtl' : 'ltr'
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' })
  const formats = new Map<string, Intl.NumberFormat>()
  const money = (amount: number, currency: string) => {
    const decimals = decimalsOf(currency)
    const format =
      formats.get(currency) ??
      new Intl.NumberFormat(locale, { style: 'currency', currency, minimumFractionDigits: decimals, maximumFractionDigits: decimals })
    formats.set(currency, format)
    return format.format(amount)
  }
  const value = (text: string) => (dir === 'rtl' && text !== '' ? `${isolate}${text}${endOfIsolate}` : text)
  const said = { language, dir, money, date: (date: string) => day.format(Date.parse(`${date}T00:00:00Z`)), value } as const
  if (!isLanguage(language) || language === 'en') {
    // Without words that a reader of another language would have to know.
    const listed: Speech['listed'] = ({ reference, amount, due, days }) =>
      [reference, amount, due, ...(days === null ? [] : [`+${days}`])].map(value).join(' · ')
    return { ...said, listed, more: (count, amount) => `+${value(String(count))} (${value(amount)})`, pay: english.pay, payLanguage: 'en' }
  }
  const { more, pay } = words[language]
  return { ...said, listed: (line) => listedIn(language, line), more, pay, payLanguage: language }
}
