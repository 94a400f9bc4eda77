import { decimalsOf } from './currencies.ts'
import { english } from './english.ts'
import { type BankSettings, linkVariables, type OwnLink, type PayMethods, type UpiSettings } from './payment-settings.ts'
import type { PayWords, Speech } from './speech.ts'
import { escapeHtml, hasPayLink, type RenderedReminder, type Wording } from './templates.ts'

/** What is to be paid: `amount` in units of `currency` (ISO 4217). `references`: of its invoices, where it is a sum of several. */
export interface Payable {
  reference: string
  references?: string[]
  amount: number
  currency: string
}

/** Above this, in rupees, many banks refuse UPI. */
export const largestUpi = 100_000

/** An amount for software: a point, the currency's decimals, no grouping. */
function plainAmount({ amount, currency }: Payable): string {
  return amount.toFixed(decimalsOf(currency))
}

/** Characters that are not shown, such as the marks that turn the direction of a text; without joiners, which form letters and emoji. */
export const hidden = /[\p{Cf}--[\u200c\u200d]]/gv

/** One line: what is not shown must not reach an app, a bank or a stored answer. */
export function visible(text: string): string {
  return text
    .toWellFormed()
    .replace(hidden, ' ')
    .replace(/[\p{Cc}\p{Zl}\p{Zp} ]+/gu, ' ')
    .trim()
}

/** A reference in the characters that UPI apps and banks keep; '' where it has none of them. */
const simple = (reference: string) =>
  reference
    .replace(/[/_:]/g, '-')
    .replace(/[^A-Za-z0-9 .-]/g, '')
    .trim()
/** In the characters of an order. */
const alphanumeric = (reference: string) => reference.replace(/[^A-Za-z0-9]/g, '')

/** As many references as have room, each whole, because a part of one names nothing. Only one that has no room alone is cut. */
function inRoom(references: string[], between: string, most: number): string {
  const [first = '', ...others] = references.filter((reference) => reference !== '')
  let text = first.slice(0, most).trim()
  for (const reference of others) {
    const longer = `${text}${between}${reference}`
    if (longer.length > most) break
    text = longer
  }
  return text
}

/**
 * What a UPI app opens or scans, for an amount in INR. `mc` and `tr` only with a merchant code: an app refuses a personal ID that looks like a
 * merchant's without a signature.
 */
export function upiLink({ id, name, merchantCode }: UpiSettings, payable: Payable): string {
  const { references = [payable.reference] } = payable
  const note = inRoom(references.map(simple), ' ', 50)
  const order = inRoom(references.map(alphanumeric), '', 35)
  const parameters = [
    ['pa', id],
    ['pn', visible(name)],
    ['mc', merchantCode ?? ''],
    ['tr', merchantCode ? order : ''],
    ['am', plainAmount(payable)],
    ['cu', 'INR'],
    ['tn', note],
  ].filter(([, value]) => value !== '')
  return `upi://pay?${parameters.map(([key = '', value = '']) => `${key}=${encodeURIComponent(value).replaceAll('%40', '@')}`).join('&')}`
}

const mostEpcBytes = 331
/** Of a text in UTF-8. */
const bytesOf = (text: string) => encodeURIComponent(text).replace(/%[0-9A-F]{2}/g, 'x').length

/** The text of an EPC QR code (EPC069-12, version 2), for an amount in EUR: a bank's app fills in the transfer. */
export function epcText(
  { accountName, iban, bic }: Pick<BankSettings & { kind: 'iban' }, 'accountName' | 'iban' | 'bic'>,
  payable: Payable,
): string {
  const reference = [...visible(payable.reference)].slice(0, 140).join('')
  const withName = (name: string) =>
    ['BCD', '002', '1', 'SCT', bic ?? '', name, iban, `EUR${plainAmount(payable)}`, '', '', reference].join('\n')
  const name = [...visible(accountName)].slice(0, 70)
  while (bytesOf(withName(name.join(''))) > mostEpcBytes) name.pop()
  return withName(name.join(''))
}

/** A line of a bank account: what it is, and the value to copy. */
export interface PayLine {
  label: string
  value: string
  /** How people read it, where figures are grouped. */
  shown: string
}

const line = (label: string, value: string, shown = value): PayLine => ({ label, value, shown })

/** How to transfer money, ending with the reference that names the invoice. `reference` '': none. */
export function bankLines(bank: BankSettings, reference: string, { bank: words }: Pick<PayWords, 'bank'> = english.pay): PayLine[] {
  const number = (accountNumber: string) => line(words.accountNumber, accountNumber)
  const lines = [line(words.accountName, visible(bank.accountName))]
  if (bank.kind === 'iban') {
    lines.push(line('IBAN', bank.iban, bank.iban.replace(/(.{4})(?=.)/g, '$1 ')))
    if (bank.bic !== null) lines.push(line('BIC', bank.bic))
  } else if (bank.kind === 'india') lines.push(number(bank.accountNumber), line('IFSC', bank.ifsc))
  else if (bank.kind === 'uk')
    lines.push(line(words.sortCode, bank.sortCode, bank.sortCode.replace(/(..)(?=.)/g, '$1-')), number(bank.accountNumber))
  else if (bank.kind === 'us') lines.push(line(words.routingNumber, bank.routingNumber), number(bank.accountNumber))
  else lines.push(...bank.text.split('\n').flatMap((text) => otherLine(visible(text)) ?? []))
  if (reference !== '') lines.push(line(words.reference, visible(reference)))
  return lines
}

/** `Account number: 123` as the owner wrote it, or the text alone. */
function otherLine(text: string): PayLine | null {
  if (text === '') return null
  const [, label, value] = /^([^:]{1,40}):\s+(.+)$/.exec(text) ?? []
  return label !== undefined && value !== undefined ? line(label, value) : line('', text)
}

/** The owner's own payment page with its variables filled in. */
export function ownLinkUrl({ url }: OwnLink, payable: Payable): string {
  const values = { amount: plainAmount(payable), currency: payable.currency, reference: visible(payable.reference) }
  return linkVariables.reduce(
    (filled, name) => filled.replaceAll(`{${name}}`, () => encodeURIComponent(values[name]).replace(/[!'()*]/g, percent)),
    url,
  )
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}

/** The ways to pay that serve an amount in this currency. */
export function methodsFor({ upi, bank, ownLink, online = false }: PayMethods, currency: string): PayMethods {
  const isInr = currency === 'INR'
  return { upi: isInr ? upi : null, bank, ownLink, online: online && isInr }
}

export const hasMethod = ({ upi, bank, ownLink, online = false }: PayMethods) => upi !== null || bank !== null || ownLink !== null || online

/** The account for an EPC QR code, where one can be made. */
export function epcAccount(bank: BankSettings | null, currency: string): (BankSettings & { kind: 'iban' }) | null {
  return bank?.kind === 'iban' && currency === 'EUR' ? bank : null
}

/** What the block of an email about one invoice, or about several of one client, is made of. */
export interface PayBlock {
  methods: PayMethods
  currency: string
  /** Still to pay, of all its invoices. */
  amount: number
  /** Of all its invoices before any payment. */
  total: number
  /** One for each invoice. */
  references: string[]
  /** The pay page; null where clients cannot reach this server. */
  payLink: string | null
  /** Where the picture of the UPI code is; null: without one. */
  qr: string | null
  /** The PDFs of its invoices that are linked. */
  pdfs: { reference: string; url: string }[]
  /** Without it the email is in English. */
  speech?: Speech
}

/** The code of a UPI payment in an email about one invoice; null where it has none. */
function upiCode({ methods, currency, amount, references }: Omit<PayBlock, 'qr' | 'pdfs'>): string | null {
  const { upi } = methodsFor(methods, currency)
  const [reference] = references
  return upi && reference !== undefined && references.length === 1 ? upiLink(upi, { amount, currency, reference }) : null
}

/** A grouped email lists the references to write with a transfer as long as a bank keeps them. */
const mostReference = 140

/**
 * How to pay, below the text of a reminder: an HTML fragment without colours, and the same lines as plain text. Null where no way to pay is set
 * for the currency. The same input gives the same bytes, in the preview and in the email.
 */
export function payBlock(block: PayBlock): { html: string; text: string } | null {
  const { currency, amount, total, references, payLink, speech = english } = block
  const { pay: text, value: apart } = speech
  const methods = methodsFor(block.methods, currency)
  // Online is a button of the page.
  if (!hasMethod({ ...methods, online: methods.online === true && payLink !== null })) return null
  const several = references.length > 1
  const inMoney = (sum: number) => apart(speech.money(sum, currency))
  const shown = inMoney(amount)
  const button = (several ? text.seeAndPay : text.pay)(shown)
  const all = references.join(', ')
  const reference = all.length <= mostReference ? all : ''
  const lines = [
    ...(methods.upi ? [line(text.upi, methods.upi.id)] : []),
    ...(methods.bank ? bankLines(methods.bank, '', text) : []),
    ...(reference === '' ? [] : [line(text.bank.reference, visible(reference))]),
  ]
  const own =
    methods.ownLink && !several
      ? { label: visible(methods.ownLink.label), url: ownLinkUrl(methods.ownLink, { amount, currency, reference: all }) }
      : null
  const received = total > amount ? [text.received(inMoney(total - amount), inMoney(total))] : []
  const page = payLink === null ? null : escapeHtml(payLink)
  const files = fileLinks(block)

  const rows = lines.map(
    ({ label, shown: value }) =>
      // A word that is wider than a phone may break.
      `<tr valign="top"><td style="padding-right:16px">${escapeHtml(label)}</td><td${/\S{20}/.test(value) ? ' style="word-break:break-word"' : ''}><b>${escapeHtml(apart(value))}</b></td></tr>`,
  )
  const picture =
    block.qr === null || several || !methods.upi
      ? ''
      : `<div style="display:inline-block;vertical-align:top;width:184px;padding-bottom:14px"><img src="${escapeHtml(block.qr)}" width="160" height="160" alt="${escapeHtml(text.qr(shown))}" style="display:block;border:0"></div>`
  const linked = (url: string, words: string) =>
    `<div style="padding-top:24px"><a href="${url}" style="display:inline-block;padding:11px 26px;border:2px solid;border-radius:10px;font-size:17px;line-height:1.3;font-weight:bold;color:inherit;text-decoration:none">${escapeHtml(words)}</a></div>`
  const closing = [
    ...received.map(escapeHtml),
    page === null
      ? `${text.question} ${text.reply}`
      : `${text.question} <a href="${page}#else" style="color:inherit">${text.tellUsThere}</a>${text.orReply}`,
  ]
  const html = [
    '<div style="margin-top:28px;border-top:1px solid;opacity:.25;font-size:0;line-height:0">&nbsp;</div>',
    page === null ? '' : linked(page, button),
    files.html,
    `<div style="padding-top:24px">${picture}<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="display:inline-table;vertical-align:top;max-width:384px;font-size:15px;line-height:1.63">${rows.join('')}</table></div>`,
    own === null ? '' : linked(escapeHtml(own.url), own.label),
    `<div style="padding-top:12px;font-size:15px;line-height:1.5">${closing.join('<br>')}</div>`,
  ].join('')
  const paragraphs = [
    [...(payLink === null ? [] : [`${button}${text.colon}${payLink}`]), ...files.lines],
    lines.map(({ label, shown: value }) => (label === '' ? apart(value) : `${label}${text.colon}${apart(value)}`)),
    own === null ? [] : [`${own.label}${text.colon}${own.url}`],
    [...received, payLink === null ? `${text.question} ${text.reply}` : `${text.question} ${text.tellUsThere}${text.orReply}`],
  ]
  return { html: inPayLanguage(html, speech), text: paragraphs.flatMap((one) => (one.length === 0 ? [] : [one.join('\n')])).join('\n\n') }
}

/** The links to the PDFs of an email. */
function fileLinks({ pdfs, references, speech = english }: Pick<PayBlock, 'pdfs' | 'references' | 'speech'>): {
  html: string
  lines: string[]
} {
  const { pay: text, value: apart } = speech
  const files = pdfs.map(({ reference, url }) => ({
    url,
    label: references.length > 1 ? text.fileOf(apart(visible(reference))) : text.file,
  }))
  const links = files.map(({ url, label }) => `<a href="${escapeHtml(url)}" style="color:inherit">${escapeHtml(label)}</a>`)
  return {
    html: links.length === 0 ? '' : `<div style="padding-top:12px;font-size:15px;line-height:1.5">${links.join('<br>')}</div>`,
    lines: files.map(({ url, label }) => `${label}${text.colon}${url}`),
  }
}

/** Where the words about paying are in another language than the email. */
function inPayLanguage(html: string, { language, payLanguage }: Speech): string {
  return payLanguage === language ? html : `<div lang="${payLanguage}" dir="ltr">${html}</div>`
}

/**
 * A rendered email with its block about paying, where the account adds one and the wording has no link of its own; `picture` gives the address of
 * a UPI code's picture. `code` is what that picture shows; null where there is none. `mustLink`: its PDFs were to be attached and cannot be, so it
 * links to them without a block too.
 */
export function withPayBlock(
  rendered: RenderedReminder,
  about: Omit<PayBlock, 'qr'> & { wording: Wording; inEmails: boolean; picture: ((code: string) => string) | null; mustLink?: boolean },
): RenderedReminder & { code: string | null } {
  const { wording, inEmails, picture, mustLink = false, ...facts } = about
  if (hasPayLink(wording)) return { ...rendered, code: null }
  const code = inEmails ? upiCode(facts) : null
  const block = inEmails ? payBlock({ ...facts, qr: code === null || picture === null ? null : picture(code) }) : null
  if (block) return { ...rendered, html: `${rendered.html}${block.html}`, text: `${rendered.text}\n\n${block.text}`, code }
  const { html, lines } = fileLinks(facts)
  if (!mustLink || lines.length === 0) return { ...rendered, code: null }
  const linked = inPayLanguage(html, facts.speech ?? english)
  return { ...rendered, html: `${rendered.html}${linked}`, text: `${rendered.text}\n\n${lines.join('\n')}`, code: null }
}
