/** How a value is known. */
export type Evidence =
  /** The format of the file defines it. */
  | 'format'
  /** A known layout of a bank or program says so. */
  | 'layout'
  /** The heading of its column. */
  | 'heading'
  /** A word of the row that is known. */
  | 'word'
  /** How the cell is written: its sign, its order of day and month, its decimals. */
  | 'written'
  /** The workbook's own type of the cell. */
  | 'workbook'
  /** Another row of the same column. */
  | 'column'
  /** A person answered. */
  | 'answer'

/** What a cell means, and how that is known. */
export type Meaning<T> =
  | { kind: 'certain'; value: T; by: Evidence }
  /** It depends on a question that is not answered yet. */
  | { kind: 'asked'; question: string }
  /** It is none, or cannot be known: why, in a sentence. */
  | { kind: 'refused'; why: string }

export const certain = <T>(value: T, by: Evidence): Meaning<T> => ({ kind: 'certain', value, by })
export const asked = (question: string): { kind: 'asked'; question: string } => ({ kind: 'asked', question })
export const refused = (why: string): { kind: 'refused'; why: string } => ({ kind: 'refused', why })

/** The value, also an answered one; null where it is not known. */
export function known<T>(meaning: Meaning<T>): T | null {
  return meaning.kind === 'certain' ? meaning.value : null
}

/**
 * The answers to the questions of a file, by the ids of the questions: `order/date` is `dmy`. Flat, so that they can be kept and compared as they are.
 */
export type Answers = Record<string, string>

/** A word of a column that is asked about. */
export interface AskedWord {
  /** What its answer is kept by. */
  id: string
  /** As in the file; empty for cells without one. */
  written: string
  rows: number
  /** The text of a row that has it. */
  example: string
  /** What it means, where that is known or answered. */
  means: string | null
  /** Whether a person said so. */
  answered: boolean
}

/** A column that can be chosen. `key`: what the answer is. */
export interface AskedColumn {
  column: number
  key: string
  heading: string
  example: string
}

/** Something that a file does not prove. `id` is what its answer is kept by; `rows`: how many wait for it. */
export type Question = { id: string; rows: number } & (
  | { kind: 'column'; field: string; columns: AskedColumn[] }
  | { kind: 'order'; heading: string; example: string; number: number; dmy: string; mdy: string; nearby: { dmy: Nearby; mdy: Nearby } }
  | { kind: 'decimals'; heading: string; example: string; point: number; comma: number }
  | { kind: 'words'; about: string; heading: string; words: AskedWord[]; choices: string[] }
  | { kind: 'choice'; about: string; heading: string; choices: string[] }
  /** A whole number, up to `most`. */
  | { kind: 'number'; about: string; heading: string; most: number }
)

/** The days of the rows around the one that is asked about; null where none is known. */
export interface Nearby {
  before: string | null
  after: string | null
  /** Whether it would be in the order of its neighbours; null where that cannot be said. */
  inOrder: boolean | null
}

/** Whether an answer or a row is about a question; one about words has an id for each word. */
export function isAbout({ id }: Question, asked: string): boolean {
  return asked === id || asked.startsWith(`${id}/`)
}
