import { zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { readStatement } from './read.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const statement = (account: string, amount: string) =>
  bytes(
    `:20:A\n:25:${account}\n:28C:1/1\n:60F:C261119EUR0,\n:61:2611201120C${amount},NTRF${account}//B${amount}\n:62F:C261120EUR${amount},\n-\n`,
  )
const read = (files: Record<string, Uint8Array>, level: 0 | 6 = 6) => readStatement(zipSync(files, { level }))
const refused = (words: string) => ({ kind: 'refused', message: expect.stringContaining(words) })

test.each([0, 6] as const)('the statements of an archive are one file, by name (level %i)', (level) => {
  const file = read(
    { 'b.sta': statement('2', '7'), 'days/a.sta': statement('1', '5'), '__MACOSX/._b.sta': bytes('x'), 'readme.txt': bytes('Hello') },
    level,
  )
  expect(file).toMatchObject({
    kind: 'statement',
    formats: ['MT940'],
    accounts: [{ id: '2' }, { id: '1' }],
    entries: [
      { account: 0, amount: '7', position: 'b.sta, line 5' },
      { account: 1, amount: '5', position: 'days/a.sta, line 5' },
    ],
    notes: ['Left out readme.txt: it is no statement.'],
  })
})

test('a workbook is left to its own reader', () => {
  expect(read({ '[Content_Types].xml': bytes('<Types/>'), 'xl/workbook.xml': bytes('<workbook/>') })).toBeNull()
  expect(read({ mimetype: bytes('application/vnd.oasis.opendocument.spreadsheet') })).toBeNull()
})

test('one damaged statement refuses the archive, by its name', () => {
  const file = read({ 'a.sta': statement('1', '5'), 'b.sta': statement('2', '7').subarray(0, 70) })
  expect(file).toEqual(refused('b.sta: The statement that ends in line 6 has no closing balance'))
})

test('archives in archives, and without a statement, are refused', () => {
  expect(read({ 'a.sta': statement('1', '5'), 'inner.zip': zipSync({ 'b.sta': statement('2', '7') }) })).toEqual(
    refused('another archive inside, inner.zip'),
  )
  expect(read({ 'list.csv': bytes('Date,Amount\n') })).toEqual(refused('no statement in CAMT'))
})

/** Writes another size of the first file into the directory. */
function sizeOf(zip: Uint8Array<ArrayBuffer>, size: number): void {
  const view = new DataView(zip.buffer)
  view.setUint32(view.getUint32(zip.length - 6, true) + 24, size, true)
}

test('an archive that holds too much is refused by what it says, before it is unpacked', () => {
  const zip = zipSync({ 'a.sta': statement('1', '5') })
  sizeOf(zip, 50 * 1024 * 1024 + 1)
  expect(readStatement(zip)).toEqual(refused('more than 50 MB'))
})

test('an archive that holds more than it says is refused', () => {
  const zip = zipSync({ 'a.sta': new Uint8Array(2 * 1024 * 1024).fill(65) })
  sizeOf(zip, 1_000)
  expect(readStatement(zip)).toEqual(refused('archive is damaged'))
})

test('an archive with more than 1,000 files is refused', () => {
  const files = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`${index}.sta`, new Uint8Array(1)]))
  expect(read(files, 0)).toEqual(refused('more than 1,000 files'))
})

test('an archive with a password is refused', () => {
  const zip = zipSync({ 'a.sta': statement('1', '5') })
  const view = new DataView(zip.buffer)
  const directory = view.getUint32(zip.length - 6, true)
  view.setUint16(directory + 8, view.getUint16(directory + 8, true) | 1, true)
  expect(readStatement(zip)).toEqual(refused('protected by a password'))
})

test('an archive with a changed byte, or that is cut, is never read differently', () => {
  const zip = zipSync({ 'a.sta': statement('1', '5') }, { level: 0 })
  const whole = readStatement(zip)
  for (let at = 4; at < zip.length; at += 1) {
    const changed = Uint8Array.from(zip)
    changed[at] = (changed[at] ?? 0) ^ 0x10
    const file = readStatement(changed)
    if (file?.kind === 'statement')
      expect(
        file.entries.map(({ position: _, ...entry }) => entry),
        `${at}`,
      ).toEqual(whole?.kind === 'statement' ? whole.entries.map(({ position: _, ...entry }) => entry) : [])
    else expect(file, `${at}`).toEqual(refused(''))
  }
  for (let length = 4; length < zip.length; length += 5)
    expect(readStatement(zip.subarray(0, length)), `${length}`).toEqual(refused('damaged'))
})
