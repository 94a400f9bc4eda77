import { z } from 'zod'
import { call } from './call.ts'
import { decimalsOf } from './currencies.ts'
import { formatDate } from './dates.ts'
import { english } from './english.ts'
import { formatMoney, fromMinor, toMinor } from './money.ts'
import { inLanguage, type Speech } from './speech.ts'
import { wordingContent, wordingSubject } from './wordings.ts'

export const templateVariables = [
  'invoiceId',
  'clientName',
  'amount',
  'dueDate',
  'daysOverdue',
  'businessName',
  'userName',
  'invoiceAmount',
  'paidAmount',
  'payLink',
] as const
export type TemplateVariable = (typeof templateVariables)[number]

/** What the variables say, already formatted for people: `₹5,000.00`, `15/01/2025`, `5`. `payLink`: '' where there is no pay page. */
export type ReminderValues = Record<TemplateVariable, string>

/** The variables of the email that lists all that one client owes. */
export const groupVariables = ['clientName', 'invoiceCount', 'totalAmount', 'invoiceList', 'businessName', 'userName', 'payLink'] as const
type GroupVariable = (typeof groupVariables)[number]
/** `invoiceList`: a line per invoice. */
export type GroupValues = Record<Exclude<GroupVariable, 'invoiceList'>, string> & { invoiceList: string[] }

export interface Wording {
  subject: string
  content: string
}

/** One email: the subject on one line, the same words as an HTML fragment and as plain text. */
export interface RenderedReminder {
  subject: string
  html: string
  text: string
}

/** It stays the same for all reminders of an invoice, because mailboxes begin a new thread with another subject. */
export const defaultSubject = 'Invoice {{invoiceId}} from {{businessName}}: {{amount}} was due on {{dueDate}}'
export const defaultContent = `Dear {{clientName}},

This is a friendly reminder that the payment for the invoice below has not reached us yet.

<strong>{{amount}}</strong>
Invoice <b>{{invoiceId}}</b> from {{businessName}}
Due on {{dueDate}}, {{daysOverdue}} days overdue

If you have paid in the meantime, thank you, and please ignore this email. Otherwise, we would be grateful if you could arrange the payment in the next few days. If anything about the invoice is unclear, simply reply to this email.

Kind regards,
{{userName}}`

/** What the preview shows until there is an invoice to show. */
export const sampleValues: ReminderValues = {
  invoiceId: 'INV-0001',
  clientName: 'Kaveri Foods',
  amount: formatMoney(5000, 'INR'),
  dueDate: formatDate('2025-01-15'),
  daysOverdue: '5',
  businessName: 'Studio Indigo',
  userName: 'Asha Rao',
  invoiceAmount: formatMoney(5000, 'INR'),
  paidAmount: formatMoney(0, 'INR'),
  payLink: '',
}

export const defaultGroupSubject = '{{invoiceCount}} invoices from {{businessName}}: {{totalAmount}} overdue'
export const defaultGroupContent = `Dear {{clientName}},

This is a friendly reminder that the payments for the invoices below have not reached us yet.

<strong>{{totalAmount}}</strong>
{{invoiceCount}} invoices from {{businessName}}

{{invoiceList}}

If you have paid in the meantime, thank you, and please ignore this email. Otherwise, we would be grateful if you could arrange the payment in the next few days. If anything about the invoices is unclear, simply reply to this email.

Kind regards,
{{userName}}`

/** What one invoice of an email is about: `amount`, what is left to pay, in the currency of the email; `dueDate` as YYYY-MM-DD. */
interface GroupedInvoice {
  reference: string
  amount: number
  dueDate: string
  daysOverdue: number
}

/** A grouped email names at most this many invoices; the others are counted and summed in one line. */
export const mostListed = 200

/**
 * Formats the values of an email about several invoices of one client. `invoices` are all of them, or the first `mostListed` where reading
 * all would cost too much; `count` and `total` are always those of all, which have one `currency`. The business is named by its display name,
 * `userName`.
 */
export function groupValues(about: {
  clientName: string
  userName: string
  invoices: GroupedInvoice[]
  count: number
  total: number
  currency: string
  payLink?: string | null
  speech?: Speech
}): GroupValues {
  const { currency, speech = english } = about
  const listed = about.invoices.slice(0, mostListed)
  const lines = listed.map(({ reference, amount, dueDate, daysOverdue }) =>
    speech.listed({
      reference,
      amount: speech.money(amount, currency),
      due: speech.date(dueDate),
      days: daysOverdue < 1 ? null : daysOverdue,
    }),
  )
  const listedMinor = listed.reduce((sum, { amount }) => sum + (toMinor(amount, currency) ?? 0), 0)
  const rest = about.count - listed.length
  const restMinor = Math.round(about.total * 10 ** decimalsOf(currency)) - listedMinor
  if (rest > 0) lines.push(speech.more(rest, speech.money(fromMinor(restMinor, currency), currency)))
  return {
    clientName: speech.value(about.clientName),
    businessName: speech.value(about.userName),
    userName: speech.value(about.userName),
    invoiceCount: speech.value(String(about.count)),
    totalAmount: speech.value(speech.money(about.total, currency)),
    invoiceList: lines,
    payLink: about.payLink ?? '',
  }
}

export const sampleGroupInvoices: [GroupedInvoice, GroupedInvoice] = [
  { reference: 'INV-0001', amount: 5000, dueDate: '2025-01-15', daysOverdue: 5 },
  { reference: 'INV-0002', amount: 12_250, dueDate: '2025-01-19', daysOverdue: 1 },
]

/** What the preview of the grouped email shows. */
export const sampleGroupValues: GroupValues = {
  ...groupValues({
    clientName: sampleValues.clientName,
    userName: sampleValues.userName,
    invoices: sampleGroupInvoices,
    count: 2,
    total: 17_250,
    currency: 'INR',
  }),
  businessName: sampleValues.businessName,
}

/**
 * Formats what a reminder is about: `amount`, what is left to pay, the invoice's own amount and what was paid of it, all in its `currency`;
 * `dueDate` as YYYY-MM-DD. The business is named by its display name, `userName`.
 */
export function reminderValues(about: {
  reference: string
  clientName: string
  amount: number
  invoiceAmount: number
  paidAmount: number
  currency: string
  dueDate: string
  daysOverdue: number
  userName: string
  payLink?: string | null
  speech?: Speech
}): ReminderValues {
  const { value, money, date } = about.speech ?? english
  return {
    invoiceId: value(about.reference),
    clientName: value(about.clientName),
    amount: value(money(about.amount, about.currency)),
    dueDate: value(date(about.dueDate)),
    daysOverdue: value(String(about.daysOverdue)),
    businessName: value(about.userName),
    userName: value(about.userName),
    invoiceAmount: value(money(about.invoiceAmount, about.currency)),
    paidAmount: value(money(about.paidAmount, about.currency)),
    payLink: about.payLink ?? '',
  }
}

/**
 * Wording and values to the email itself, for the preview and for sending: the same input gives the same bytes.
 * Of the content's HTML the tags br, b, i, u, strong and em survive, bare and balanced; line breaks become br; values are only ever text.
 * The subject has no HTML at all. `payLink` becomes the only link that this writes; without one its line goes.
 */
export function renderReminder(wording: Wording, values: ReminderValues): RenderedReminder {
  return render(wording, forOne, values)
}

/** The same for the email that lists several invoices of one client. */
export function renderGroupReminder(wording: Wording, values: GroupValues): RenderedReminder {
  return render(wording, forGroup, values)
}

/** The largest HTML and text of one email together, in characters. */
const largestEmail = 1_000_000

/** A wording and values that would make an email larger than 1 MB: such an email is never sent. */
export class EmailTooLarge extends Error {
  override name = 'EmailTooLarge'
}

function render(wording: Wording, syntax: Syntax, values: Partial<Record<string, string | string[]>>): RenderedReminder {
  const linesOf = (name: string) => [values[name] ?? []].flat().map(oneLine)
  const content = singular(withoutMissingLink(wording.content, values).trim(), values)
  const unclosed: string[] = []
  let html = ''
  let text = ''
  for (const piece of pieces(content, syntax)) {
    if ('words' in piece || 'variable' in piece) {
      const lines = 'words' in piece ? [piece.words] : linesOf(piece.variable)
      html += 'variable' in piece && piece.variable === 'payLink' ? lines.map(linked).join('') : lines.map(escapeHtml).join('<br>')
      text += lines.join('\n')
      if (html.length + text.length > largestEmail) throw new EmailTooLarge()
    } else if (piece.tag === 'br') {
      html += '<br>'
      text += '\n'
    } else if (!piece.closes) {
      unclosed.push(piece.tag)
      html += `<${piece.tag}>`
    } else if (unclosed.includes(piece.tag)) {
      for (let tag = unclosed.pop(); tag !== undefined; tag = unclosed.pop()) {
        html += `</${tag}>`
        if (tag === piece.tag) break
      }
    }
  }
  for (const tag of unclosed.reverse()) html += `</${tag}>`
  const subject = oneLine(
    singular(wording.subject, values).replace(syntax.variable, (_all, name: string) =>
      name === 'payLink' ? '' : linesOf(name).join('; '),
    ),
  )
  return { subject: subject.replace(/ +/g, ' ').trim().toWellFormed(), html: html.toWellFormed(), text: text.toWellFormed() }
}

/** Around the name of a variable: a text that was copied from elsewhere has spaces that look like plain ones. */
const gap = '[ \\t\\u00a0\\u00ad\\u2000-\\u200f\\u202f\\u205f\\u2060\\u3000\\ufeff]*'
const linkVariable = new RegExp(`\\{\\{${gap}payLink${gap}\\}\\}`)
const counted = new RegExp(`\\{\\{${gap}(daysOverdue|invoiceCount)${gap}\\}\\}[ \\t\\u00a0]+(?:day|invoice)s\\b`, 'g')

/** Whether a text uses a variable. */
export const hasVariable = (text: string, name: TemplateVariable) => variableOf([name]).test(text)

/** Whether a wording writes the link to the pay page itself. */
export const hasPayLink = ({ content }: Wording) => linkVariable.test(content)

/** Where there is no pay page, the lines that lead to it are left out. */
function withoutMissingLink(content: string, { payLink }: Partial<Record<string, string | string[]>>): string {
  if ((payLink ?? '') !== '' || !linkVariable.test(content)) return content
  const [first = '', ...others] = content.split(/(?=\r\n|(?<!\r)\n|\r(?!\n)|<br\s*\/?>)/i)
  return [linkVariable.test(first) ? '' : first, ...others.filter((line) => !linkVariable.test(line))].join('')
}

function linked(address: string): string {
  return address === '' ? '' : `<a href="${escapeHtml(address)}" style="color:inherit">${escapeHtml(address)}</a>`
}

/** `{{daysOverdue}} days` and `{{invoiceCount}} invoices` without the plural where the number is 1. */
function singular(text: string, values: Partial<Record<string, string | string[]>>): string {
  return text.replace(counted, (whole, name: string) => (values[name] === '1' ? whole.slice(0, -1) : whole))
}

/** An amount alone on its line in <strong>, and the lines below it up to an empty one. */
const factsPattern =
  /(^|<br>)<strong>(₹[\d,]+\.\d\d|(?:[A-Z]{0,2}[$¥€£₩₪₫₱]|[A-Z][A-Za-z.\u202f]{2,5}\u00a0)[\d,]+(?:\.\d{2,3})?)<\/strong>((?:<br>(?!<br>)(?:[^<]|<b>[^<]*<\/b>)*)*)(?:<br>|$)/

/** The same in other languages, whose amounts have other signs and places, with a label before it on the line. */
const otherFactsPattern =
  /(^|<br>)([^<]{0,60})<strong>((?=[^<]*\p{Nd})[\p{Nd}\p{Sc}\p{Zs}\p{Cf}A-Za-z.,'’٫٬]{1,40})<\/strong>((?:<br>(?!<br>)(?:[^<]|<b>[^<]*<\/b>)*)*)(?:<br>|$)/u

/** Sets the facts of an email apart as one block, with the amount as its largest line. */
function withFacts(html: string, { language, dir }: Pick<Speech, 'language' | 'dir'>): string {
  const begins = '<div style="padding:2px 0 2px 16px;border-left:3px solid rgba(128,128,128,.5)">'
  const amount = '<strong style="font-size:26px;line-height:1.4">'
  return language === 'en'
    ? html.replace(factsPattern, `$1${begins}${amount}$2</strong>$3</div>`)
    : html.replace(
        otherFactsPattern,
        `$1${dir === 'ltr' ? begins : begins.replace('2px 0 2px 16px', '2px 16px 2px 0').replace('left', 'right')}$2${amount}$3</strong>$4</div>`,
      )
}

/**
 * The HTML document around a rendered fragment, for the email's HTML part and for the preview's frame. Its lines are no
 * longer than is comfortable to read; its text names no colour, so each mail program and theme shows it in its own.
 * `subject`: its title.
 */
export function reminderDocument(html: string, { language, dir }: Pick<Speech, 'language' | 'dir'> = english, subject = ''): string {
  return `<!doctype html>
<html lang="${language}"${language === 'en' ? '' : ` dir="${dir}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no">${subject === '' ? '' : `\n<title>${escapeHtml(subject)}</title>`}
</head>
<body style="margin:0;padding:16px">
<div style="max-width:576px;font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.6;overflow-wrap:break-word">${withFacts(html, { language, dir })}</div>
</body>
</html>
`
}

/** Unknown variables in a wording, each once, as typed. */
export function unknownVariables(text: string, names: readonly string[] = templateVariables): string[] {
  const found = text
    .replace(variableOf(names), ' ')
    .matchAll(/\{\{([^{}\n]{0,40})/g)
    .map(([, name = '']) => name.trim())
  return [...new Set(found)]
}

/** How often a wording may use a variable: the list once, because it may be long. */
const mostUses = (name: string) => (name === 'invoiceList' ? 1 : 20)

/** The variables that a wording, its subject and content together, uses too often; each with a sentence. */
function overusedVariables(wording: Wording, names: readonly string[]): string[] {
  const uses = new Map<string, number>()
  for (const text of [wording.subject, wording.content])
    for (const [, name = ''] of text.matchAll(variableOf(names))) uses.set(name, (uses.get(name) ?? 0) + 1)
  return [...uses].flatMap(([name, count]) => {
    const most = mostUses(name)
    return count > most ? `Use {{${name}}} ${most === 1 ? 'only once' : `at most ${most} times`}; it is used ${count} times.` : []
  })
}

/** What is wrong with a wording that is written for one email, by field; `names`: the variables that it may use. */
export function wordingProblems(wording: Wording, names: readonly string[]): { path: keyof Wording; message: string }[] {
  const problems: { path: keyof Wording; message: string }[] = []
  if (wording.subject.trim() === '') problems.push({ path: 'subject', message: 'Please enter a subject.' })
  if (wording.content.trim() === '') problems.push({ path: 'content', message: 'Please enter the text of the email.' })
  for (const path of ['subject', 'content'] as const)
    for (const name of unknownVariables(wording[path], names)) problems.push({ path, message: notAVariable(name, names) })
  for (const message of overusedVariables(wording, names)) problems.push({ path: 'content', message })
  return problems
}

function notAVariable(name: string, names: readonly string[]): string {
  return `{{${name}}} is not a variable. Please use ${names.map((known) => `{{${known}}}`).join(', ')}.`
}

type Piece = { words: string } | { variable: string } | { tag: string; closes: boolean }

/** How a wording is read: its variables, and these among the markup. */
interface Syntax {
  variable: RegExp
  markup: RegExp
  /** Variables and line breaks alone, in what only looks like a tag. */
  text: RegExp
}

function variableOf(names: readonly string[]): RegExp {
  return new RegExp(`\\{\\{${gap}(${names.join('|')})${gap}\\}\\}`, 'g')
}

const lineBreak = '\\r\\n|[\\r\\n\\v\\f\\u0085\\u2028\\u2029]'

function syntaxOf(names: readonly string[]): Syntax {
  const variable = variableOf(names)
  // In this order: a variable; a tag with its attributes, whose name is read to its end; the start of a comment; a declaration; a line break.
  const markup = new RegExp(
    `${variable.source}|<(\\/?)([a-zA-Z][^\\s/<>"']*)(?![^\\s/<>"'])(?:"[^"]*"|'[^']*'|[^"'<>])*>|(<!--)|<[!?][^<>]*>|(${lineBreak})`,
    'g',
  )
  return { variable, markup, text: new RegExp(`${variable.source}|(${lineBreak})`, 'g') }
}
const forOne = syntaxOf(templateVariables)
const forGroup = syntaxOf(groupVariables)
const keptTags = new Set(['br', 'b', 'i', 'u', 'strong', 'em'])
const silentTags = new Set(['script', 'style'])
/** Every element of HTML, the former ones too, and the pictures that can be inside. Custom elements have a hyphen, and names of Word a colon. */
const elements = new Set(
  `a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote body br button canvas caption center cite code
  col colgroup data datalist dd del details dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head
  header hgroup hr html i iframe image img input ins kbd keygen label legend li link listing main map mark marquee math menu meta meter nav nobr noembed noframes
  noscript object ol optgroup option output p param picture plaintext pre progress q rb rp rt rtc ruby s samp script search section select slot small source
  spacer span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr xmp
  path g circle rect use`.split(/\s+/),
)

/** Whether a name in angle brackets is one of HTML; `asha@shop.example` and `amount due` are text. */
function isElement(name: string): boolean {
  return elements.has(name) || /^(?:[a-z]+[a-z0-9]*-[a-z0-9-]+|(?:o|w|v|m|st1|mso):[a-z0-9]+)$/.test(name)
}

/** What an email leaves out of its content, each once, as tags: `<a>`, `<script>`. */
export function leftOut(content: string): string[] {
  const names = [...content.matchAll(forOne.markup)].map(([, _variable, _slash, name = '']) => name.toLowerCase())
  return [...new Set(names)].filter((name) => isElement(name) && !keptTags.has(name)).map((name) => `<${name}>`)
}

/** Text without tags, with its variables. */
function* plainPieces(text: string, syntax: Syntax): Generator<Piece> {
  let after = 0
  for (const found of text.matchAll(syntax.text)) {
    if (found.index > after) yield { words: readable(text.slice(after, found.index)) }
    yield found[1] ? { variable: found[1] } : { tag: 'br', closes: false }
    after = found.index + found[0].length
  }
  if (after < text.length) yield { words: readable(text.slice(after)) }
}

/**
 * The content cut into words, variables and the tags that are kept; everything else of HTML is left out, script and style with what they hold. What only
 * looks like a tag is text.
 */
function* pieces(content: string, syntax: Syntax): Generator<Piece> {
  const { markup } = syntax
  const lower = content.toLowerCase().length === content.length ? content.toLowerCase() : content
  const lastEnd = content.lastIndexOf('-->')
  // What is not closed after one tag is not closed after the next: searching again for each would be quadratic.
  const unclosed = new Set<string>()
  let after = 0
  const scan = new RegExp(markup)
  for (let found = scan.exec(content); found; found = scan.exec(content)) {
    const [whole, name, slash, tagName, comment, newLine] = found
    const end = comment && found.index < lastEnd ? content.indexOf('-->', found.index + 2) : -1
    // A comment that never ends is no comment: what follows it is still meant to be read.
    if (comment && end < 0) continue
    if (found.index > after) yield { words: readable(content.slice(after, found.index)) }
    if (comment) scan.lastIndex = end + '-->'.length
    const tag = tagName?.toLowerCase()
    if (name) yield { variable: name }
    else if (newLine) yield { tag: 'br', closes: false }
    else if (tag && !isElement(tag)) yield* plainPieces(whole, syntax)
    else if (tag && keptTags.has(tag)) yield { tag, closes: slash === '/' }
    else if (tag && !slash && silentTags.has(tag)) {
      const closing = unclosed.has(tag) ? -1 : lower.indexOf(`</${tag}`, found.index + whole.length)
      if (closing >= 0) scan.lastIndex = closing
      else unclosed.add(tag)
    }
    after = scan.lastIndex
  }
  if (after < content.length) yield { words: readable(content.slice(after)) }
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' }

/** Words as a person reads them: `&amp;` is &, control characters are gaps. */
function readable(words: string): string {
  const decoded = words.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(amp|lt|gt|quot|apos|nbsp));/g, (whole, decimal, hex, name) => {
    if (name) return entities[name] ?? whole
    const point = decimal ? Number.parseInt(decimal, 10) : Number.parseInt(hex, 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })
  return decoded.replace(/[^\P{Cc}\t]|[\u2028\u2029]/gu, ' ')
}

/** Line breaks and other control characters become spaces: nothing here can start a new line or a new header. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, ' ')
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
}

export const template = z.object({
  useCustomTemplate: z.boolean(),
  customSubject: z.string(),
  customContent: z.string(),
  defaultSubject: z.string(),
  defaultContent: z.string(),
  sample: z
    .record(z.string(), z.union([z.string(), z.array(z.string())]))
    .optional()
    .meta({ description: 'In another language than English, made-up values as its emails have them.' }),
  dir: z.enum(['ltr', 'rtl']).optional().meta({ description: 'With `sample`: the direction of the language.' }),
  version: z.string().meta({ description: 'Another one after a change. The ETag names it.' }),
})
export type Template = z.infer<typeof template>

/** Names each unknown variable: it would reach the client as it was typed. */
const knownVariables = (names: readonly string[]) =>
  z.check<string>(({ value, issues }) => {
    for (const name of unknownVariables(value, names))
      issues.push({
        code: 'custom',
        input: value,
        message: notAVariable(name, names),
      })
  })

const changeOf = (names: readonly string[]) =>
  z
    .strictObject({
      useCustomTemplate: z.boolean(),
      customSubject: wordingSubject.check(knownVariables(names)),
      customContent: wordingContent.check(knownVariables(names)),
    })
    .partial()

export const templateChange = changeOf(templateVariables)
const groupTemplateChange = changeOf(groupVariables)
export type TemplateChange = z.output<typeof templateChange>

export const templateCalls = {
  read: call({
    method: 'GET',
    path: '/mail-config/template',
    by: 'viewer',
    summary: 'The wording of my reminders.',
    query: inLanguage,
    reply: template,
  }),
  save: call({
    method: 'PUT',
    path: '/mail-config/template',
    by: 'admin',
    summary: 'Change the wording of my reminders.',
    query: inLanguage,
    body: templateChange,
    reply: template,
  }),
  readGroup: call({
    method: 'GET',
    path: '/mail-config/template/group',
    by: 'viewer',
    summary: 'The wording of the email that lists all that one client owes.',
    query: inLanguage,
    reply: template,
  }),
  saveGroup: call({
    method: 'PUT',
    path: '/mail-config/template/group',
    by: 'admin',
    summary: 'Change the wording of the email that lists all that one client owes.',
    query: inLanguage,
    body: groupTemplateChange,
    reply: template,
  }),
}
