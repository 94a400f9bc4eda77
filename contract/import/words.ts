import type { FileRow } from './csv.ts'
import { wordKey } from './headings.ts'
import { type Answers, type AskedWord, asked, certain, type Meaning, type Question } from './meaning.ts'
import { textOf } from './table.ts'

/** A column whose words say something about their rows. */
export interface WordColumn<Value extends string> {
  column: number
  heading: string
  /** What answers about it are kept by. */
  key: string
  /** What it is about: `direction` or `state`, say. */
  about: string
  /** What a word means, as `wordKey` writes it; null where it is not known. An empty cell is a word too. */
  means(word: string): Value | null
  /** What a person can answer. */
  choices: readonly Value[]
  answers: Answers
  /** The text of a row, as an example. */
  example(row: FileRow): string
}

/** A column with more words than this is no column of such words. */
export const mostWords = 12

/** What the words of a column mean, row by row. One that is not known is asked about, and only the rows with it wait. */
export function readWords<Value extends string>(
  rows: FileRow[],
  { column, heading, key, about, means, choices, answers, example }: WordColumn<Value>,
): { of: Map<FileRow, Meaning<Value>>; question: Question | null } {
  const id = `${about}/${key}`
  const words = new Map<string, AskedWord>()
  const of = new Map<FileRow, Meaning<Value>>()
  for (const row of rows) {
    const written = textOf(row, column)
    const word = wordKey(written)
    let about = words.get(word)
    if (!about) {
      const wordId = `${id}/${word}`
      const answer = choices.find((one) => one === answers[wordId])
      about = { id: wordId, written, rows: 0, example: example(row), means: answer ?? means(word), answered: answer !== undefined }
      words.set(word, about)
    }
    about.rows += 1
    const value = choices.find((one) => one === about.means) ?? (about.means as Value | null)
    of.set(row, value === null ? asked(about.id) : certain(value, about.answered ? 'answer' : 'word'))
  }
  const all = [...words.values()].toSorted((one, other) => other.rows - one.rows)
  const waiting = all.filter((word) => word.means === null).reduce((sum, word) => sum + word.rows, 0)
  const question: Question = { id, rows: waiting, kind: 'words', about, heading, words: all, choices: [...choices] }
  return { of, question: waiting === 0 ? null : question }
}

/** The different words of a column, as `wordKey` writes them; null where there are too many. */
export function distinctWords(rows: FileRow[], column: number): Set<string> | null {
  const found = new Set<string>()
  for (const row of rows) {
    found.add(wordKey(textOf(row, column)))
    if (found.size > mostWords) return null
  }
  return found
}
