import type { StatementAccount, StatementEntry } from '#contract/import/statement.ts'
import { plainAmount, sumOf } from './amounts.ts'
import { firstOf, ibanOf, rawOf } from './decode.ts'
import { texts } from './texts.ts'
import { all, attribute, one, ownText, textAt, type XmlNode } from './xml.ts'

/** What an entry says itself, before its details. */
export type Entry = Pick<
  StatementEntry,
  'account' | 'booked' | 'valued' | 'amount' | 'currency' | 'direction' | 'state' | 'stateText' | 'reversal' | 'position'
>

export function directionOf(indicator: string | null): StatementEntry['direction'] | null {
  return indicator === 'CRDT' ? 'in' : indicator === 'DBIT' ? 'out' : null
}

type Transactions = { kind: 'transactions'; transactions: (Pick<Entry, 'amount' | 'direction'> & { detail: XmlNode })[] }

/** The transactions of an entry, each with its amount, where they are all of it; else the entry stays whole, with why a person must look. */
export function splitBatch(
  entry: Entry,
  details: XmlNode[],
  batch: XmlNode | undefined,
): Transactions | { kind: 'whole'; isBatch: boolean; why: string | null } {
  const counted = Number(textAt(batch, 'NbOfTxs') ?? '')
  // An entry with one detail is that transaction. Its own amount is what the account got.
  if (details.length < 2) return { kind: 'whole', isBatch: counted > 1, why: null }
  const transactions = details.flatMap((detail) => {
    const amount = amountIn(detail, entry.currency)
    return amount === null ? [] : [{ amount, direction: directionOf(textAt(detail, 'CdtDbtInd')) ?? entry.direction, detail }]
  })
  const isAll = transactions.length === details.length && (!(counted > 0) || counted === details.length)
  if (isAll && sumOf(transactions) === sumOf([entry])) return { kind: 'transactions', transactions }
  const why = transactions.length === details.length ? texts.batchSum(details.length) : texts.batchAmounts(details.length)
  return { kind: 'whole', isBatch: true, why }
}

/** The amount of one transaction in the currency of its entry. */
function amountIn(detail: XmlNode, currency: string | null): string | null {
  for (const path of [['Amt'], ['AmtDtls', 'TxAmt', 'Amt'], ['AmtDtls', 'InstdAmt', 'Amt']]) {
    const amount = one(detail, ...path)
    if (amount === undefined) continue
    const plain = plainAmount(ownText(amount))
    if (plain !== null && attribute(amount, 'Ccy') === currency) return plain
  }
  return null
}

/** Families of transactions that return or refuse an earlier one. */
const returnCodes = new Set(['RRTN', 'UPDD', 'PRDD', 'RPCR', 'RIMB', 'UPCT', 'UPCQ', 'CQRV', 'DDRF', 'RTRN', 'RJCT'])

/** An entry, or one transaction of it, with what its details say. `rest` is the entry without them. */
export function detailOf(
  entry: Entry,
  rest: XmlNode,
  detail: XmlNode | undefined,
  own: StatementAccount,
  { raw, isPart }: { raw: string; isPart: boolean },
): StatementEntry {
  const code = codeOf(detail) ?? codeOf(rest)
  const returned = returnOf(detail) ?? (returnCodes.has(code?.split('/')[2] ?? '') ? firstOf(textAt(detail, 'AddtlTxInf'), code) : null)
  const { name, iban } = otherParty(entry, detail, own, returned !== null)
  const endToEndId = idAt(detail, 'EndToEndId')
  // In a batch the id of the entry is that of all its transactions.
  const bankId = idAt(detail, 'AcctSvcrRef') ?? (isPart ? null : (refAt(rest, 'AcctSvcrRef') ?? refAt(rest, 'NtryRef')))
  // Switzerland: how a payment slip was read.
  const purpose = [...all(detail, 'RmtInf', 'Ustrd'), ...all(detail, 'RmtInf', 'Strd', 'AddtlRmtInf')]
    .map(ownText)
    .filter((words) => !/^\?(?:REJECT|ERROR)\?\d+$/.test(words))
  return {
    ...entry,
    dateText: null,
    amountText: null,
    returned,
    bankId,
    endToEndId,
    references: referencesOf(detail).filter((reference) => reference !== endToEndId),
    name,
    iban,
    text: firstOf(purpose.join(' '), textAt(detail, 'AddtlTxInf'), textAt(rest, 'AddtlNtryInf')) ?? '',
    original: originalOf(entry, detail, isPart ? undefined : rest),
    charges: chargesOf(detail) ?? (isPart ? null : chargesOf(rest)),
    code,
    unclear: null,
    raw: rawOf(raw),
  }
}

/** A code as domain, family and sub-family, `PMNT/RCDT/ESCT`; else the bank's own. */
function codeOf(node: XmlNode | undefined): string | null {
  const code = one(node, 'BkTxCd')
  const parts = [textAt(code, 'Domn', 'Cd'), textAt(code, 'Domn', 'Fmly', 'Cd'), textAt(code, 'Domn', 'Fmly', 'SubFmlyCd')]
  return parts.some((part) => part !== null) ? parts.map((part) => part ?? '').join('/') : textAt(code, 'Prtry', 'Cd')
}

function returnOf(detail: XmlNode | undefined): string | null {
  const found = one(detail, 'RtrInf')
  if (found === undefined) return null
  const reason =
    textAt(found, 'Rsn', 'Cd') ?? textAt(found, 'Rsn', 'Prtry') ?? textAt(found, 'RtrRsn', 'Cd') ?? textAt(found, 'RtrRsn', 'Prtry')
  const words = all(found, 'AddtlInf').map(ownText).join(' ')
  return firstOf([reason, words].filter(Boolean).join(': ')) ?? texts.returned
}

const nothing = /^(?:NOT ?PROVIDED|KEINE INFORMATION VORHANDEN|NON ?REF|NO ?REF|NONE|NOTAVAILABLE|N\/A|0+|-+)$/i

/** An id, unless it is a word for none. */
function refAt(node: XmlNode | undefined, ...path: string[]): string | null {
  const text = textAt(node, ...path)
  return text === null || nothing.test(text) ? null : text
}

function idAt(detail: XmlNode | undefined, name: string): string | null {
  return refAt(detail, 'Refs', name)
}

/** The creditor's references first, then the documents they name, then the payer's. Those of banks name no invoice. */
function referencesOf(detail: XmlNode | undefined): string[] {
  const strings = (...path: string[]) => all(detail, ...path).map(ownText)
  const found = [
    ...strings('RmtInf', 'Strd', 'CdtrRefInf', 'Ref'),
    ...strings('RmtInf', 'Strd', 'CdtrRefInf', 'CdtrRef'),
    ...strings('RmtInf', 'Strd', 'RfrdDocInf', 'Nb'),
    ...strings('RmtInf', 'Strd', 'RfrdDocInf', 'RfrdDocNb'),
    ...strings('Refs', 'ChqNb'),
    ...strings('Refs', 'InstrId'),
    ...strings('Refs', 'Prtry', 'Ref'),
  ]
  return [...new Set(found.filter((reference) => reference !== '' && !nothing.test(reference)))]
}

interface Party {
  name: string | null
  iban: string | null
}

/**
 * The debtor of money that came in, the creditor of money that went out. Returns and reversals keep the roles of the transfer they take back, so of
 * the two parties it is then the one that has not this account, else the other one.
 */
function otherParty(entry: Entry, detail: XmlNode | undefined, own: StatementAccount, isReturn: boolean): Party {
  const parties = one(detail, 'RltdPties')
  const debtor = partyOf(parties, 'Dbtr')
  const creditor = partyOf(parties, 'Cdtr')
  const isOwn = ({ iban }: Party) => iban !== null && iban === own.id
  if (isOwn(debtor) !== isOwn(creditor)) return isOwn(debtor) ? creditor : debtor
  return (entry.direction === 'in') !== (isReturn || entry.reversal) ? debtor : creditor
}

function partyOf(parties: XmlNode | undefined, role: 'Dbtr' | 'Cdtr'): Party {
  const account = one(parties, `${role}Acct`, 'Id')
  const names = [role, `Ultmt${role}`].flatMap((who) => refAt(parties, who, 'Nm') ?? refAt(parties, who, 'Pty', 'Nm') ?? [])
  const id = textAt(account, 'IBAN') ?? textAt(account, 'Othr', 'Id')
  // One party can pay for another, which is then the client.
  return { name: names.length === 0 ? null : [...new Set(names)].join(' / '), iban: id === null ? null : ibanOf(id) }
}

/** What was sent, where the account got another amount or currency. */
function originalOf(entry: Entry, detail: XmlNode | undefined, rest: XmlNode | undefined): StatementEntry['original'] {
  for (const node of [detail, rest])
    for (const path of [
      ['InstdAmt', 'Amt'],
      ['TxAmt', 'Amt'],
    ]) {
      const found = one(node, 'AmtDtls', ...path)
      if (found === undefined) continue
      const [amount, currency] = [plainAmount(ownText(found)), attribute(found, 'Ccy')]
      if (
        amount !== null &&
        currency !== null &&
        (currency !== entry.currency || sumOf([{ amount, direction: 'in' }]) !== sumOf([{ ...entry, direction: 'in' }]))
      )
        return { amount, currency }
    }
  return null
}

/** Charges that the bank took: those of one amount, or the sum that the bank gives. */
function chargesOf(node: XmlNode | undefined): StatementEntry['charges'] {
  const charges = all(node, 'Chrgs')
  const total = charges.flatMap((one) => all(one, 'TtlChrgsAndTaxAmt'))
  const records = charges.flatMap((charge) => [...all(charge, 'Rcrd'), ...(one(charge, 'Amt') === undefined ? [] : [charge])])
  const [found, more] =
    total.length > 0 ? total : records.filter((record) => textAt(record, 'CdtDbtInd') !== 'CRDT').flatMap((record) => all(record, 'Amt'))
  const amount = found === undefined || more !== undefined ? null : plainAmount(ownText(found))
  return found === undefined || amount === null || /^0*(?:\.0*)?$/.test(amount) ? null : { amount, currency: attribute(found, 'Ccy') }
}
