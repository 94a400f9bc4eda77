import type { FileRow } from './csv.ts'
import { wordKey } from './headings.ts'
import { columnsOf, fieldText, type InvoiceFile, labelOf } from './invoice-file.ts'
import { type Kind, kindOf, paidFlagOf, type Status, statusOf, yesOrNo } from './invoice-words.ts'
import { certain, type Meaning, refused } from './meaning.ts'
import { textOf } from './table.ts'
import { texts } from './texts.ts'
import { distinctWords, readWords } from './words.ts'

const statusChoices = ['unpaid', 'overdue', 'paid', 'leave'] as const
const kindChoices = ['invoice', 'leave'] as const
/** A column with more words that are not known has no statuses. */
const mostStatuses = 30
type KindOfRow = { kind: 'invoice' } | { kind: 'left'; why: string; isCredit: boolean } | { kind: 'asked'; question: string }

/** Whether each row is an invoice, by the columns that name its kind. */
export function kindsIn(file: InvoiceFile, rows: FileRow[]): (row: FileRow) => KindOfRow {
  const { known, answers, questions } = file
  const read = columnsOf(file, 'kind', 'return').flatMap((at) => {
    const isReturn = file.columns[at] === 'return'
    const words = distinctWords(rows, at)
    if (words?.size === 1 && words.has('')) return []
    const taught = known?.words?.kind
    const means = (word: string): Kind | null => (isReturn ? returnOf(word) : ((taught?.[word] as Kind | undefined) ?? kindOf(word)))
    // A column with many words, none of which names a document, is about something else.
    if (!words && !rows.some((row) => means(wordKey(textOf(row, at))) !== null)) return []
    const label = labelOf(file, at)
    const { of, question } = readWords<Kind | 'leave'>(rows, {
      column: at,
      ...label,
      about: 'kind',
      means,
      choices: kindChoices,
      answers,
      example: (row) => fieldText(file, row, 'clientName') || (row.cells.find((cell) => cell.trim() !== '') ?? ''),
    })
    if (question) questions.set(question.id, question)
    return [{ at, of }]
  })
  return (row) => {
    for (const { at, of } of read) {
      const meaning = of.get(row)
      if (meaning?.kind === 'asked') return { kind: 'asked', question: meaning.question }
      const value = meaning?.kind === 'certain' ? meaning.value : 'invoice'
      if (file.columns[at] === 'return' && value === 'credit')
        return { kind: 'left', why: texts.left.type(labelOf(file, at).heading), isCredit: true }
      if (value !== 'invoice') return { kind: 'left', why: texts.left.type(textOf(row, at)), isCredit: value === 'credit' }
    }
    return { kind: 'invoice' }
  }
}

function returnOf(word: string): Kind | null {
  const says = word === '' || word === '0' ? false : word === '1' ? true : yesOrNo(word)
  return says === null ? null : says ? 'credit' : 'invoice'
}

/** The statuses of a row, of all columns that name one, with what they say together. */
export interface Statuses {
  (row: FileRow): Meaning<Status>
  /** As written, for a sentence. */
  written(row: FileRow): string
}

export function statusesIn(file: InvoiceFile, rows: FileRow[]): Statuses {
  const { known, answers, questions, edits } = file
  const read = columnsOf(file, 'status', 'paidFlag').flatMap((at) => {
    const isFlag = file.columns[at] === 'paidFlag'
    const label = labelOf(file, at)
    const taught = known?.words?.[isFlag ? 'paidFlag' : 'status']
    const means = (word: string): Status | null => (taught?.[word] as Status | undefined) ?? (isFlag ? paidFlagOf(word) : statusOf(word))
    const { of, question } = readWords<Status>(
      rows.filter((row) => edits[row.number]?.status === undefined),
      {
        column: at,
        ...label,
        about: isFlag ? 'paid' : 'status',
        means,
        choices: statusChoices,
        answers,
        example: (row) => exampleOf(file, row),
      },
    )
    const unknown = question?.kind === 'words' ? question.words.filter(({ means }) => means === null).length : 0
    if (unknown > mostStatuses) {
      const id = 'column/status'
      questions.set(id, { id, rows: rows.length, kind: 'column', field: 'status', columns: [] })
    } else if (question) questions.set(question.id, question)
    return [{ at, of }]
  })
  const typed = (row: FileRow): Meaning<Status> | null => {
    const text = edits[row.number]?.status
    const status = text === undefined ? null : statusOf(wordKey(text))
    return text === undefined ? null : status === null ? refused(texts.unknownStatus(text)) : certain(status, 'answer')
  }
  const told = (row: FileRow) => typed(row) ?? together(read.flatMap(({ of }) => of.get(row) ?? []))
  return Object.assign(told, {
    written: (row: FileRow) => edits[row.number]?.status ?? read.map(({ at }) => textOf(row, at)).find((text) => text !== '') ?? '',
  })
}

const leftStatuses = ['draft', 'void', 'cancelled', 'deleted', 'writtenOff', 'credit', 'leave'] as const
export const isLeftStatus = (status: Status): status is (typeof leftStatuses)[number] => leftStatuses.some((one) => one === status)

/** What several statuses of one row say: those that contradict each other say nothing. */
function together(all: Meaning<Status>[]): Meaning<Status> {
  const out = all.find((one) => one.kind === 'certain' && isLeftStatus(one.value))
  if (out) return out
  const waiting = all.find((one) => one.kind !== 'certain')
  if (waiting) return waiting
  const said = all.filter((one) => one.kind === 'certain' && one.value !== 'open')
  const values = new Set(said.map((one) => (one.kind === 'certain' ? one.value : 'open')))
  if (values.has('paid') && values.size > 1) return refused(texts.statusesDiffer)
  const partial = said.find((one) => one.kind === 'certain' && one.value === 'partial')
  return partial ?? said[0] ?? certain('open', 'heading')
}

function exampleOf(file: InvoiceFile, row: FileRow): string {
  const parts = [fieldText(file, row, 'reference'), fieldText(file, row, 'clientName')]
  return parts
    .filter((part) => part !== '')
    .join(', ')
    .slice(0, 80)
}
