import type { StatementAccount, StatementEntry, StatementFile } from '#contract/import/statement.ts'
import { addsUp, type Balance, plainAmount, unitsOf } from './amounts.ts'
import { accountOf, sayOnce } from './collect.ts'
import { dayOf, decode, firstOf, ibanOf, rawOf, tidy } from './decode.ts'
import { detailsOf, idOf } from './mt940-details.ts'
import { FileProblem, texts } from './texts.ts'

/* SWIFT MT940 and MT942: fields such as :61:, in messages that begin with :20:, with or without the envelope of SWIFT around each. */

interface Field {
  tag: string
  /** The lines of it, joined by line breaks. */
  text: string
  line: number
}

interface Message {
  fields: Field[]
  /** Whether a line says that it ends: `-` or `-}`. */
  isClosed: boolean
  /** Its last line. */
  line: number
}

/** A type of message of the envelope: 940 in `{2:O9400000…}`. */
const envelope = /\{2:[IO](\d{3})/

export function readSwift(bytes: Uint8Array): StatementFile {
  const file: StatementFile = { kind: 'statement', formats: [], accounts: [], entries: [], notes: [] }
  for (const message of messagesOf(decode(bytes))) readMessage(file, message)
  if (file.formats.length === 0) throw new FileProblem(texts.noMessage)
  return file
}

function messagesOf(text: string): Message[] {
  const found: Message[] = []
  for (const [index, written] of text.split(/\r\n|\r|\n/).entries()) {
    const type = envelope.exec(written)?.[1]
    if (type !== undefined && type !== '940' && type !== '942') throw new FileProblem(texts.notRead(texts.mt(type)))
    const line = written.replace(/^.*\{4:\s*/, '').replace(/^[\s\p{Cc}]+(?=:\d\d)/u, '')
    const [, tag, value = ''] = /^:(\d{2}[A-Z]?|NS):(.*)$/.exec(line) ?? []
    const current = found.at(-1)
    const field = tag === undefined ? null : { tag, text: value.replace(/-\}\s*$/, ''), line: index + 1 }
    if (field?.tag === '20') found.push({ fields: [field], isClosed: false, line: index + 1 })
    else if (current && line.trim() !== '') {
      // A line of a text can be a single dash: a field behind it shows that it was no end.
      const isEnd = /^-(?:\}.*)?\s*$/.test(line)
      if (field) current.fields.push(field)
      else if (!isEnd && !current.isClosed) append(current.fields, line)
      current.isClosed = isEnd || (current.isClosed && !field) || /-\}\s*$/.test(line)
      if (!current.isClosed || isEnd) current.line = index + 1
    }
  }
  return found
}

function append(fields: Field[], line: string): void {
  const last = fields.at(-1)
  if (last) last.text += `\n${line}`
}

function readMessage(file: StatementFile, { fields, isClosed, line }: Message): void {
  const has = (...tags: string[]) => fields.some(({ tag }) => tags.includes(tag))
  const textOf = (...tags: string[]) => fields.find(({ tag }) => tags.includes(tag))?.text ?? null
  const format = has('60F', '60M', '62F', '62M') ? 'MT940' : 'MT942'
  const closing = textOf('62F', '62M')
  if (format === 'MT940' && balanceOf(closing) === null) throw new FileProblem(texts.noClosing(texts.line(line)))
  // A report within the day has no field at its end that it must have.
  if (!has('25', '25P') || (format === 'MT942' && !isClosed && !has('90D', '90C'))) throw new FileProblem(texts.cut(texts.line(line)))
  if (!file.formats.includes(format)) file.formats.push(format)
  const opening = textOf('60F', '60M')
  const currency = balanceOf(opening)?.currency ?? balanceOf(closing)?.currency ?? /^([A-Z]{3})/.exec(textOf('34F') ?? '')?.[1] ?? null
  const own = readAccount(textOf('25', '25P') ?? '', currency)
  const account = accountOf(file, own)
  const added: StatementEntry[] = []
  for (const [index, field] of fields.entries()) {
    if (field.tag !== '61') continue
    const details: string[] = []
    for (let next = index + 1; fields[next]?.tag === '86'; next += 1) details.push(fields[next]?.text ?? '')
    added.push(readEntry(field, details.join('\n'), { account, own, format }))
  }
  const balances = [balanceOf(opening), balanceOf(closing)] as const
  if (format === 'MT940' && balances[0] && balances[1] && !addsUp(balances[0], balances[1], added)) sayOnce(file, texts.balances)
  file.entries.push(...added)
}

/** `10020030/1234567`, an IBAN, or one with its currency behind it. */
function readAccount(text: string, currency: string | null): StatementAccount {
  const bare = (text.split('\n')[0] ?? '').replace(/\s/g, '').replace(/^\/+/, '')
  const id = currency !== null && bare.endsWith(currency) && /\d/.test(bare.at(-4) ?? '') ? bare.slice(0, -3) : bare
  return { id: id === '' ? null : (ibanOf(id) ?? id), currency, name: null, isCard: false }
}

/** `C261120EUR1234,50`. */
function balanceOf(text: string | null): Balance | null {
  const [, side, currency, written] = /^\s*(C|D)\s?\d{6}\s?([A-Z]{3})\s?([\d.]*,?\d*)\s*$/.exec((text ?? '').split('\n')[0] ?? '') ?? []
  const amount = written === undefined ? null : swiftAmount(written)
  return amount === null || currency === undefined ? null : { amount, direction: side === 'C' ? 'in' : 'out', currency }
}

/** Digits with a decimal comma. Points are read where they can only be one thing. */
function swiftAmount(written: string): string | null {
  if (/^\d*,?\d*$/.test(written)) return plainAmount(written.replace(',', '.'))
  if (/^\d{1,3}(?:\.\d{3})+,\d*$/.test(written)) return plainAmount(written.replaceAll('.', '').replace(',', '.'))
  return /^\d+\.\d{2}$/.test(written) ? plainAmount(written) : null
}

/**
 * Value date, entry date, mark, third letter of the currency, amount, type, reference, the bank's reference, and a line of supplementary details. RC
 * takes a credit back, RD a debit; EC and ED are expected.
 */
const line61 = /^(\d{6})(\d{4}|\s{4})?\s?(RC|RD|EC|ED|C|D)([A-Z])?\s?([\d.,]+)\s?([A-Z][A-Z0-9]{3})?(.*)$/

function readEntry(
  field: Field,
  details: string,
  about: { account: number; own: StatementAccount; format: 'MT940' | 'MT942' },
): StatementEntry {
  const [first = '', ...behind] = field.text.split('\n')
  const [, value = '', entry = '', mark = '', , written = '', type = null, rest = ''] = line61.exec(first.trim()) ?? []
  const amount = swiftAmount(written)
  if (amount === null) throw new FileProblem(texts.damaged(texts.line(field.line)))
  const direction = mark === 'C' || mark === 'RD' || mark === 'EC' ? 'in' : 'out'
  const valued = dateOf(value)
  const [reference = '', bankReference = ''] = rest.split('//', 2)
  const found = detailsOf(details, direction)
  // Some banks have the account of the other party as the reference, and its name behind it; others the account there.
  const more = tidy(behind.join(' '))
  const party = ibanOf(reference)
  // Banks in Germany send this report of what is noted, and not booked yet; elsewhere it is of what is booked.
  const isNoted = about.format === 'MT942' && found.isGerman && !mark.startsWith('E')
  return {
    account: about.account,
    booked: entry.trim() === '' ? null : entryDate(entry, value),
    valued,
    dateText: null,
    amount,
    amountText: null,
    currency: about.own.currency,
    direction,
    state: mark.startsWith('E') ? 'pending' : isNoted ? null : 'booked',
    stateText: isNoted ? 'MT942' : null,
    reversal: mark.startsWith('R'),
    returned: found.returned ?? (type?.slice(1) === 'RTI' ? texts.returned : null),
    bankId: idOf(bankReference),
    endToEndId: found.endToEndId,
    references: [...new Set([...found.references, ...(party === null ? [idOf(reference)] : [])])]
      .filter((one) => one !== null)
      .filter((one) => one !== found.endToEndId),
    name: found.name ?? (party === null ? null : firstOf(more)),
    iban: found.iban ?? party ?? ibanOf(more),
    text: firstOf(found.text, /^\/[A-Z]{4}\//.test(more) ? null : more) ?? '',
    original: amountBehind('OCMT', more, details),
    charges: amountBehind('CHGS', more, details),
    code: firstOf([type, found.code].filter(Boolean).join(' ')),
    unclear: valued === null ? texts.noSuchDay(value) : null,
    raw: rawOf([field.text, details].filter((part) => part !== '').join('\n')),
    position: texts.line(field.line),
  }
}

/** What was sent, `/OCMT/USD100,00/`, and charges, `/CHGS/EUR0,44/`. */
function amountBehind(code: 'OCMT' | 'CHGS', ...written: string[]): { amount: string; currency: string } | null {
  const [, currency, digits = ''] = new RegExp(`/${code}/([A-Z]{3})([\\d,]+)`).exec(written.join(' ').replaceAll('\n', '')) ?? []
  const amount = swiftAmount(digits)
  return currency === undefined || amount === null || unitsOf(amount) === 0n ? null : { amount, currency }
}

function dateOf(text: string): string | null {
  return dayOf(2000 + Number(text.slice(0, 2)), Number(text.slice(2, 4)), Number(text.slice(4, 6)))
}

/** The entry date has no year: of the value date's year and those beside it, the one that is nearest to the value date. */
function entryDate(text: string, value: string): string | null {
  const year = 2000 + Number(value.slice(0, 2))
  const [month, day] = [Number(text.slice(0, 2)), Number(text.slice(2, 4))]
  const near = Date.UTC(year, Number(value.slice(2, 4)) - 1, Number(value.slice(4, 6)))
  const distance = (date: string) => Math.abs(Date.parse(date) - near)
  const [nearest] = [year - 1, year, year + 1]
    .flatMap((one) => dayOf(one, month, day) ?? [])
    .toSorted((one, other) => distance(one) - distance(other))
  return nearest ?? null
}
