import { expect, test } from 'vitest'
import type { StatementEntry, StatementFile } from '#contract/import/statement.ts'
import { readStatement } from './read.ts'

const read = (text: string) => readStatement(new TextEncoder().encode(text))
function statementOf(text: string): StatementFile {
  const file = read(text)
  if (file?.kind !== 'statement') throw new Error(JSON.stringify(file))
  return file
}

const sgmlHead =
  'OFXHEADER:100\r\nDATA:OFXSGML\r\nVERSION:102\r\nSECURITY:NONE\r\nENCODING:USASCII\r\nCHARSET:1252\r\nCOMPRESSION:NONE\r\nOLDFILEUID:NONE\r\nNEWFILEUID:NONE\r\n\r\n'
const xmlHead =
  '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<?OFX OFXHEADER="200" VERSION="211" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>\n'

interface Parts {
  head?: string
  signOn?: string
  account?: string
  set?: 'BANK' | 'CREDITCARD'
}

/** A file with transactions, in which every element has an end tag. */
const ofx = (
  transactions: string,
  { head = xmlHead, signOn = '', account = '<ACCTID>DE89370400440532013000</ACCTID>', set = 'BANK' }: Parts = {},
) => {
  const [prefix, from] = set === 'BANK' ? ['', 'BANKACCTFROM'] : ['CC', 'CCACCTFROM']
  return `${head}<OFX><SIGNONMSGSRSV1><SONRS><STATUS><CODE>0</CODE><SEVERITY>INFO</SEVERITY></STATUS>${signOn}</SONRS></SIGNONMSGSRSV1>
<${set}MSGSRSV1><${prefix}STMTTRNRS><TRNUID>1</TRNUID><${prefix}STMTRS><CURDEF>EUR</CURDEF><${from}>${account}</${from}>
<BANKTRANLIST><DTSTART>20261101</DTSTART>
${transactions}
</BANKTRANLIST></${prefix}STMTRS></${prefix}STMTTRNRS></${set}MSGSRSV1></OFX>\n`
}
const transaction = ({ type = 'CREDIT', amount = '150.00', date = '20261120', id = 'F-77', more = '' } = {}) =>
  `<STMTTRN><TRNTYPE>${type}</TRNTYPE><DTPOSTED>${date}</DTPOSTED><TRNAMT>${amount}</TRNAMT><FITID>${id}</FITID>${more}</STMTTRN>`
/** The same as SGML, where only aggregates have end tags. */
const sgml = (text: string) => text.replace(xmlHead, sgmlHead).replace(/>([^<>\s][^<>]*)<\/[A-Z0-9.]+>/g, '>$1\r\n')
const entryOf = (text: string) => statementOf(text).entries[0] as StatementEntry

test.each([
  ['XML', (text: string) => text],
  ['SGML', sgml],
  ['SGML in one line', (text: string) => sgml(text).replace(/(?<=<OFX>[\s\S]*)\r?\n/g, '')],
  ['SGML in small letters', (text: string) => sgml(text).replace(/<\/?[A-Z0-9]+>/g, (tag) => (tag === '<OFX>' ? tag : tag.toLowerCase()))],
])('%s is read in both directions', (_form, form) => {
  const more = '<NAME>Asha &amp; Co</NAME><MEMO>Invoice INV-0008</MEMO><CHECKNUM>1001</CHECKNUM>'
  const file = statementOf(form(ofx(transaction({ more }) + transaction({ type: 'DEBIT', amount: '-20,5', id: 'F-78' }))))
  expect(file).toMatchObject({
    formats: ['OFX'],
    accounts: [{ id: 'DE89370400440532013000', currency: 'EUR', isCard: false }],
    notes: [],
    entries: [
      {
        booked: '2026-11-20',
        amount: '150.00',
        currency: 'EUR',
        direction: 'in',
        state: 'booked',
        bankId: 'F-77',
        name: 'Asha & Co',
        text: 'Invoice INV-0008',
        references: ['1001'],
        code: 'CREDIT',
        unclear: null,
      },
      { direction: 'out', amount: '20.5', bankId: 'F-78', name: null, text: '' },
    ],
  })
})

test('Quicken Web Connect is recognised', () => {
  expect(statementOf(ofx(transaction(), { signOn: '<INTU.BID>3000</INTU.BID>' })).formats).toEqual(['QFX'])
})

test('the account of a credit card is one', () => {
  const file = statementOf(sgml(ofx(transaction(), { set: 'CREDITCARD', account: '<ACCTID>XXXX1111</ACCTID>' })))
  expect(file.accounts).toMatchObject([{ id: 'XXXX1111', isCard: true }])
  expect(file.entries).toMatchObject([{ direction: 'in', unclear: null }])
})

test.each([
  ['DEBIT', '150.00', 'in'],
  ['PAYMENT', '+150.00', 'in'],
  ['CREDIT', '-150.00', 'out'],
])('the sign of %s %s decides, and a person must look', (type, amount, direction) => {
  expect(entryOf(ofx(transaction({ type, amount })))).toMatchObject({
    direction,
    unclear: `Its type is ${type}, and its sign says the opposite.`,
  })
})

test.each(['XFER', 'POS', 'ATM', 'INT', 'OTHER', 'REPEATPMT'])('%s has the direction of its sign', (type) => {
  expect(entryOf(ofx(transaction({ type, amount: '5' })))).toMatchObject({ direction: 'in', unclear: null })
  expect(entryOf(ofx(transaction({ type, amount: '-5' })))).toMatchObject({ direction: 'out', unclear: null })
})

test('what is held or in the list of pending transactions is pending', () => {
  const pending = '<STMTTRNP><TRNTYPE>CREDIT</TRNTYPE><DTTRAN>20261121</DTTRAN><TRNAMT>7</TRNAMT><NAME>Asha</NAME></STMTTRNP>'
  expect(statementOf(ofx(transaction({ type: 'HOLD', amount: '-5' }) + pending)).entries).toMatchObject([
    { state: 'pending', direction: 'out' },
    { state: 'pending', direction: 'in', booked: '2026-11-21', amount: '7' },
  ])
})

test('an entry that deletes an earlier one is its reversal', () => {
  const more = '<CORRECTFITID>F-70</CORRECTFITID><CORRECTACTION>DELETE</CORRECTACTION>'
  expect(entryOf(ofx(transaction({ more })))).toMatchObject({ reversal: true, unclear: 'It corrects the earlier entry F-70.' })
  expect(entryOf(ofx(transaction({ more: more.replace('DELETE', 'REPLACE') })))).toMatchObject({
    reversal: false,
    unclear: 'It corrects the earlier entry F-70.',
  })
})

test('an amount in another currency has that currency, and a converted one that of the account', () => {
  const named = (name: string) =>
    entryOf(ofx(transaction({ more: `<${name}><CURRATE>1.1</CURRATE><CURSYM>USD</CURSYM></${name}>` }))).currency
  expect(named('CURRENCY')).toBe('USD')
  expect(named('ORIGCURRENCY')).toBe('EUR')
  expect(statementOf(ofx(transaction()).replace('<CURDEF>EUR</CURDEF>', '')).entries).toMatchObject([{ currency: null }])
})

test.each([
  ['20261120', '2026-11-20'],
  ['20261120233000', '2026-11-20'],
  ['20261120003000.000[-5:EST]', '2026-11-20'],
  ['20261120235959[+5.5:IST]', '2026-11-20'],
  ['20260230', null],
  ['20/11/2026', null],
  ['11202026', null],
  ['', null],
])('the day of %s is %s', (date, booked) => {
  expect(entryOf(ofx(transaction({ date }))).booked).toBe(booked)
})

test.each([
  ['1,234.56', '1234.56', null],
  ['1.234,56', '1234.56', null],
  ['1234,5', '1234.5', null],
  ['.50', '0.50', null],
  ['12.5000', '12.50', null],
  ['1,234', '1.234', '1,234'],
  ['1.234', '1.234', '1.234'],
])('the amount %s is %s', (amount, plain, amountText) => {
  expect(entryOf(ofx(transaction({ amount })))).toMatchObject({ amount: plain, amountText, unclear: null })
})

test('another amount of the file shows which sign is before decimals', () => {
  const amounts = (other: string) =>
    statementOf(ofx(transaction({ amount: '1,234' }) + transaction({ amount: other, id: 'F-78' }))).entries[0]
  expect(amounts('5.50')).toMatchObject({ amount: '1234', amountText: null })
  expect(amounts('5,50')).toMatchObject({ amount: '1.234', amountText: null })
  expect(amounts('5,500')).toMatchObject({ amountText: '1,234' })
})

test.each(['12.34.56', '1,23,4', 'abc', '--5', '5-', ''])('an entry with the amount %j is left out by name', (amount) => {
  const file = statementOf(ofx(transaction({ amount })))
  expect(file.entries).toEqual([])
  expect(file.notes).toEqual(['Left out line 6: its amount is not a number.'])
})

test('empty elements without end tags take nothing from the others', () => {
  const text = sgml(ofx(transaction({ more: '<NAME>\r\n<MEMO>Invoice</MEMO><CHECKNUM>' })))
  expect(entryOf(text)).toMatchObject({ amount: '150.00', name: null, text: 'Invoice', bankId: 'F-77' })
})

test('a list of transactions without its end tag is read, a transaction without it is not', () => {
  const text = sgml(ofx(transaction() + transaction({ id: 'F-78' })))
  expect(statementOf(text.replace('</BANKTRANLIST>', '')).entries).toHaveLength(2)
  expect(read(text.replace('</STMTTRN>', ''))).toEqual({ kind: 'refused', message: expect.stringContaining('is damaged in line') })
})

test('signs, comments and CDATA in texts are read as text', () => {
  const more = '<NAME>A < B & C</NAME><!-- <TRNAMT>1 --><MEMO><![CDATA[<b>&amp;</b>]]></MEMO>'
  expect(entryOf(ofx(transaction({ more })))).toMatchObject({ name: 'A < B & C', text: '<b>&amp;</b>', amount: '150.00' })
})

test('Windows-1252 and UTF-8 are read under the same header', () => {
  const text = sgml(ofx(transaction({ more: '<NAME>Müller</NAME>' })))
  expect(entryOf(text).name).toBe('Müller')
  expect(readStatement(Uint8Array.from(text, (sign) => sign.charCodeAt(0)))).toMatchObject({ entries: [{ name: 'Müller' }] })
})

test('a file that is cut anywhere is refused as a whole', () => {
  for (const text of [ofx(transaction() + transaction({ id: 'F-78' })), sgml(ofx(transaction() + transaction({ id: 'F-78' })))])
    for (let length = text.indexOf('<OFX>') + 5; length < text.trimEnd().length; length += 3)
      expect(read(text.slice(0, length)), `${length}`).toEqual({
        kind: 'refused',
        message: expect.stringMatching(/ends in the middle|is damaged/),
      })
})

test("a bank's error is shown, and investments are left out by name", () => {
  const error = `${sgmlHead}<OFX><SIGNONMSGSRSV1><SONRS><STATUS><CODE>15500<SEVERITY>ERROR<MESSAGE>Signon invalid</STATUS></SONRS></SIGNONMSGSRSV1></OFX>`
  expect(read(error)).toEqual({ kind: 'refused', message: 'The bank answered with an error: Signon invalid' })
  const investment = `${sgmlHead}<OFX><INVSTMTMSGSRSV1><INVSTMTTRNRS><INVSTMTRS><INVACCTFROM><ACCTID>9</INVACCTFROM></INVSTMTRS></INVSTMTTRNRS></INVSTMTMSGSRSV1></OFX>`
  expect(statementOf(investment)).toMatchObject({
    entries: [],
    notes: ['The investment account 9 was left out: Duely reads accounts of payments.'],
  })
  expect(read(`${sgmlHead}<OFX></OFX>`)).toEqual({ kind: 'refused', message: expect.stringContaining('no statement inside') })
})

test.each([
  ['a document type', '<!DOCTYPE x [<!ENTITY a "b">]>', 'document type'],
  ['elements inside each other', '<A>'.repeat(1_000), 'more parts'],
  ['comments without end', '<!--'.repeat(50_000), 'ends in the middle'],
  ['instructions without end', '<?'.repeat(50_000), 'ends in the middle'],
  ['signs', '<'.repeat(100_000), null],
  ['names without end', '<AAAA'.repeat(50_000), null],
  ['end tags', '</X>'.repeat(50_000), null],
])('a file with %s neither stops the program nor is read wrong', (_what, inside, message) => {
  const file = read(ofx(`${transaction()}${inside}`))
  if (message === null) expect(file).toMatchObject({ kind: 'statement', entries: [{ amount: '150.00', direction: 'in' }] })
  else expect(file).toEqual({ kind: 'refused', message: expect.stringContaining(message) })
})
