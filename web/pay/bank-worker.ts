import { type BankRow, layoutOfBank, linesOf, readBankSheet, takenBackIn } from '#contract/import/bank.ts'
import type { RefusedFile, StatementFile } from '#contract/import/statement.ts'
import { accountName, readBankStatement } from '#contract/import/statement-rows.ts'
import type { Sheet } from '#contract/import/table.ts'
import { fileLimits, isTooLong, openSheets } from '#web/ui/open-sheets.ts'
import { inCalls } from './bank-calls.ts'
import type { BankAnswer, BankRequest, Cell, OpenedFile, Unread } from './bank-reading.ts'

/* Reads bank files beside the page, which stays usable meanwhile: a year of transfers takes a second. */

let sheets: Sheet[] = []
/** A file whose format says what each entry is. */
let statement: StatementFile | null = null
let lastRead: BankRow[] = []

/** The page takes the rows in parts, each within a frame. */
const part = 200

const say = (answer: BankAnswer) => self.postMessage(answer)

self.onmessage = ({ data }: MessageEvent<BankRequest>) => {
  void answer(data)
}

async function answer(request: BankRequest): Promise<void> {
  switch (request.do) {
    case 'open':
      return say({ id: request.id, do: 'open', opened: await open(request.bytes) })
    case 'read': {
      const sheet = sheets[request.sheet]
      const { context } = request
      const { rows, ...reading } = statement ? readBankStatement(statement, context) : readBankSheet(sheet ?? noSheet, context)
      lastRead = rows
      const lines = linesOf(rows)
      for (let from = 0; from < rows.length; from += part) {
        const some = rows.slice(from, from + part)
        say({ id: request.id, do: 'rows', rows: some.map(bare), lines: some.flatMap(({ number }) => lines.get(number) ?? []) })
      }
      const calls = inCalls(lines.values(), request.mostLines).map(({ length }) => length)
      return say({ id: request.id, do: 'read', reading, calls })
    }
    case 'returns':
      return say({ id: request.id, do: 'returns', takenBack: takenBackIn(lastRead, request.recorded) })
    case 'cells': {
      if (statement) return say({ id: request.id, do: 'cells', cells: rawCells(statement, request.row) })
      const sheet = sheets[request.sheet]
      const row = sheet?.rows.find(({ number }) => number === request.row)
      const { header, headings } = sheet ? layoutOfBank(sheet) : { header: null, headings: [] }
      const cells = (row?.cells ?? []).map((cell, column) => ({
        heading: header === null ? '' : (headings[column]?.written ?? ''),
        cell: cell.trim(),
      }))
      return say({ id: request.id, do: 'cells', cells: cells.filter(({ cell }) => cell !== '') })
    }
  }
}

const noSheet: Sheet = { name: null, rows: [], hiddenRows: [] }

/** An entry as its file has it. */
function rawCells({ entries }: StatementFile, number: number): Cell[] {
  const raw = entries[number - 1]?.raw
  // XML without line breaks is hard to read: each element is on its own line.
  return raw === undefined ? [] : [{ heading: '', cell: raw.replace(/></g, '>\n<') }]
}

/** The cells of a row are asked for when they are shown. */
function bare(row: BankRow): BankRow {
  return { ...row, cells: [] }
}

async function open(bytes: ArrayBuffer): Promise<OpenedFile | Unread | RefusedFile> {
  const { readStatement } = await import('#contract/import/formats/read.ts')
  const read = readStatement(new Uint8Array(bytes))
  if (read?.kind === 'refused') return read
  if (read !== null) {
    const { formats, accounts, entries } = read
    if (entries.length > fileLimits.rows) return { kind: 'unread', why: 'too-long' }
    statement = read
    const one = { name: null, rows: entries.length, hiddenRows: [], isTable: true }
    return { kind: 'opened', sheets: [one], hiddenSheets: [], statement: { formats, accounts: accounts.map(accountName) } }
  }
  const opened = await openSheets(bytes)
  if (opened.kind !== 'sheets') return { kind: 'unread', why: opened.kind }
  if (isTooLong(opened)) return { kind: 'unread', why: 'too-long' }
  sheets = opened.sheets
  if (sheets.length === 0) return { kind: 'unread', why: 'hidden' }
  return {
    kind: 'opened',
    sheets: sheets.map((sheet) => ({
      name: sheet.name,
      rows: sheet.rows.length,
      hiddenRows: sheet.hiddenRows,
      isTable: layoutOfBank(sheet).header !== null,
    })),
    hiddenSheets: opened.hiddenSheets,
    statement: null,
  }
}
