import { referenceKey } from '#contract/import/invoice-file.ts'
import { layoutOfInvoices, readInvoiceSheet } from '#contract/import/invoices.ts'
import { checkRows, missingFrom } from '#contract/import/lines.ts'
import { readAddresses } from '#contract/import/people.ts'
import type { Sheet } from '#contract/import/table.ts'
import { isTooLong, openSheets } from '#web/ui/open-sheets.ts'
import type { ImportAnswer, ImportRequest, OpenedFile, ReadRow, Unread } from './import-reading.ts'

/* Reads lists of invoices beside the page, which stays usable meanwhile. */

let sheets: Sheet[] = []

/** The page takes the rows in parts, each within a frame. */
const part = 500

const say = (answer: ImportAnswer) => self.postMessage(answer)

self.onmessage = ({ data }: MessageEvent<ImportRequest>) => {
  void answer(data)
}

async function answer(request: ImportRequest): Promise<void> {
  const { id } = request
  switch (request.do) {
    case 'open':
      return say({ id, do: 'open', opened: await open(request.bytes) })
    case 'addresses': {
      const opened = await openSheets(request.bytes)
      const sheet = opened.kind === 'sheets' ? opened.sheets[0] : undefined
      return say({ id, do: 'addresses', addresses: sheet ? readAddresses(sheet.rows) : null })
    }
    case 'read': {
      const sheet = sheets[request.sheet]
      if (!sheet) return
      const { rows, ...reading } = readInvoiceSheet(sheet, request.context)
      const checked = checkRows({ rows }, request.against)
      const byNumber = new Map(rows.map((row) => [row.number, row]))
      const edited = request.context.edits ?? {}
      const shown = checked.map((row): ReadRow => {
        const isOpen = row.state === 'bad' || edited[row.number] !== undefined
        const written = isOpen ? byNumber.get(row.number)?.written() : undefined
        return written ? { ...row, written } : row
      })
      for (let from = 0; from < shown.length; from += part) say({ id, do: 'rows', rows: shown.slice(from, from + part) })
      const known = new Set(request.against.invoices.map(({ reference }) => referenceKey(reference)))
      const there = new Set(rows.map(({ reference }) => referenceKey(reference)).filter((key) => known.has(key))).size
      const missing = request.against.onExisting === 'update' ? missingFrom({ rows, fields: reading.fields }, request.against) : []
      return say({ id, do: 'read', reading: { ...reading, there, missing } })
    }
  }
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
      isTable: layoutOfInvoices(sheet).header !== null,
    })),
    hiddenSheets: opened.hiddenSheets,
  }
}
