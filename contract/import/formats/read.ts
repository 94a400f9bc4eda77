import type { RefusedFile, StatementFile } from '#contract/import/statement.ts'
import { isWorkbook, listArchive, unpack } from './archive.ts'
import { readCamt } from './camt.ts'
import { accountOf, sayOnce, withoutSharedIds } from './collect.ts'
import { type Detected, detect } from './detect.ts'
import { readSwift } from './mt940.ts'
import { readOfx } from './ofx.ts'
import { readQif } from './qif.ts'
import { FileProblem, texts } from './texts.ts'

/**
 * Reads a bank's file in a format whose meaning the format defines; null where it is none, such as CSV or a workbook. A file that is damaged is refused
 * as a whole. A large one takes seconds: call it in a worker.
 */
export function readStatement(bytes: Uint8Array): StatementFile | RefusedFile | null {
  const found = detect(bytes)
  if (found === null) return null
  try {
    const file = found.kind === 'zip' ? readArchive(bytes) : readDetected(bytes, found)
    return file && { ...file, entries: withoutSharedIds(file.entries) }
  } catch (error) {
    if (error instanceof FileProblem) return { kind: 'refused', message: error.message }
    throw error
  }
}

function readDetected(bytes: Uint8Array, found: Exclude<Detected, { kind: 'zip' }>): StatementFile {
  switch (found.kind) {
    case 'xml':
      return readCamt(bytes, found.format)
    case 'swift':
      return readSwift(bytes)
    case 'ofx':
      return readOfx(bytes, found.format)
    case 'qif':
      return readQif(bytes)
    case 'other':
      throw new FileProblem(found.message)
  }
}

/** The statements of an archive, as one; null for a workbook. */
function readArchive(bytes: Uint8Array): StatementFile | null {
  const listed = listArchive(bytes)
  if (isWorkbook(listed)) return null
  const all: StatementFile = { kind: 'statement', formats: [], accounts: [], entries: [], notes: [] }
  for (const one of listed.toSorted((first, second) => (first.name < second.name ? -1 : 1))) {
    const { name, bytes: content } = unpack(bytes, one)
    const found = detect(content)
    if (found?.kind === 'zip') throw new FileProblem(texts.archive.nested(name))
    if (found === null || found.kind === 'other') {
      sayOnce(all, texts.archive.skipped(name))
      continue
    }
    addFile(all, name, readInside(content, found, name))
  }
  if (all.formats.length === 0) throw new FileProblem(texts.archive.nothing)
  return all
}

function readInside(bytes: Uint8Array, found: Exclude<Detected, { kind: 'zip' }>, name: string): StatementFile {
  try {
    return readDetected(bytes, found)
  } catch (error) {
    throw error instanceof FileProblem ? new FileProblem(texts.archive.inside(name, error.message)) : error
  }
}

function addFile(all: StatementFile, name: string, file: StatementFile): void {
  for (const format of file.formats) if (!all.formats.includes(format)) all.formats.push(format)
  const accounts = file.accounts.map((account) => accountOf(all, account))
  for (const entry of file.entries)
    all.entries.push({ ...entry, account: accounts[entry.account] ?? 0, position: texts.archive.position(name, entry.position) })
  for (const note of file.notes) sayOnce(all, texts.archive.inside(name, note))
}
