import { expect, test } from 'vitest'
import type { StatementEntry, StatementFile } from '#contract/import/statement.ts'
import { readStatement } from './read.ts'

const read = (text: string) => readStatement(new TextEncoder().encode(text))
function statementOf(text: string): StatementFile {
  const file = read(text)
  if (file?.kind !== 'statement') throw new Error(JSON.stringify(file))
  return file
}

/** A message of the lines between its opening and its closing balance. */
const mt940 = (lines: string, { opening = 'C261119EUR0,00', closing = 'C261120EUR150,00', account = 'DE89370400440532013000' } = {}) =>
  `:20:STARTUMSE\r\n:25:${account}\r\n:28C:00001/001\r\n:60F:${opening}\r\n${lines.replaceAll('\n', '\r\n')}\r\n:62F:${closing}\r\n-\r\n`
const mt942 = (lines: string) =>
  `:20:A\n:25:DE89370400440532013000\n:28C:1/1\n:34F:EURD0,\n:13D:2611201000+0100\n${lines}\n:90D:0EUR0,\n:90C:1EUR5,\n-\n`
const entryOf = (lines: string) => statementOf(mt940(lines)).entries[0] as StatementEntry

test('an entry is read in both directions', () => {
  const file = statementOf(
    mt940(':61:2611191120CR150,00NTRFINV-0008//B77\n:86:Thank you\n:61:2611201120D0,00NMSCNONREF\n:86:Fee', {
      account: 'DE89370400440532013000EUR',
    }),
  )
  expect(file).toMatchObject({
    formats: ['MT940'],
    accounts: [{ id: 'DE89370400440532013000', currency: 'EUR' }],
    notes: [],
    entries: [
      {
        booked: '2026-11-20',
        valued: '2026-11-19',
        amount: '150.00',
        currency: 'EUR',
        direction: 'in',
        state: 'booked',
        reversal: false,
        bankId: 'B77',
        references: ['INV-0008'],
        text: 'Thank you',
        code: 'NTRF',
        position: 'line 5',
      },
      { direction: 'out', amount: '0.00', bankId: null, references: [], text: 'Fee', position: 'line 7' },
    ],
  })
})

test.each([
  ['C', 'in', false],
  ['CR', 'in', false],
  ['D', 'out', false],
  ['DD', 'out', false],
  ['RC', 'out', true],
  ['RCR', 'out', true],
  ['RD', 'in', true],
  ['RDN', 'in', true],
])('the mark %s is money %s, a reversal: %s', (mark, direction, reversal) => {
  expect(entryOf(`:61:2611201120${mark}150,NTRFNONREF`)).toMatchObject({ direction, reversal, amount: '150', state: 'booked' })
})

test('in a report within the day expected entries are pending', () => {
  const file = statementOf(mt942(':61:2611201120EC5,NTRFNONREF\n:61:2611201120ED6,NTRFNONREF\n:61:2611201120C7,NTRFNONREF'))
  expect(file).toMatchObject({
    formats: ['MT942'],
    entries: [
      { direction: 'in', amount: '5', state: 'pending' },
      { direction: 'out', amount: '6', state: 'pending' },
      { direction: 'in', amount: '7', state: 'booked' },
    ],
  })
})

test('whether a report within the day of a German bank is of booked entries is a question', () => {
  const file = statementOf(mt942(':61:2611201120C7,NTRFNONREF\n:86:166?00GUTSCHRIFT?20Invoice'))
  expect(file.entries).toMatchObject([{ state: null, stateText: 'MT942' }])
})

test.each([
  ['2601021231', '2026-01-02', '2025-12-31'],
  ['2512310102', '2025-12-31', '2026-01-02'],
  ['2611201120', '2026-11-20', '2026-11-20'],
  ['261120', '2026-11-20', null],
  ['261120    ', '2026-11-20', null],
  ['2402290229', '2024-02-29', '2024-02-29'],
])('the entry date of %s has the year that is nearest to the value date', (dates, valued, booked) => {
  expect(entryOf(`:61:${dates}C150,NTRFNONREF`)).toMatchObject({ valued, booked, unclear: null })
})

test('a day that the calendar has not is a question', () => {
  expect(entryOf(':61:2602300301C150,NTRFNONREF')).toMatchObject({
    valued: null,
    booked: '2026-03-01',
    unclear: 'The calendar has no day 260230.',
  })
})

test('the details of German banks are read, wherever their lines break', () => {
  const details =
    '166?00GUTSCHR. UEBERWEISUNG?109248?20EREF+INV-0008?21SVWZ+Rechnung INV-0008 vom 1?229.11. danke?30COBADEFFXXX?31NL91ABNA0417164300?32Asha Handels?33gesellschaft mbH?34000'
  for (const width of [200, 65, 27, 7])
    expect(
      entryOf(`:61:2611201120C150,NTRFNONREF\n:86:${details.replace(new RegExp(`.{${width}}`, 'g'), '$&\n')}`),
      String(width),
    ).toMatchObject({
      endToEndId: 'INV-0008',
      name: 'Asha Handelsgesellschaft mbH',
      iban: 'NL91ABNA0417164300',
      text: 'Rechnung INV-0008 vom 19.11. danke',
      code: 'NTRF 166',
      returned: null,
    })
  expect(entryOf(`:61:2611201120C150,NTRFNONREF\n:86:${details.replaceAll('?', '~')}`).name).toBe('Asha Handelsgesellschaft mbH')
})

test.each([
  ['109?00RUECKLASTSCHRIFT?20EREF+INV-0008', 'RUECKLASTSCHRIFT'],
  ['159?00RETOURE?20SVWZ+Konto erloschen', 'RETOURE'],
  ['/RTRN/AC04/EREF/INV-0008', 'AC04'],
])('%s came back', (details, returned) => {
  expect(entryOf(`:61:2611201120D150,NMSCNONREF\n:86:${details}`).returned).toBe(returned)
})

test('a returned item of SWIFT came back', () => {
  expect(entryOf(':61:2611201120D150,NRTINONREF').returned).toBe('returned')
})

test.each([
  ['ING', '/EREF/INV-0008//CNTP/NL91ABNA0417164300/ABNANL2A/Asha B.V./Delft//REMI/USTD//Factuur INV-0008/', 'Factuur INV-0008'],
  [
    'ABN AMRO',
    '/TRTP/SEPA OVERBOEKING/IBAN/NL91ABNA0417164300/BIC/ABNANL2A/NAME/Asha B.V./REMI/Factuur INV-0008/EREF/INV-0008',
    'Factuur INV-0008',
  ],
  ['Rabobank', '/EREF/INV-0008/ORDP//NAME/Asha B.V./IBAN/NL91ABNA0417164300/REMI/Factuur INV-0008/ISDT/2026-11-20', 'Factuur INV-0008'],
])('the codes of %s are read, also where a line breaks inside one', (_bank, details, text) => {
  for (const width of [200, 65, 31])
    expect(entryOf(`:61:2611201120C150,N541NONREF\n:86:${details.replace(new RegExp(`.{${width}}`, 'g'), '$&\n')}`)).toMatchObject({
      endToEndId: 'INV-0008',
      name: 'Asha B.V.',
      iban: 'NL91ABNA0417164300',
      text,
    })
})

test('a structured reference is one of the references', () => {
  expect(
    entryOf(':61:2611201120C150,N541NONREF\n:86:/CNTP/NL91ABNA0417164300/ABNANL2A/Asha///REMI/STRD/CUR/9001200000123456/').references,
  ).toEqual(['9001200000123456'])
})

test('words of banks and accounts in the entry line name the other party', () => {
  expect(
    entryOf(':61:2611201120C150,N944NONREF\n:86:SEPA IDEAL IBAN: NL91ABNA0417164300 BIC: ABNANL2A NAAM: Asha B.V. OMSCHRIJVING: INV-0008'),
  ).toMatchObject({
    name: 'Asha B.V.',
    iban: 'NL91ABNA0417164300',
  })
  expect(entryOf(':61:2611201120C150,00NOVBNL91ABNA0417164300\nasha b.v.\n:86:INV-0008')).toMatchObject({
    name: 'asha b.v.',
    iban: 'NL91ABNA0417164300',
    references: [],
    text: 'INV-0008',
  })
})

test('the amount that was sent and charges are beside the amount', () => {
  expect(entryOf(':61:2611201120C150,NTRFNONREF\n/OCMT/USD170,00/CHGS/EUR2,50/\n:86:Invoice')).toMatchObject({
    amount: '150',
    original: { amount: '170.00', currency: 'USD' },
    charges: { amount: '2.50', currency: 'EUR' },
  })
})

test('text of the account behind the closing balance is not that of an entry', () => {
  const text = mt940(':61:2611201120C150,NTRFNONREF').replace('-\r\n', ':64:C261120EUR150,00\r\n:86:/SUM/1/0/\r\n-\r\n')
  expect(statementOf(text).entries).toMatchObject([{ text: '' }])
})

test('several messages with envelopes are one file, each with its account', () => {
  const envelope = (text: string) =>
    `{1:F01BANKDEFFXXXX0000000000}{2:O9400000261120BANKDEFFXXXX00000000002611200000N}{4:\r\n${text.replace('\r\n-\r\n', '\r\n-}\r\n')}`
  const file = statementOf(
    envelope(mt940(':61:2611201120C150,NTRFNONREF')) + envelope(mt940(':61:2611201120C150,NTRFNONREF', { account: '10020030/1234567' })),
  )
  expect(file.accounts.map(({ id }) => id)).toEqual(['DE89370400440532013000', '10020030/1234567'])
  expect(file.entries.map(({ account }) => account)).toEqual([0, 1])
})

test('a dash alone in a text does not end the message', () => {
  expect(entryOf(':61:2611201120C150,NTRFNONREF\n:86:Invoice\n-')).toMatchObject({ text: 'Invoice' })
  expect(statementOf(mt940(':61:2611201120C150,NTRFNONREF\n:86:Invoice\n-\n:61:2611201120D0,NTRFNONREF')).entries).toHaveLength(2)
})

test('balances that the entries do not lead to are noted', () => {
  expect(statementOf(mt940(':61:2611201120C149,NTRFNONREF')).notes).toEqual([expect.stringContaining('do not add up')])
})

test.each([
  ['150,', '150'],
  ['0150,5', '150.5'],
  ['1.150,00', '1150.00'],
  ['150.00', '150.00'],
])('%s is %s', (written, amount) => {
  expect(entryOf(`:61:2611201120C${written}NTRFNONREF`).amount).toBe(amount)
})

test.each([['1.150'], ['1,150,00'], ['x'], ['']])('an amount of %j is refused with its line', (written) => {
  expect(read(mt940(`:61:2611201120C${written}NTRFNONREF`))).toEqual({
    kind: 'refused',
    message: expect.stringContaining('is damaged in line 5'),
  })
})

test('a file that is cut before its closing balance is refused as a whole', () => {
  const text = mt940(':61:2611201120C100,NTRFNONREF\n:86:Invoice\n:61:2611201120C50,NTRFNONREF\n:86:Other')
  for (let length = text.indexOf(':60F:') + 5; length < text.indexOf('150,00', text.indexOf(':62F:')); length += 1)
    expect(read(text.slice(0, length)), `${length}`).toEqual({
      kind: 'refused',
      message: expect.stringMatching(/no closing balance|is damaged|no statement/),
    })
})

test('a report within the day that is cut is refused', () => {
  const text = mt942(':61:2611201120C7,NTRFNONREF')
  expect(read(text.slice(0, text.indexOf(':90D:')))).toEqual({ kind: 'refused', message: expect.stringContaining('ends in the middle') })
})

test('a message of another type among statements is refused by its name', () => {
  expect(read(`{2:O9400000}{4:\n${mt940('')}{2:O9500000}{4:\n${mt940('')}`)).toEqual({
    kind: 'refused',
    message: expect.stringContaining('This is an MT950 statement.'),
  })
})

test('Windows-1252 is read', () => {
  const bytes = Uint8Array.from(mt940(':61:2611201120C150,NTRFNONREF\n:86:Müller'), (sign) => sign.charCodeAt(0))
  expect(readStatement(bytes)).toMatchObject({ entries: [{ text: 'Müller' }] })
})

test('long hostile lines take no long time', () => {
  for (const part of ['1', '?20', '/NAME/x', ' NAAM: x', 'SVWZ+', '//', ':86:', '\n'])
    expect(statementOf(mt940(`:61:2611201120C150,NTRFNONREF\n:86:166?20${part.repeat(50_000)}`)).entries).toHaveLength(1)
})
