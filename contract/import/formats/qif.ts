import type { StatementAccount, StatementEntry, StatementFile } from '#contract/import/statement.ts'
import { decimalMark, type Mark, readAmount, sumOf } from './amounts.ts'
import { accountOf, sayOnce } from './collect.ts'
import { dayOf, decode, firstOf, ibanOf, rawOf } from './decode.ts'
import { FileProblem, texts } from './texts.ts'

/*
 * QIF: records of lines that begin with a letter for their field, and end with ^. It defines neither the order of a date nor the currency, nor which
 * of the two signs in an amount is before decimals.
 */

interface Field {
  code: string
  text: string
}

interface Entry {
  fields: Field[]
  line: number
}

/** Sections with movements of money, and which of them are of cards. Others are lists, or of investments. */
const sections: Record<string, { isCard: boolean }> = {
  bank: { isCard: false },
  cash: { isCard: false },
  'oth a': { isCard: false },
  'oth l': { isCard: false },
  ccard: { isCard: true },
}

export function readQif(bytes: Uint8Array): StatementFile {
  const file: StatementFile = { kind: 'statement', formats: ['QIF'], accounts: [], entries: [], notes: [] }
  const found: { entry: Entry; account: number }[] = []
  let account: StatementAccount = { id: null, currency: null, name: null, isCard: false }
  // Without a heading the lines are those of a bank.
  let section = 'bank'
  let entry: Entry = { fields: [], line: 1 }
  const isOpen = () => sections[section] !== undefined && entry.fields.length > 0
  const lines = decode(bytes).split(/\r\n|\r|\n/)
  for (const [index, written] of lines.entries()) {
    const line = written.trimEnd()
    if (line === '') continue
    if (entry.fields.length === 0) entry.line = index + 1
    if (line.startsWith('!')) {
      if (isOpen()) throw new FileProblem(texts.cut(texts.line(index)))
      entry = { fields: [], line: index + 2 }
      const heading = line.slice(1).trim().toLowerCase()
      // An option says how Quicken merges lists of accounts.
      if (/^(?:option|clear):/.test(heading)) continue
      section = heading.replace(/^type:\s*/, '')
      if (section === 'invst') sayOnce(file, texts.investments(account.name ?? ''))
      const kind = sections[section]
      if (kind) account = { ...account, isCard: kind.isCard }
    } else if (/^\^+$/.test(line)) {
      if (section === 'account') account = readAccount(entry)
      else if (sections[section] && entry.fields.length > 0) found.push({ entry, account: accountOf(file, account) })
      entry = { fields: [], line: index + 2 }
    } else if (entry.fields.length > 0 || !line.startsWith('#')) entry.fields.push({ code: line.slice(0, 1), text: line.slice(1) })
  }
  if (isOpen()) throw new FileProblem(texts.cut(texts.line(lines.findLastIndex((line) => line.trim() !== '') + 1)))
  const all = found.flatMap((one) => one.entry.fields)
  const about = {
    mark: decimalMark(all.filter(({ code }) => /[TU$]/.test(code)).map(({ text }) => text)),
    hasCleared: all.some(({ code, text }) => code === 'C' && cleared.test(text.trim())),
  }
  for (const one of found) readEntry(file, one.entry, one.account, about)
  return file
}

function readAccount({ fields }: Entry): StatementAccount {
  const textOf = (code: string) => firstOf(fields.find((field) => field.code === code)?.text)
  const name = textOf('N')
  return { id: ibanOf(name), currency: null, name, isCard: textOf('T')?.toLowerCase() === 'ccard' }
}

/** Marks of a register that say that the bank has the entry. */
const cleared = /^[*cxr]$/i

function readEntry(
  file: StatementFile,
  { fields, line }: Entry,
  account: number,
  { mark, hasCleared }: { mark: Mark | null; hasCleared: boolean },
): void {
  const textOf = (code: string) => firstOf(fields.find((field) => field.code === code)?.text)
  const position = texts.line(line)
  const found = readAmount(textOf('T') ?? textOf('U') ?? '', mark)
  if (found === null) {
    sayOnce(file, texts.leftOut(position, texts.noAmount))
    return
  }
  const own = file.accounts[account]?.name ?? null
  const [category, name, number] = [textOf('L'), textOf('P'), textOf('N')]
  const transfer = /^\[(.*)\]/.exec(category ?? '')?.[1] ?? null
  // Quicken begins a register with its balance, as a transfer to itself.
  if (transfer !== null && (transfer === own || /^opening balance$/i.test(name ?? ''))) {
    sayOnce(file, texts.leftOut(position, texts.openingBalance))
    return
  }
  const parts = fields.filter(({ code }) => code === '$').map(({ text }) => readAmount(text, mark))
  const isSplit = parts.length > 0 && sumOf(parts.flatMap((part) => part ?? [])) === sumOf([found]) && parts.every((part) => part !== null)
  const isCleared = cleared.test(textOf('C') ?? '')
  const { booked, dateText } = readDate(textOf('D'))
  file.entries.push({
    account,
    booked,
    valued: null,
    dateText,
    amount: found.amount,
    amountText: found.isUnclear ? found.written : null,
    currency: null,
    direction: found.direction,
    // A register that marks what the bank has, has this one not yet.
    state: isCleared || !hasCleared ? 'booked' : null,
    stateText: isCleared || !hasCleared ? null : (textOf('C') ?? texts.notCleared),
    reversal: false,
    returned: null,
    bankId: null,
    endToEndId: null,
    references: number !== null && /\d/.test(number) ? [number] : [],
    name,
    iban: null,
    text:
      firstOf(
        fields
          .filter(({ code }) => code === 'M')
          .map(({ text }) => text)
          .join(' '),
      ) ?? '',
    original: null,
    charges: null,
    code: category,
    unclear: parts.length > 0 && !isSplit ? texts.splitSum : transfer === null ? null : texts.ownTransfer(transfer),
    raw: rawOf(fields.map(({ code, text }) => `${code}${text}`).join('\n')),
    position,
  })
}

/** A date that begins with its year has one meaning. For others nothing in the format says which number is the month. */
function readDate(text: string | null): Pick<StatementEntry, 'booked' | 'dateText'> {
  const bare = (text ?? '').replace(/\s+/g, '')
  const [, year, month, day] = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/.exec(bare) ?? []
  if (day !== undefined) return { booked: dayOf(Number(year), Number(month), Number(day)), dateText: null }
  // An apostrophe is before a year of this century: 3/5'26.
  const [, first, second, short = ''] = /^(\d{1,2})[/.-](\d{1,2})'(\d{1,4})$/.exec(bare) ?? []
  return { booked: null, dateText: first === undefined ? text : `${first}/${second}/${short.length === 4 ? short : 2000 + Number(short)}` }
}
