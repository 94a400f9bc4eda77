import { z } from 'zod'

/** Languages that emails to clients have texts in without any being written. */
export const languages = ['en', 'hi', 'de', 'fr', 'es', 'pt', 'it', 'nl'] as const
export type Language = (typeof languages)[number]
/** The one of a business that has chosen none. */
export const firstLanguage: Language = 'en'

export const isLanguage = (tag: string): tag is Language => languages.some((one) => one === tag)

/** A tag in its usual spelling, `pt-BR`; null where it is none. */
function canonical(tag: string): string | null {
  // Without extensions and private parts.
  if (!/^[a-z]{2,3}(-[a-z\d]{2,8}){0,3}$/i.test(tag)) return null
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? null
  } catch {
    return null
  }
}

/** A BCP 47 tag. */
export const languageTag = z
  .string('Please choose a language.')
  .max(35, 'Please enter a language tag such as de.')
  .transform((tag, { issues }) => {
    const known = canonical(tag)
    if (known === null) issues.push({ code: 'custom', input: tag, message: 'Please enter a language tag such as de.' })
    return known ?? tag
  })

/** In which language the texts of a call are. */
export const inLanguage = z.strictObject({
  language: languageTag
    .default(firstLanguage)
    .meta({ description: 'The language of the texts, as a BCP 47 tag: `en` unless another one is given.' }),
})

/** What an email says around the wording, about paying. */
export interface PayWords {
  /** Between a label and its value. */
  colon: string
  pay: (amount: string) => string
  seeAndPay: (amount: string) => string
  upi: string
  qr: (amount: string) => string
  received: (paid: string, total: string) => string
  file: string
  fileOf: (reference: string) => string
  question: string
  tellUsThere: string
  orReply: string
  reply: string
  /** The last line of emails that name Duely. */
  sentWith: string
  bank: {
    accountName: string
    accountNumber: string
    sortCode: string
    routingNumber: string
    reference: string
  }
}

/** How an email is said in its language: made where it is sent, because programs that show it format differently. */
export interface Speech {
  language: string
  dir: 'ltr' | 'rtl'
  money: (amount: number, currency: string) => string
  date: (date: string) => string
  /** A value among words, which may run in the other direction. */
  value: (text: string) => string
  /** A line of the list of invoices; `days` null: not overdue yet. */
  listed: (line: { reference: string; amount: string; due: string; days: number | null }) => string
  /** What the list leaves out. */
  more: (count: number, amount: string) => string
  pay: PayWords
  /** The language of `pay`, where it has no texts of its own. */
  payLanguage: Language
}
