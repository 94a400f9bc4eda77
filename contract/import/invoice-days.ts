import type { FileRow } from './csv.ts'
import { daysOf, readWrittenDay } from './days.ts'
import { columnsOf, type Group, type InvoiceFile, labelOf } from './invoice-file.ts'
import { type Answers, asked, certain, type Meaning, refused } from './meaning.ts'
import { textOf } from './table.ts'
import { texts } from './texts.ts'

/** The most days to pay. */
export const mostDays = 365

interface Dues {
  /** Whether a person left a row out because its date can be two. */
  isChosen(row: FileRow): boolean
  of(row: FileRow): Meaning<string> | null
  issued(row: FileRow): Meaning<string> | null
}

/** The days on which rows are due: by their column alone, or days after another date, where a person says how many. */
export function duesIn(file: InvoiceFile, rows: FileRow[], open: Group[]): Dues {
  const { known, answers, questions, edits } = file
  const [dueAt = null] = columnsOf(file, 'due')
  const [issuedAt = null] = columnsOf(file, 'issued')
  const [begunAt = null] = columnsOf(file, 'issued', 'begun')
  const wanted = new Set(open.map(({ first }) => first))
  const dated = columnsOf(file, 'due', 'issued', 'begun', 'paidOn', 'otherDate')
  const order = known?.order ?? null
  const proven = new Set(dated.flatMap((at) => orderProven(rows, at)))
  const [agreed] = proven
  const read = (at: number, own: boolean) =>
    daysOf(
      rows.filter((row) => edits[row.number]?.[own ? 'dueDate' : 'issuedOn'] === undefined),
      {
        column: at,
        ...labelOf(file, at),
        // No client is asked for money by the day of issue: the order of the file's other dates is enough.
        order: own ? order : (order ?? (proven.size === 1 && agreed !== undefined ? agreed : (answerFor(dueAt) ?? null))),
        answers,
        counts: (row) => wanted.has(row),
      },
    )
  const answerFor = (at: number | null) => {
    const answer = at === null ? undefined : answers[`order/${labelOf(file, at).key}`]
    return answer === 'dmy' || answer === 'mdy' ? answer : null
  }
  const due = dueAt === null ? null : read(dueAt, true)
  if (due?.question) questions.set(due.question.id, due.question)
  const issued = begunAt === null ? null : read(begunAt, false)
  const lacksDay = (row: FileRow, at: number | null) => textOf(row, at) === '' && !isFormula(row, at)
  const lacks = (row: FileRow) => (edits[row.number]?.dueDate === undefined ? lacksDay(row, dueAt) : edits[row.number]?.dueDate === '')
  const without = [...wanted].filter(lacks)
  const days = daysAnswered(answers)
  if (issued?.question && !due?.question && (issuedAt !== null || without.length > 0)) questions.set(issued.question.id, issued.question)
  if (without.length > 0 && days === null && begunAt !== null && answers['days/due'] !== 'none') {
    const { heading } = labelOf(file, begunAt)
    questions.set('days/due', { id: 'days/due', rows: without.length, kind: 'number', about: 'days', heading, most: mostDays })
  }
  const typed = (row: FileRow, field: 'dueDate' | 'issuedOn'): Meaning<string> | null | undefined => {
    const text = edits[row.number]?.[field]
    if (text === undefined) return undefined
    const day = readWrittenDay(text)
    return text.trim() === '' ? null : day && 'day' in day ? certain(day.day, 'answer') : (oneDay(day) ?? refused(texts.noDate))
  }
  const issuedOf = (row: FileRow) => {
    const told = typed(row, 'issuedOn')
    if (told !== undefined) return told
    const meaning = issued?.of.get(row) ?? null
    return begunAt === null || lacksDay(row, begunAt) ? null : withWords(meaning, row, begunAt)
  }
  return {
    isChosen: (row) => due?.of.get(row)?.kind === 'refused' && isTwo(textOf(row, dueAt)),
    of: (row) => {
      const told = typed(row, 'dueDate')
      if (told !== undefined) return told
      if (!lacks(row)) return withWords(due?.of.get(row) ?? null, row, dueAt)
      const from = issuedOf(row)
      if (from === null) return null
      if (from.kind !== 'certain') return from
      if (days === null) return begunAt === null ? null : asked('days/due')
      return certain(Temporal.PlainDate.from(from.value).add({ days }).toString(), 'answer')
    },
    issued: (row) => (issuedAt === null && edits[row.number]?.issuedOn === undefined ? null : issuedOf(row)),
  }
}

function isFormula({ values }: FileRow, at: number | null): boolean {
  const value = at === null ? undefined : values?.[at]
  return value !== undefined && 'formula' in value
}

/** A cell that is no day, in the words of this import. */
function withWords(meaning: Meaning<string> | null, row: FileRow, at: number | null): Meaning<string> | null {
  if (meaning?.kind !== 'refused') return meaning
  return refused(isFormula(row, at) ? texts.formula : isTwo(textOf(row, at)) ? texts.left.chosenDate : texts.noDate)
}

/** Whether a text can be two days. */
function isTwo(text: string): boolean {
  const day = readWrittenDay(text)
  return day !== null && 'dmy' in day && day.dmy !== null && day.mdy !== null
}

/** A day that exists in one order only. */
function oneDay(day: ReturnType<typeof readWrittenDay>): Meaning<string> | null {
  if (day === null || 'day' in day) return null
  const only = day.dmy === null ? day.mdy : day.mdy === null ? day.dmy : null
  return only === null ? null : certain(only, 'answer')
}

function orderProven(rows: FileRow[], at: number): ('dmy' | 'mdy')[] {
  const found = new Set<'dmy' | 'mdy'>()
  for (const row of rows) {
    const day = row.values?.[at] === undefined ? readWrittenDay(textOf(row, at)) : null
    if (day && 'dmy' in day && (day.dmy === null) !== (day.mdy === null)) found.add(day.dmy === null ? 'mdy' : 'dmy')
  }
  return [...found]
}

/** The days from the date of an invoice to its due date; null where no person said. */
export function daysAnswered(answers: Answers): number | null {
  const days = Number(answers['days/due'] ?? Number.NaN)
  return Number.isInteger(days) && days >= 0 && days <= mostDays ? days : null
}
