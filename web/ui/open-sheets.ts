import type { CsvLimits } from '#contract/import/csv.ts'
import { type Opened, openCsv } from '#contract/import/table.ts'

/** Rows of a file, columns, and characters of one row. A cell of a spreadsheet has at most 32,767 characters. */
export const fileLimits = { rows: 20_000, columns: 1_000, length: 500_000 } satisfies CsvLimits

/** The sheets of a CSV file or a workbook; for a worker, because a large one takes seconds. The reader of workbooks is loaded where it is needed. */
export async function openSheets(bytes: ArrayBuffer): Promise<Opened> {
  const opened = openCsv(bytes, fileLimits)
  if (opened.kind !== 'workbook') return opened
  try {
    const { readWorkbook } = await import('./workbook.ts')
    return readWorkbook(bytes, fileLimits.rows)
  } catch {
    return { kind: 'workbook' }
  }
}

/** Whether a sheet has more rows than are read. */
export function isTooLong(opened: Opened): boolean {
  return opened.kind === 'sheets' && opened.sheets.some(({ rows }) => rows.length > fileLimits.rows)
}
