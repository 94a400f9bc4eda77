import { expect, test } from 'vitest'
import { detect, formatOf } from './detect.ts'
import { statementFormats } from './formats.ts'
import { readStatement } from './read.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const camt = (name: string, root: string) =>
  `<?xml version="1.0"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:${name}"><${root}><GrpHdr/></${root}></Document>`

test.each([
  ['CAMT.053', camt('camt.053.001.02', 'BkToCstmrStmt')],
  ['CAMT.053', camt('camt.053.001.08', 'BkToCstmrStmt')],
  ['CAMT.052', camt('camt.052.001.06', 'BkToCstmrAcctRpt')],
  ['CAMT.054', camt('camt.054.001.04', 'BkToCstmrDbtCdtNtfctn')],
  ['CAMT.053', '\uFEFF\r\n<n:Document xmlns:n="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><n:BkToCstmrStmt>'],
  ['MT940', '{1:F01BANKDEFFXXXX0000000000}{2:O9400000261120BANKDEFFXXXX00000000002611200000N}{4:\r\n:20:A\r\n'],
  ['MT940', '\r\n:20:STARTUMSE\r\n:25:10020030/1234567\r\n:28C:00001/001\r\n:60F:C261119EUR0,00\r\n'],
  ['MT940', 'ABNANL2A\n940\nABNANL2A\n:20:ABN AMRO BANK NV\n:25:123456789\n:28:13501/1\n:60F:C261119EUR5,00\n'],
  ['MT942', ':20:A\r\n:25:1/2\r\n:28C:1/1\r\n:34F:EURD0,\r\n:13D:2611201000+0100\r\n'],
  ['OFX', 'OFXHEADER:100\r\nDATA:OFXSGML\r\n\r\n<OFX>'],
  ['OFX', '\uF72DOFXHEADER:100\r\nDATA:OFXSGML\r\n\r\n<OFX>'],
  ['QFX', 'OFXHEADER:100\r\nDATA:OFXSGML\r\n\r\n<OFX><SIGNONMSGSRSV1><SONRS><INTU.BID>3000'],
  ['OFX', '<?xml version="1.0"?><?OFX OFXHEADER="200" VERSION="211"?><OFX>'],
  ['QIF', '!Type:Bank\nD03/05/26\n'],
  ['QIF', '!Account\nNChecking\nTBank\n^\n'],
])('%s is recognised by its content', (format, text) => {
  expect(formatOf(bytes(text))).toBe(format)
  const wide = new Uint8Array([0xff, 0xfe, ...Buffer.from(text.replace('\uFEFF', ''), 'utf16le')])
  expect(formatOf(wide)).toBe(format)
})

test.each([
  ['an MT950 statement', '{1:F01BANKDEFFXXXX0000000000}{2:O9500000261120BANKDEFFXXXX00000000002611200000N}{4:\r\n:20:A\r\n'],
  ['an MT910 message', ':20:A\r\n:21:B\r\n:25:1/2\r\n:32A:261120EUR5,00\r\n'],
  ['an MT941 statement', ':20:A\r\n:25:1/2\r\n:28:1\r\n:60F:C261119EUR5,\r\n:90D:1EUR5,\r\n:62F:C261119EUR0,\r\n'],
  ['a file of payment orders for a bank (pain.001.001.09)', camt('pain.001.001.09', 'CstmrCdtTrfInitn')],
  ['a file of payment orders for a bank (pain.008.001.02)', camt('pain.008.001.02', 'CstmrDrctDbtInitn')],
  ["a bank's status of payment orders (pain.002.001.10)", camt('pain.002.001.10', 'CstmrPmtStsRpt')],
  ['a message between banks (camt.055.001.08)', camt('camt.055.001.08', 'CstmrPmtCxlReq')],
  ['a message between banks (pacs.008.001.08)', camt('pacs.008.001.08', 'FIToFICstmrCdtTrf')],
  ['a PDF', '%PDF-1.7\n'],
  ['a BAI2 file', '01,121000358,COMPANY,261120,1000,1,80,1,2/\n02,COMPANY,121000358,1,261119,2359,USD,2/\n03,0001,USD,010,5,,/\n'],
  ['a Norwegian OCR file', 'NY000010000800800000200000080800000000000000000000000000000000000000000000000000\n'],
  ['a Swedish BGMax file', '01BGMAX               0120261120173035010331P\n'],
  ['a QuickBooks IIF file', '!TRNS\tTRNSID\tTRNSTYPE\tDATE\n'],
  ['an OFC file, the format before OFX', '<OFC>\n<DTD>2\n'],
  ['an EDIFACT file', "UNA:+.? 'UNB+UNOC:3+BANK+ME'"],
])('%s is named, with what to export instead', (what, text) => {
  const found = detect(bytes(text))
  expect(found).toEqual({ kind: 'other', message: expect.stringContaining(`This is ${what}. Please export`) })
})

test.each(['Date,Amount\n20/11/2026,5\n', 'Name;20:25\n', '<html><table><tr><td>5</table>', '', ':)', '{"a":1}', '01,02,03\n'])(
  'what can be a table is none of them: %j',
  (text) => {
    expect(detect(bytes(text))).toBeNull()
  },
)

test('a file of a kind that is not read is refused with its name', () => {
  expect(readStatement(bytes('%PDF-1.7\n'))).toEqual({ kind: 'refused', message: expect.stringContaining('This is a PDF.') })
  expect(readStatement(bytes('Date,Amount\n'))).toBeNull()
})

test('each format that is read is described once', () => {
  const names = statementFormats.map(({ name }) => name)
  expect(names.toSorted()).toEqual(['CAMT.052', 'CAMT.053', 'CAMT.054', 'MT940', 'MT942', 'OFX', 'QFX', 'QIF'])
})
