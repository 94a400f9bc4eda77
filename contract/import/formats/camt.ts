import type { StatementAccount, StatementEntry, StatementFile, StatementFormat } from '#contract/import/statement.ts'
import { addsUp, type Balance, plainAmount } from './amounts.ts'
import { detailOf, directionOf, type Entry, splitBatch } from './camt-details.ts'
import { accountOf, sayOnce } from './collect.ts'
import { dayOf, decode, ibanOf, tidy } from './decode.ts'
import { FileProblem, texts } from './texts.ts'
import { all, attribute, checkXml, keptText, one, parseXml, textAt, type XmlNode } from './xml.ts'

/* ISO 20022, camt.052, .053 and .054: one structure in all versions, with a few elements that moved. */

const parts = { 'CAMT.052': 'Rpt', 'CAMT.053': 'Stmt', 'CAMT.054': 'Ntfctn' } as const
const messages = /^BkToCstmr(?:AcctRpt|Stmt|DbtCdtNtfctn)(?:V\d+)?$/

export function readCamt(bytes: Uint8Array, format: keyof typeof parts): StatementFile {
  const text = decode(bytes, encodingOf(bytes))
  checkXml(text)
  const file: StatementFile = { kind: 'statement', formats: [format satisfies StatementFormat], accounts: [], entries: [], notes: [] }
  // An envelope can be around the document, and hold several.
  const found = messagesIn(parseXml(text, ['Ntry']), 5)
  let number = 0
  for (const message of found) {
    const pages = one(message, 'GrpHdr', 'MsgPgntn')
    const isPart =
      pages !== undefined && (textAt(pages, 'LastPgInd') === 'false' || (textAt(pages, 'PgNb') ?? '1').replace(/^0+/, '') !== '1')
    if (isPart) sayOnce(file, texts.pages)
    for (const statement of all(message, parts[format])) {
      const account = accountOf(file, readAccount(statement))
      const own = file.accounts[account] as StatementAccount
      const before = file.entries.length
      const isSkipped = file.notes.length
      for (const written of all(statement, 'Ntry')) {
        number += 1
        readEntry(file, { node: keptText(written), account, own, position: texts.entry(number) })
      }
      const added = file.entries.slice(before)
      if (!isPart && file.notes.length === isSkipped) checkBalances(file, statement, added)
    }
  }
  if (found.length === 0) throw new FileProblem(texts.noMessage)
  return file
}

/** The encoding that the declaration names. */
function encodingOf(bytes: Uint8Array): string | null {
  const head = new TextDecoder('windows-1252').decode(bytes.subarray(0, 200))
  return /<\?xml[^>]*encoding\s*=\s*["']([\w.:-]+)["']/.exec(head)?.[1] ?? null
}

function messagesIn(node: XmlNode, depth: number): XmlNode[] {
  if (typeof node === 'string' || depth === 0) return []
  return Object.entries(node).flatMap(([name, value]) => {
    const nodes = [value].flat()
    return messages.test(name) ? nodes : nodes.flatMap((inner) => messagesIn(inner, depth - 1))
  })
}

function readAccount(statement: XmlNode): StatementAccount {
  const account = one(statement, 'Acct')
  const id =
    textAt(account, 'Id', 'IBAN') ??
    textAt(account, 'Id', 'Othr', 'Id') ??
    textAt(account, 'Id', 'PrtryAcct', 'Id') ??
    textAt(account, 'Id', 'BBAN')
  return {
    id: id === null ? null : (ibanOf(id) ?? id.replace(/\s/g, '')),
    currency: textAt(account, 'Ccy'),
    name: textAt(account, 'Nm') ?? textAt(account, 'Ownr', 'Nm'),
    isCard: false,
  }
}

interface Written {
  node: string
  account: number
  own: StatementAccount
  position: string
}

const states: Record<string, StatementEntry['state']> = { BOOK: 'booked', PDNG: 'pending', FUTR: 'pending', INFO: 'info' }

/** Characters of an entry that is parsed at once: about 100 transactions of a batch. */
const longEntry = 100_000
const oneDetail = /<(?:[\w.-]+:)?TxDtls>([\s\S]*?)<\/(?:[\w.-]+:)?TxDtls>/g

/** Adds an entry, or one for each of its transactions where these are known to be all of it. */
function readEntry(file: StatementFile, { node: raw, account, own, position }: Written): void {
  const isLong = raw.length > longEntry
  const node = parseXml(raw, isLong ? ['TxDtls'] : [])
  const amount = plainAmount(textAt(node, 'Amt') ?? '')
  const direction = directionOf(textAt(node, 'CdtDbtInd'))
  if (amount === null || direction === null) {
    sayOnce(file, texts.leftOut(position, amount === null ? texts.noAmount : texts.noDirection))
    return
  }
  const status = textAt(node, 'Sts', 'Cd') ?? textAt(node, 'Sts', 'Prtry') ?? textAt(node, 'Sts') ?? ''
  const state = states[status] ?? null
  const entry: Entry = {
    account,
    booked: dateAt(node, 'BookgDt'),
    valued: dateAt(node, 'ValDt'),
    amount,
    currency: attribute(one(node, 'Amt'), 'Ccy') ?? own.currency,
    direction,
    state,
    stateText: state === null ? status : null,
    reversal: /^(?:true|1)$/.test(textAt(node, 'RvslInd') ?? ''),
    position,
  }
  const details = [...all(node, 'NtryDtls', 'TxDtls'), ...all(node, 'TxDtls')].map((detail) =>
    isLong ? parseXml(keptText(detail)) : detail,
  )
  const batch = one(node, 'NtryDtls', 'Btch') ?? one(node, 'Btch')
  const several = splitBatch(entry, details, batch)
  const rest = typeof node === 'string' ? node : { ...node, NtryDtls: '', TxDtls: '' }
  if (several.kind === 'transactions') {
    const raws = [...raw.matchAll(oneDetail)].map(([, written = '']) => written)
    for (const [index, { detail, ...amounts }] of several.transactions.entries())
      file.entries.push(
        detailOf({ ...entry, ...amounts, position: texts.transaction(position, index + 1) }, rest, detail, own, {
          raw: raws[index] ?? raw,
          isPart: true,
        }),
      )
    return
  }
  // Of a batch that stays whole neither one payer nor one purpose is known.
  const detail = details.length === 1 && !several.isBatch ? details[0] : undefined
  const whole = detailOf(entry, rest, detail, own, { raw, isPart: false })
  const purposes = detail === undefined ? details.flatMap((one) => textAt(one, 'RmtInf', 'Ustrd') ?? []) : []
  file.entries.push({ ...whole, text: tidy([whole.text, ...purposes.slice(0, 20)].join(' ')), unclear: several.why })
}

/** The day as the bank writes it, whatever its time zone. */
function dateAt(node: XmlNode, name: string): string | null {
  const text = textAt(node, name, 'Dt') ?? textAt(node, name, 'DtTm') ?? textAt(node, name)
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})(?:T.*|Z|[+-]\d{2}:\d{2})?$/.exec(text ?? '') ?? []
  return day === undefined ? null : dayOf(Number(year), Number(month), Number(day))
}

/** Adds a note where booked entries do not lead from the opening to the closing balance. */
function checkBalances(file: StatementFile, statement: XmlNode, entries: StatementEntry[]): void {
  const balances = all(statement, 'Bal').flatMap((balance) => {
    const code = textAt(balance, 'Tp', 'CdOrPrtry', 'Cd') ?? textAt(balance, 'Tp', 'Cd')
    const amount = plainAmount(textAt(balance, 'Amt') ?? '')
    const direction = directionOf(textAt(balance, 'CdtDbtInd'))
    const currency = attribute(one(balance, 'Amt'), 'Ccy')
    return amount === null || direction === null || currency === null ? [] : [{ code, amount, direction, currency }]
  })
  const only = (...codes: string[]): Balance | null => {
    for (const code of codes) {
      const found = balances.filter((balance) => balance.code === code)
      if (found.length > 0) return found.length === 1 ? (found[0] ?? null) : null
    }
    return null
  }
  const [opening, closing] = [only('OPBD', 'PRCD'), only('CLBD')]
  if (!opening || !closing || opening.currency !== closing.currency || entries.some(({ currency }) => currency !== opening.currency)) return
  if (
    !addsUp(
      opening,
      closing,
      entries.filter(({ state }) => state === 'booked'),
    )
  )
    sayOnce(file, texts.balances)
}
