import type { RefusedFile, StatementFile } from '#contract/import/statement.ts'
import { detect } from './detect.ts'

/**
 * Reads a bank's file in a format whose meaning the format defines; null where it is none, such as CSV or a workbook. A file that is damaged is refused
 * as a whole. A large one takes seconds: call it in a worker.
 */
export function readStatement(bytes: Uint8Array): StatementFile | RefusedFile | null {
  const found = detect(bytes)
  return found?.kind === 'other' ? { kind: 'refused', message: found.message } : null
}
