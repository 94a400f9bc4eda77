import { type BankRow, layoutOfBank, readBankSheet } from '#contract/import/bank.ts'
import type { Sheet } from '#contract/import/table.ts'
import { isTooLong, openSheets } from '#web/ui/open-sheets.ts'
import type { BankAnswer, BankRequest, OpenedFile, Unread } from './bank-reading.ts'

/* Reads bank files beside the page, which stays usable meanwhile: a year of transfers takes a second. */

let sheets: Sheet[] = []

/** The page takes the rows in parts, each within a frame. */
const part = 500

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
      if (!sheet) return
      const { rows, ...reading } = readBankSheet(sheet, request.context)
      for (let from = 0; from < rows.length; from += part)
        say({ id: request.id, do: 'rows', rows: rows.slice(from, from + part).map(bare) })
      return say({ id: request.id, do: 'read', reading })
    }
    case 'cells': {
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

/** The cells of a row are asked for when they are shown. */
function bare(row: BankRow): BankRow {
  return { ...row, cells: [] }
}

async function open(bytes: ArrayBuffer): Promise<OpenedFile | Unread> {
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
  }
}
