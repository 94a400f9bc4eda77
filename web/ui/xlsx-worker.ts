import type { Table } from '#contract/import/csv.ts'
import { readWorkbook } from './xlsx.ts'

/* Reads workbooks outside of the page, which stays usable meanwhile. */
self.onmessage = ({ data: { bytes, most } }: MessageEvent<{ bytes: ArrayBuffer; most: number }>) => {
  const answer = (table: Table) => self.postMessage(table)
  try {
    answer(readWorkbook(bytes, most))
  } catch {
    answer({ kind: 'not-csv' })
  }
}
