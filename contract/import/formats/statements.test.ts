import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { StatementEntry } from '#contract/import/statement.ts'
import { readStatement } from './read.ts'

/* Whatever else is in a file, its entries have the direction, state, day and amount that it states. */

interface Drawn {
  isIn: boolean
  state: 'booked' | 'pending'
  isReversal: boolean
  day: Date
  minor: number
  name: string
  text: string
  id: string
}

const drawn = fc.record({
  isIn: fc.boolean(),
  state: fc.constantFrom('booked' as const, 'pending' as const),
  isReversal: fc.boolean(),
  day: fc.date({ min: new Date('2000-01-02T00:00:00Z'), max: new Date('2079-12-30T00:00:00Z'), noInvalidDate: true }),
  minor: fc.integer({ min: 1, max: 999_999_999_999 }),
  name: fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 60 }),
    fc.constantFrom('DBIT', '-5,00', '</Amt>', '?20', '<TRNAMT>-1', '^', '/REMI/', 'PDNG'),
  ),
  text: fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 120 }),
    fc.constantFrom('D150,00', 'EREF+X', '<DTPOSTED>20200101', 'RvslInd', '//', '!Type:CCard'),
  ),
  id: fc.stringMatching(/^[A-Z0-9]{1,16}$/),
})

const iso = ({ day }: Drawn) => day.toISOString().slice(0, 10)
const compact = (one: Drawn) => iso(one).replaceAll('-', '')
const amount = ({ minor }: Drawn, mark = '.') => `${Math.floor(minor / 100)}${mark}${String(minor % 100).padStart(2, '0')}`
const line = (text: string) => text.replace(/[\r\n\p{Cc}]/gu, ' ')
const escaped = (text: string) => line(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const expected = (one: Drawn) => ({
  booked: iso(one),
  amount: amount(one),
  direction: one.isIn ? 'in' : 'out',
  state: one.state,
  reversal: one.isReversal,
})
const stated = ({ booked, amount: digits, direction, state, reversal }: StatementEntry) => ({
  booked,
  amount: digits,
  direction,
  state,
  reversal,
})

function check(
  write: (all: Drawn[]) => string,
  known: (one: Drawn) => unknown = expected,
  of: (entry: StatementEntry) => unknown = stated,
) {
  fc.assert(
    fc.property(fc.array(drawn, { maxLength: 5 }), (all) => {
      const file = readStatement(new TextEncoder().encode(write(all)))
      expect(file?.kind).toBe('statement')
      expect(file?.kind === 'statement' ? file.entries.map(of) : []).toEqual(all.map(known))
    }),
    { numRuns: 150 },
  )
}

test('CAMT', () => {
  check((all) => {
    const entries = all.map(
      (one) =>
        `<Ntry><Amt Ccy="EUR">${amount(one)}</Amt><CdtDbtInd>${one.isIn ? 'CRDT' : 'DBIT'}</CdtDbtInd>${one.isReversal ? '<RvslInd>true</RvslInd>' : ''}
        <Sts>${one.state === 'booked' ? 'BOOK' : 'PDNG'}</Sts><BookgDt><Dt>${iso(one)}</Dt></BookgDt><AcctSvcrRef>${one.id}</AcctSvcrRef><NtryDtls><TxDtls>
        <RltdPties><Dbtr><Nm>${escaped(one.name)}</Nm></Dbtr></RltdPties><RmtInf><Ustrd>${escaped(one.text)}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`,
    )
    return `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><BkToCstmrStmt><Stmt>${entries.join('\n')}</Stmt></BkToCstmrStmt></Document>`
  })
})

test('batches in CAMT, in any order of their amounts', () => {
  check(
    (all) => {
      const sum = all.reduce((total, one) => total + (one.isIn ? one.minor : -one.minor), 0)
      const details = all.map(
        (one) =>
          `<TxDtls><Refs><AcctSvcrRef>${one.id}</AcctSvcrRef></Refs><Amt Ccy="EUR">${amount(one)}</Amt><CdtDbtInd>${one.isIn ? 'CRDT' : 'DBIT'}</CdtDbtInd>
        <RmtInf><Ustrd>${escaped(one.text)}</Ustrd></RmtInf></TxDtls>`,
      )
      const total = amount({ minor: Math.abs(sum) } as Drawn)
      const entry = `<Ntry><Amt Ccy="EUR">${total}</Amt><CdtDbtInd>${sum < 0 ? 'DBIT' : 'CRDT'}</CdtDbtInd><Sts>BOOK</Sts><NtryDtls>${details.join('')}</NtryDtls></Ntry>`
      return `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><BkToCstmrStmt><Stmt>${all.length > 0 ? entry : ''}</Stmt></BkToCstmrStmt></Document>`
    },
    (one) => ({ amount: amount(one), isIn: one.isIn }),
    (entry) => ({ amount: entry.amount, isIn: entry.direction === 'in' }),
  )
})

test('MT940', () => {
  // A pending entry has a mark of its own, which a reversal has not.
  const mark = ({ isIn, state, isReversal }: Drawn) =>
    state === 'pending' ? (isIn ? 'EC' : 'ED') : isReversal ? (isIn ? 'RD' : 'RC') : isIn ? 'C' : 'D'
  check(
    (all) => {
      const entries = all.map(
        (one) =>
          `:61:${compact(one).slice(2)}${compact(one).slice(4)}${mark(one)}R${amount(one, ',')}NTRFNONREF//${one.id}\r\n:86:166?00X?20${line(one.text)}?32${line(one.name)}\r\n`,
      )
      return `:20:A\r\n:25:1/2\r\n:28C:1/1\r\n:60F:C000101EUR0,\r\n${entries.join('')}:62F:C000101EUR0,\r\n-\r\n`
    },
    (one) => ({ ...expected(one), reversal: one.isReversal && one.state === 'booked' }),
  )
})

/** OFX has no reversals of this kind. */
const withoutReversal = (one: Drawn) => ({ ...expected(one), reversal: false })

test.each(['XML', 'SGML'])('OFX as %s', (form) => {
  const end = (name: string) => (form === 'XML' ? `</${name}>` : '\r\n')
  check((all) => {
    const entries = all.map(
      (one) =>
        `<STMTTRN><TRNTYPE>${one.state === 'pending' ? 'HOLD' : 'OTHER'}${end('TRNTYPE')}<DTPOSTED>${compact(one)}233000[-11:X]${end('DTPOSTED')}<TRNAMT>${one.isIn ? '' : '-'}${amount(one)}${end('TRNAMT')}<FITID>${one.id}${end('FITID')}<NAME>${escaped(one.name)}${end('NAME')}<MEMO>${escaped(one.text)}${end('MEMO')}</STMTTRN>`,
    )
    return `OFXHEADER:100\r\n\r\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>EUR${end('CURDEF')}<BANKTRANLIST>${entries.join('\r\n')}</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>`
  }, withoutReversal)
})

test('QIF, whose days stay as written', () => {
  check(
    (all) =>
      `!Type:Bank\n${all.map((one) => `D${iso(one).slice(8)}/${iso(one).slice(5, 7)}/${iso(one).slice(0, 4)}\nT${one.isIn ? '' : '-'}${amount(one)}\nP${line(one.name)}\nM${line(one.text)}\n^\n`).join('')}`,
    (one) => ({
      booked: null,
      dateText: iso(one).split('-').toReversed().join('/'),
      amount: amount(one),
      direction: one.isIn ? 'in' : 'out',
    }),
    ({ booked, dateText, amount: digits, direction }) => ({ booked, dateText, amount: digits, direction }),
  )
})

test('no bytes stop the program, and none of them are read as money without a format', () => {
  const beginnings = [
    '<?xml version="1.0"?><Document xmlns="x:camt.053.001.02">',
    ':20:A\n:25:1\n:60F:C261119EUR0,\n:61:',
    'OFXHEADER:100\n<OFX><STMTTRN>',
    '!Type:Bank\nD1/2/26\nT',
    'PK\u0003\u0004',
    '{1:',
    '01,',
  ]
  const pieces = [
    '<Ntry>',
    '</Ntry>',
    '<Amt Ccy="EUR">5</Amt>',
    '<CdtDbtInd>CRDT</CdtDbtInd>',
    '\n:61:',
    '2611201120C5,NTRF',
    '\n:62F:C261120EUR5,\n',
    '<STMTTRN>',
    '</STMTTRN>',
    '<TRNAMT>5',
    '</OFX>',
    '\n^\n',
    'T5',
    '<![CDATA[',
    ']]>',
    '<!--',
    '-->',
    '&#0;',
    '\0',
    '\n-\n',
  ]
  fc.assert(
    fc.property(
      fc.constantFrom(...beginnings),
      fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 8 })), { maxLength: 30 }),
      (head, tail) => {
        const file = readStatement(new TextEncoder().encode(head + tail.join('')))
        for (const entry of file?.kind === 'statement' ? file.entries : []) expect(entry.amount).toMatch(/^\d+(?:\.\d+)?$/)
        if (file?.kind === 'refused') expect(file.message).toMatch(/[a-z]\.$/)
      },
    ),
    { numRuns: 300 },
  )
})
