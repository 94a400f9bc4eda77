import type { FileRow } from './csv.ts'
import type { DateOrder } from './days.ts'
import { type Heading, headingOf } from './headings.ts'
import type { Answers, AskedColumn } from './meaning.ts'

/** A bank's or program's export whose headings and words are known: data, without code. */
export interface KnownLayout<Column extends string> {
  /** As people call it. */
  name: string
  /**
   * Its headings as they are written there, and what each column is: `Date = date | Amount = amount`. It is recognised where all of them are in one
   * row; one with a question mark, `Note? = description`, may be missing.
   */
  headings: string
  /** The order of day and month where it is not proven by a row. */
  order?: DateOrder
  /** What the words of a column mean, by its kind and as `wordKey` writes them. Others are known words, or asked. */
  words?: Partial<Record<Column, Record<string, string>>>
  /** Amounts of one column are money in unless they are below 0, also where none is. */
  signed?: true
  /** A statement of a credit card: nothing in it is a client's payment. */
  isCard?: true
  /** Where these facts are from. */
  source: string
}

/** The headings of a layout, taken apart. */
export interface LayoutHeading<Column extends string> {
  written: string
  key: string
  column: Column
  isOptional: boolean
}

const taken = new WeakMap<object, LayoutHeading<string>[]>()

/** The headings of a layout in their order. */
export function headingsOf<Column extends string>(layout: KnownLayout<Column>): LayoutHeading<Column>[] {
  const before = taken.get(layout) as LayoutHeading<Column>[] | undefined
  if (before) return before
  const found = layout.headings.split(/\s\|\s/).map((part): LayoutHeading<Column> => {
    const at = part.lastIndexOf(' = ')
    const name = part.slice(0, at).trim()
    const written = name.replace(/\?$/, '')
    const { key } = headingOf(written)
    return { written, key: key || written, column: part.slice(at + 3).trim() as Column, isOptional: name.endsWith('?') }
  })
  taken.set(layout, found)
  return found
}

/** Which row has the headings, and what each column is. */
export interface Layout<Column extends string> {
  known: KnownLayout<Column> | null
  /** The index of the row with the headings among the rows; null where there is none. */
  header: number | null
  headings: Heading[]
  columns: Column[]
}

/** Reports begin with lines about the account: how many rows are searched for the headings. */
const rowsSearched = 60

/** What a subject calls its columns. */
export interface Vocabulary<Column extends string> {
  layouts: KnownLayout<Column>[]
  columnOf(words: string[], raw: string, keys: ReadonlySet<string>): Column
  /** Whether columns are those of a table, so that their row has the headings. */
  isTable(columns: Column[]): boolean
  /** Columns of texts, which are used in a known layout too. */
  texts: ReadonlySet<Column>
  other: Column
}

/** Finds the headings: those of a known layout before those that are read by their words. `answers` may say that the first row is none, or that the layout is not known. */
export function layoutOf<Column extends string>(rows: FileRow[], vocabulary: Vocabulary<Column>, answers: Answers): Layout<Column> {
  const width = rows.slice(0, 200).reduce((most, { cells }) => Math.max(most, cells.length), 0)
  const none: Layout<Column> = {
    known: null,
    header: null,
    headings: Array.from({ length: width }, () => headingOf('')),
    columns: Array.from({ length: width }, () => vocabulary.other),
  }
  if (answers.header === 'none') return none
  let found: Layout<Column> | null = null
  for (const [header, { cells }] of rows.slice(0, rowsSearched).entries()) {
    if (cells.filter((cell) => cell.trim() !== '').length < 2) continue
    const headings = cells.map(headingOf)
    const keys = new Set(headings.map(({ key, written }) => key || written))
    const known = (answers.layout === 'none' ? [] : vocabulary.layouts)
      .filter((layout) => headingsOf(layout).every(({ key, isOptional }) => isOptional || keys.has(key)))
      .toSorted((one, other) => headingsOf(other).length - headingsOf(one).length)[0]
    if (known) return { known, header, headings, columns: columnsOf(known, headings, keys, vocabulary) }
    if (found) continue
    const columns = headings.map(({ words, written }) => vocabulary.columnOf(words, written, keys))
    if (vocabulary.isTable(columns)) found = { known: null, header, headings, columns }
  }
  return found ?? none
}

function columnsOf<Column extends string>(
  known: KnownLayout<Column>,
  headings: Heading[],
  keys: ReadonlySet<string>,
  { columnOf, texts, other }: Vocabulary<Column>,
): Column[] {
  // Of two columns with one heading, as `Dr / Cr` of the amount and of the balance, the first is named first.
  const own = Map.groupBy(headingsOf(known), ({ key }) => key)
  return headings.map(({ key, words, written }) => {
    const column = own.get(key || written)?.shift()?.column
    if (column !== undefined) return column
    const guessed = columnOf(words, written, keys)
    return texts.has(guessed) ? guessed : other
  })
}

/** The name that answers about a column are kept by: its heading, else its place. */
export function columnKey({ headings }: Pick<Layout<string>, 'headings'>, column: number): string {
  const { key, written } = headings[column] ?? { key: '', written: '' }
  const name = key || written
  const same = headings.slice(0, column).filter((one) => (one.key || one.written) === name).length
  return name === '' ? `#${column + 1}` : same === 0 ? name : `${name}#${same + 1}`
}

/** What a column is called on the screen. */
export function columnLabel({ headings }: Pick<Layout<string>, 'headings'>, column: number): string {
  return headings[column]?.written || `Column ${column + 1}`
}

/** The columns that a person can choose from, each with an example from the file. */
export function choosable(layout: Pick<Layout<string>, 'headings'>, body: FileRow[]): AskedColumn[] {
  return layout.headings.flatMap(({ written }, column) => {
    const example = body.slice(0, 200).find(({ cells }) => (cells[column] ?? '').trim() !== '')?.cells[column] ?? ''
    if (example === '' && written === '') return []
    return [{ column, key: columnKey(layout, column), heading: columnLabel(layout, column), example: example.trim().slice(0, 60) }]
  })
}

/** What files with the same headings have in common: their answers are kept by the hash of this. */
export function headingsKey({ header, headings }: Pick<Layout<string>, 'header' | 'headings'>): string {
  return header === null ? '' : headings.map(({ key, written, currency }) => `${key || written}${currency ?? ''}`).join('|')
}
