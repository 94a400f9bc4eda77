import type { StatementAccount, StatementEntry, StatementFile } from '#contract/import/statement.ts'
import { decimalMark, type Mark, readAmount } from './amounts.ts'
import { accountOf, sayOnce } from './collect.ts'
import { dayOf, decode, firstOf, ibanOf, rawOf, tidy } from './decode.ts'
import { type OfxElement, ofxAll, ofxElements, ofxValue } from './ofx-elements.ts'
import { FileProblem, texts } from './texts.ts'

export function readOfx(bytes: Uint8Array, format: 'OFX' | 'QFX'): StatementFile {
  const text = decode(bytes, encodingOf(bytes))
  const ofx = ofxElements(text)
  const file: StatementFile = { kind: 'statement', formats: [format], accounts: [], entries: [], notes: [] }
  const statements = ofxAll(ofx, /^(?:CC)?STMTRS$/)
  const error = ofxAll(ofx, /^STATUS$/).find((status) => ofxValue(status, 'SEVERITY') === 'ERROR')
  if (error && statements.length === 0)
    throw new FileProblem(texts.bankError(firstOf(ofxValue(error, 'MESSAGE'), ofxValue(error, 'CODE')) ?? ''))
  if (error) sayOnce(file, texts.bankError(firstOf(ofxValue(error, 'MESSAGE'), ofxValue(error, 'CODE')) ?? ''))
  // OFX has a point or a comma before decimals and none between thousands, but banks write some.
  const mark = decimalMark(ofxAll(ofx, /^TRNAMT$/).map(({ value }) => value))
  for (const statement of statements) {
    const account = accountOf(file, readAccount(statement))
    const own = file.accounts[account] as StatementAccount
    for (const transaction of ofxAll(statement, /^STMTTRNP?$/)) readEntry(file, transaction, { account, own, text, mark })
  }
  for (const investment of ofxAll(ofx, /^INVSTMTRS$/)) sayOnce(file, texts.investments(ofxValue(investment, 'INVACCTFROM', 'ACCTID') ?? ''))
  if (statements.length === 0 && file.notes.length === 0) throw new FileProblem(texts.noMessage)
  return file
}

/** The encoding that the header names: `CHARSET:1252`, or that of XML. */
function encodingOf(bytes: Uint8Array): string | null {
  const head = new TextDecoder('windows-1252').decode(bytes.subarray(0, 1_000))
  const named = /CHARSET\s*:\s*([\w-]+)/i.exec(head)?.[1] ?? /<\?xml[^>]*encoding\s*=\s*["']([\w.:-]+)["']/.exec(head)?.[1] ?? null
  return named !== null && /^\d{3,4}$/.test(named) ? `windows-${named}` : named === 'NONE' ? null : named
}

function readAccount(statement: OfxElement): StatementAccount {
  const isCard = statement.name === 'CCSTMTRS'
  const from = statement.inner.find(({ name }) => name === (isCard ? 'CCACCTFROM' : 'BANKACCTFROM'))
  const id = ofxValue(from, 'ACCTID')?.replace(/\s/g, '') ?? null
  return { id: id === null ? null : (ibanOf(id) ?? id), currency: codeOf(ofxValue(statement, 'CURDEF')), name: null, isCard }
}

function codeOf(text: string | null): string | null {
  return text !== null && /^[A-Za-z]{3}$/.test(text) ? text.toUpperCase() : null
}

/** Kinds of transactions that have one direction. The sign decides; where it disagrees, a person must look. */
const kinds: Record<string, StatementEntry['direction']> = {
  CREDIT: 'in',
  DEP: 'in',
  DIRECTDEP: 'in',
  DIV: 'in',
  DEBIT: 'out',
  DIRECTDEBIT: 'out',
  PAYMENT: 'out',
  CHECK: 'out',
  CASH: 'out',
  FEE: 'out',
  SRVCHG: 'out',
}

interface About {
  account: number
  own: StatementAccount
  text: string
  mark: Mark | null
}

function readEntry(file: StatementFile, written: OfxElement, { account, own, text, mark }: About): void {
  const position = texts.line(written.line)
  const found = readAmount(ofxValue(written, 'TRNAMT') ?? '', mark)
  if (found === null) {
    sayOnce(file, texts.leftOut(position, texts.noAmount))
    return
  }
  const isPending = written.name === 'STMTTRNP' || ofxValue(written, 'TRNTYPE') === 'HOLD'
  const code = ofxValue(written, 'TRNTYPE')?.toUpperCase() ?? null
  const { direction } = found
  const isOther = code !== null && !own.isCard && Object.hasOwn(kinds, code) && kinds[code] !== direction && found.amount !== '0'
  const corrected = ofxValue(written, 'CORRECTFITID')
  const isDeletion = ofxValue(written, 'CORRECTACTION')?.toUpperCase() === 'DELETE'
  const name = firstOf(ofxValue(written, 'NAME'), ofxValue(written, 'PAYEE', 'NAME'), ofxValue(written, 'EXTDNAME'))
  const references = [ofxValue(written, 'CHECKNUM'), ofxValue(written, 'REFNUM')].filter((one) => one !== null && !/^0*$/.test(one))
  file.entries.push({
    account,
    booked: dateOf(ofxValue(written, 'DTPOSTED') ?? ofxValue(written, 'DTTRAN')),
    valued: dateOf(ofxValue(written, 'DTAVAIL')),
    dateText: null,
    amount: found.amount,
    amountText: found.isUnclear ? found.written : null,
    // Of an amount in another currency that was not converted. A converted one has ORIGCURRENCY, and is in that of the account.
    currency: codeOf(ofxValue(written, 'CURRENCY', 'CURSYM')) ?? own.currency,
    direction,
    state: isPending ? 'pending' : 'booked',
    stateText: null,
    reversal: isDeletion,
    returned: null,
    bankId: idOf(ofxValue(written, 'FITID')),
    endToEndId: null,
    references: [...new Set(references.filter((one) => one !== null))],
    name,
    iban: ibanOf(ofxValue(written, 'BANKACCTTO', 'ACCTID')),
    text: firstOf(ofxValue(written, 'MEMO'), ofxValue(written, 'MEMO2')) ?? '',
    original: null,
    charges: null,
    code,
    unclear: isOther ? texts.otherSign(code) : corrected !== null ? texts.corrects(corrected) : null,
    raw: rawOf(text.slice(written.start, written.end)),
    position,
  })
}

function idOf(text: string | null): string | null {
  return text === null || /^(?:0*|NONE|N\/A)$/i.test(text) ? null : tidy(text)
}

/** `20261120`, `20261120103000.000[-5:EST]`: the day as the bank writes it, whatever its time zone. */
function dateOf(text: string | null): string | null {
  const [, year, month, day] = /^(\d{4})-?(\d{2})-?(\d{2})(?:$|[\dT[. ])/.exec(text ?? '') ?? []
  return day === undefined ? null : dayOf(Number(year), Number(month), Number(day))
}
