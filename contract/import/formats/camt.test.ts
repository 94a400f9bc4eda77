import { expect, test } from 'vitest'
import type { StatementEntry, StatementFile } from '#contract/import/statement.ts'
import { readStatement } from './read.ts'

const read = (text: string, encode = (written: string) => new TextEncoder().encode(written)) => readStatement(encode(text))
function statementOf(text: string): StatementFile {
  const file = read(text)
  if (file?.kind !== 'statement') throw new Error(JSON.stringify(file))
  return file
}
const entriesOf = (text: string) => statementOf(text).entries
const only = (text: string) => entriesOf(text)[0] as StatementEntry

const own = 'DE89370400440532013000'
/** A document of a version, with entries. */
const camt = (entries: string, { name = 'camt.053.001.08', root = 'BkToCstmrStmt', part = 'Stmt', more = '' } = {}) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:${name}"><${root}><GrpHdr><MsgId>M1</MsgId></GrpHdr>
  <${part}><Id>S1</Id><Acct><Id><IBAN>${own}</IBAN></Id><Ccy>EUR</Ccy><Ownr><Nm>Kontor GmbH</Nm></Ownr></Acct>${more}${entries}</${part}></${root}></Document>`
const entry = ({ amount = '150.00', mark = 'CRDT', status = '<Sts><Cd>BOOK</Cd></Sts>', more = '', details = '', id = 'B-77' } = {}) =>
  `<Ntry><NtryRef>N1</NtryRef><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${mark}</CdtDbtInd>${status}<BookgDt><Dt>2026-11-20</Dt></BookgDt>
  <ValDt><Dt>2026-11-19</Dt></ValDt><AcctSvcrRef>${id}</AcctSvcrRef>${more}<NtryDtls>${details}</NtryDtls></Ntry>`
const parties = (iban = 'NL91ABNA0417164300') =>
  `<RltdPties><Dbtr><Pty><Nm>Asha &amp; Co</Nm></Pty></Dbtr><DbtrAcct><Id><IBAN>${iban}</IBAN></Id></DbtrAcct><Cdtr><Nm>Kontor GmbH</Nm></Cdtr><CdtrAcct><Id><IBAN>${own}</IBAN></Id></CdtrAcct></RltdPties>`

test.each([
  ['camt.053.001.02', 'BkToCstmrStmt', 'Stmt', '<Sts>BOOK</Sts>'],
  ['camt.053.001.13', 'BkToCstmrStmt', 'Stmt', '<Sts><Cd>BOOK</Cd></Sts>'],
  ['camt.052.001.01', 'BkToCstmrAcctRptV01', 'Rpt', '<Sts>BOOK</Sts>'],
  ['camt.052.001.08', 'BkToCstmrAcctRpt', 'Rpt', '<Sts><Cd>BOOK</Cd></Sts>'],
  ['camt.054.001.04', 'BkToCstmrDbtCdtNtfctn', 'Ntfctn', '<Sts>BOOK</Sts>'],
])('%s is read in both directions', (name, root, part, status) => {
  const details = `<TxDtls><Refs><EndToEndId>INV-0008</EndToEndId></Refs>${parties()}<RmtInf><Ustrd>Invoice</Ustrd><Ustrd>INV-0008</Ustrd></RmtInf></TxDtls>`
  const file = statementOf(camt(entry({ status, details }) + entry({ status, mark: 'DBIT', details, id: 'B-78' }), { name, root, part }))
  expect(file.formats).toEqual([name.slice(0, 8).toUpperCase()])
  expect(file.accounts).toEqual([{ id: own, currency: 'EUR', name: 'Kontor GmbH', isCard: false }])
  expect(file.entries[0]).toMatchObject({
    account: 0,
    booked: '2026-11-20',
    valued: '2026-11-19',
    amount: '150.00',
    currency: 'EUR',
    direction: 'in',
    state: 'booked',
    reversal: false,
    returned: null,
    bankId: 'B-77',
    endToEndId: 'INV-0008',
    name: 'Asha & Co',
    iban: 'NL91ABNA0417164300',
    text: 'Invoice INV-0008',
    unclear: null,
    position: 'entry 1',
  })
  expect(file.entries[1]).toMatchObject({ direction: 'out', state: 'booked', position: 'entry 2' })
})

test.each([
  ['<Sts>PDNG</Sts>', 'pending', null],
  ['<Sts><Cd>PDNG</Cd></Sts>', 'pending', null],
  ['<Sts><Cd>FUTR</Cd></Sts>', 'pending', null],
  ['<Sts>INFO</Sts>', 'info', null],
  ['<Sts><Prtry>HELD</Prtry></Sts>', null, 'HELD'],
  ['', null, ''],
])('%s is a state of its own, and an unknown word a question', (status, state, stateText) => {
  expect(only(camt(entry({ status })))).toMatchObject({ state, stateText })
})

test('a reversal and a return keep the parties of what they take back', () => {
  const returned = `<TxDtls>${parties()}<RtrInf><Rsn><Cd>MD06</Cd></Rsn><AddtlInf>Refund requested</AddtlInf></RtrInf></TxDtls>`
  const details = `<TxDtls>${parties().replace(/<CdtrAcct>.*<\/CdtrAcct>/, '')}</TxDtls>`
  const back = entry({ mark: 'DBIT', details: returned })
  const reversed = entry({ mark: 'DBIT', more: '<RvslInd>true</RvslInd>', details })
  const code = (name: string) =>
    entry({ more: `<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>${name}</SubFmlyCd></Fmly></Domn></BkTxCd>` })
  expect(entriesOf(camt(back + reversed + code('RRTN') + code('ESCT')))).toMatchObject([
    { direction: 'out', reversal: false, returned: 'MD06: Refund requested', name: 'Asha & Co' },
    { direction: 'out', reversal: true, returned: null, name: 'Asha & Co' },
    { direction: 'in', reversal: false, returned: 'PMNT/ICDT/RRTN' },
    { direction: 'in', reversal: false, returned: null, code: 'PMNT/ICDT/ESCT' },
  ])
})

const transaction = (amount: string, more = '') =>
  `<TxDtls><Refs><AcctSvcrRef>T-${amount}</AcctSvcrRef></Refs><Amt Ccy="EUR">${amount}</Amt>${more}<RmtInf><Ustrd>pays ${amount}</Ustrd></RmtInf></TxDtls>`

test('a batch is one entry for each transaction where they add up', () => {
  const back = transaction('10', '<CdtDbtInd>DBIT</CdtDbtInd>')
  const details = `<Btch><NbOfTxs>3</NbOfTxs></Btch>${transaction('100.50')}${transaction('59.50')}${back}`
  expect(entriesOf(camt(entry({ details })))).toMatchObject([
    { amount: '100.50', direction: 'in', bankId: 'T-100.50', text: 'pays 100.50', position: 'entry 1, transaction 1', unclear: null },
    { amount: '59.50', direction: 'in', position: 'entry 1, transaction 2' },
    { amount: '10', direction: 'out', position: 'entry 1, transaction 3' },
  ])
  expect(only(camt(entry({ details }))).raw).toContain('pays 100.50')
})

test('a long batch is taken apart like a short one', () => {
  const details = Array.from({ length: 900 }, (_, index) => transaction('0.10', `<Purp><Cd>P${index}</Cd></Purp>`)).join('')
  const entries = entriesOf(camt(entry({ amount: '90', details })))
  expect(entries).toHaveLength(900)
  expect(entries[899]).toMatchObject({ amount: '0.10', raw: expect.stringContaining('P899') })
})

test.each([
  ['amounts that do not add up', transaction('100') + transaction('49'), 'The 2 payments in this batch do not add up to its amount.'],
  ['a missing amount', transaction('100') + transaction('50').replace(/<Amt.*<\/Amt>/, ''), 'and not the amount of each'],
  ['another count', `<Btch><NbOfTxs>3</NbOfTxs></Btch>${transaction('100')}${transaction('50')}`, 'do not add up'],
])('a batch with %s stays whole, and a person must look', (_what, details, why) => {
  const entries = entriesOf(camt(entry({ details })))
  expect(entries).toMatchObject([{ amount: '150.00', name: null, bankId: 'B-77', unclear: expect.stringContaining(why) }])
})

test('references of a creditor come first, and words for none are none', () => {
  const details = `<TxDtls><Refs><InstrId>I-1</InstrId><EndToEndId>NOTPROVIDED</EndToEndId></Refs><RmtInf>
    <Strd><RfrdDocInf><Nb>INV-0009</Nb></RfrdDocInf><CdtrRefInf><Tp><CdOrPrtry><Cd>SCOR</Cd></CdOrPrtry></Tp><Ref>RF18539007547034</Ref></CdtrRefInf></Strd></RmtInf></TxDtls>`
  expect(only(camt(entry({ details })))).toMatchObject({ endToEndId: null, references: ['RF18539007547034', 'INV-0009', 'I-1'], text: '' })
})

test('what was sent in another currency, and charges, are beside the amount', () => {
  const details = `<TxDtls><AmtDtls><InstdAmt><Amt Ccy="USD">170.00</Amt></InstdAmt></AmtDtls><Chrgs><TtlChrgsAndTaxAmt Ccy="EUR">2.50</TtlChrgsAndTaxAmt></Chrgs></TxDtls>`
  expect(only(camt(entry({ details })))).toMatchObject({
    amount: '150.00',
    currency: 'EUR',
    original: { amount: '170.00', currency: 'USD' },
    charges: { amount: '2.50', currency: 'EUR' },
  })
})

test('a day is that which the bank writes, and no day of the calendar is none', () => {
  const at = (written: string) => only(camt(entry().replace('<BookgDt><Dt>2026-11-20</Dt></BookgDt>', written))).booked
  expect(at('<BookgDt><DtTm>2026-11-20T23:59:00-08:00</DtTm></BookgDt>')).toBe('2026-11-20')
  expect(at('<BookgDt><Dt>2026-11-20+01:00</Dt></BookgDt>')).toBe('2026-11-20')
  expect(at('<BookgDt><Dt>2026-02-30</Dt></BookgDt>')).toBeNull()
  expect(at('<BookgDt><Dt>20/11/2026</Dt></BookgDt>')).toBeNull()
  expect(at('')).toBeNull()
})

test('an entry without a readable amount or mark is left out by name', () => {
  const file = statementOf(camt(entry({ amount: '12,50' }) + entry({ mark: 'X' }) + entry()))
  expect(file.entries).toHaveLength(1)
  expect(file.notes).toEqual(['Left out entry 1: its amount is not a number.', 'Left out entry 2: it is neither a credit nor a debit.'])
})

test('balances that the entries do not lead to are noted', () => {
  const balance = (code: string, amount: string, mark = 'CRDT') =>
    `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${mark}</CdtDbtInd></Bal>`
  const notes = (closing: string) =>
    statementOf(camt(entry() + entry({ status: '<Sts>PDNG</Sts>' }), { more: balance('OPBD', '50.10', 'DBIT') + closing })).notes
  expect(notes(balance('CLBD', '99.90'))).toEqual([])
  expect(notes(balance('CLBD', '99.91'))).toEqual([expect.stringContaining('do not add up')])
})

test('names with a prefix, an envelope, comments and CDATA are read alike', () => {
  const prefixed = camt(entry({ details: `<TxDtls>${parties()}</TxDtls>` }))
    .replace(/<(\/?)(?=[A-Z])/g, '<$1n:')
    .replace('xmlns=', 'xmlns:n=')
    .replace('<n:NtryRef>', '<!-- </n:Ntry> --><n:NtryRef>')
    .replace('Asha &amp; Co', '<![CDATA[Asha & Co </n:Ntry>]]>')
  const [declaration = '', ...rest] = prefixed.split('\n')
  const wrapped = `${declaration}<env:Envelope xmlns:env="urn:x"><env:Body>${rest.join('\n')}</env:Body></env:Envelope>`
  expect(entriesOf(wrapped)).toMatchObject([{ amount: '150.00', direction: 'in', name: 'Asha & Co </n:Ntry>' }])
})

test('Latin-1 is read where the declaration says so', () => {
  const text = camt(entry({ details: '<TxDtls><RmtInf><Ustrd>Prüfung</Ustrd></RmtInf></TxDtls>' })).replace('UTF-8', 'ISO-8859-1')
  const file = readStatement(Uint8Array.from(text, (sign) => sign.charCodeAt(0)))
  expect(file).toMatchObject({ entries: [{ text: 'Prüfung' }] })
})

test('an id that a bank gives to different entries is none', () => {
  const entries = entriesOf(camt(entry() + entry({ amount: '20' })))
  expect(entries.map(({ bankId }) => bankId)).toEqual([null, null])
  expect(entriesOf(camt(entry() + entry())).map(({ bankId }) => bankId)).toEqual(['B-77', 'B-77'])
})

test('a file that is cut anywhere is refused as a whole', () => {
  const text = camt(entry({ details: `<TxDtls>${parties()}</TxDtls>` }) + entry())
  for (let length = text.indexOf('BkToCstmrStmt') + 14; length < text.length; length += 7)
    expect(read(text.slice(0, length)), `${length}`).toEqual({
      kind: 'refused',
      message: expect.stringMatching(/ends in the middle|is damaged/),
    })
  expect(read(text.slice(0, -30))).toEqual({
    kind: 'refused',
    message: 'This file ends in the middle, in line 5. Nothing of it was used. Please download it from your bank again.',
  })
})

test.each([
  ['a document type', '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>', 'has a document type'],
  ['a document type behind the declaration', '<!doctype html SYSTEM "file:///etc/passwd">', 'has a document type'],
])('%s is refused', (_what, head, message) => {
  expect(read(camt(entry()).replace(/<\?xml.*\?>/, head))).toEqual({ kind: 'refused', message: expect.stringContaining(message) })
})

test.each([
  ['elements inside each other', `${'<a>'.repeat(5_000)}${'</a>'.repeat(5_000)}`, 'is damaged'],
  ['more elements than a file can have', '<a/>'.repeat(200_001), 'more parts than a statement can have'],
  ['a name of the language', '<__proto__><x/></__proto__>', 'is damaged'],
  ['an end that was not begun', '</Stmt><Stmt>', null],
  ['two roots', '</Stmt></BkToCstmrStmt></Document><Document><BkToCstmrStmt><Stmt>', 'is damaged'],
])('a file with %s neither stops the program nor is read wrong', (_what, inside, message) => {
  const file = read(camt(inside))
  if (message === null) expect(file).toMatchObject({ kind: 'statement', entries: [] })
  else expect(file).toEqual({ kind: 'refused', message: expect.stringContaining(message) })
})

test('entities are not expanded, and characters by number are', () => {
  const details = '<TxDtls><RmtInf><Ustrd>&foo; &#65;&#x42; &amp;amp;</Ustrd></RmtInf></TxDtls>'
  expect(only(camt(entry({ details }))).text).toBe('&foo; AB &amp;')
})

test('a file of more than 50 MB is refused before it is parsed', () => {
  const bytes = new Uint8Array(50 * 1024 * 1024 + 1).fill(32)
  bytes.set(new TextEncoder().encode(camt('')))
  expect(readStatement(bytes)).toEqual({ kind: 'refused', message: expect.stringContaining('larger than 50 MB') })
})

test('a namespace without its message is refused', () => {
  expect(read('<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"></Document>')).toEqual({
    kind: 'refused',
    message: expect.stringContaining('no statement inside'),
  })
})
