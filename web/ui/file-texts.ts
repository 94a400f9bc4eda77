import { listRows } from '#contract/import/texts.ts'
import { count } from './texts.ts'

/** Texts of the choice of a file with a table, of its columns, and of what it is asked about. */
export const fileTexts = {
  drop: 'Drop a CSV or Excel file here, or choose one',
  choose: 'Choose a CSV or Excel file',
  reading: 'Reading the file...',
  tooBig: 'This file is larger than 10 MB. Please split it and import the parts separately.',
  tooLong: (most: string) => `This file has more than ${most} lines. Please split it and import the parts separately.`,
  unreadable: "Couldn't read this file. Please save it as CSV and try again.",
  unknownEncoding: "Couldn't read the characters in this file. Please save it as “CSV UTF-8” and choose it again.",
  notCsv: "Couldn't read this spreadsheet. In Excel or Google Sheets, save or download it as .xlsx or CSV and choose that file.",
  empty: 'This file has no lines.',

  sheet: (name: string) => `sheet “${name}”`,
  rows: (rows: number) => count(rows, 'row'),
  hiddenSheets: (names: string[]) => `${count(names.length, 'hidden sheet')} left out: ${names.slice(0, 3).join(', ')}`,
  hiddenRows: (rows: number[]) => `${count(rows.length, 'hidden row')} left out: ${listRows(rows)}`,
  otherSheet: 'Another sheet',
  other: 'Another file',
  columnsOf: 'What each column is. A change here overrules what was read from the headings.',
  notInFile: 'Not in the file',
  option: (heading: string, example: string) => (example === '' ? heading : `${heading}: ${example}`),

  questions: {
    title: 'Questions about this file',
    numbered: (number: number, title: string) => `${number}. ${title}`,
    more: (questions: number) => `${count(questions, 'more question')} after these.`,
    known: (known: number, unknown: number) =>
      known === 0
        ? `${count(unknown, 'word')} to answer.`
        : `${count(known, 'word is', 'words are')} known. ${count(unknown, 'is', 'are')} not.`,
    whichColumn: (field: string) => `Which column is it: ${field}?`,
    whichAmount: (columns: string[]) => `Which is the amount: ${columns.slice(0, -1).join(', ')} or ${columns.at(-1) ?? ''}?`,
    order: (text: string, dmy: string, mdy: string) => `Is ${text} ${dmy} or ${mdy}?`,
    dayFirst: (day: string) => `${day}, day first`,
    monthFirst: (day: string) => `${day}, month first`,
    nearby: (row: number, before: string | null, after: string | null, inOrder: boolean | null) =>
      before === null || after === null
        ? ''
        : inOrder
          ? `Row ${row} would be between ${before} and ${after}`
          : `Row ${row} would be out of order`,
    orderRows: (rows: number, column: string) => `${count(rows, 'date')} in ${column} can be read in two ways.`,
    leaveRows: (rows: number) => (rows === 1 ? 'Leave this row out' : `Leave these ${rows.toLocaleString('en-IN')} rows out`),
    decimals: (text: string) => `Which amount is ${text}?`,
    decimalsRows: (rows: number, column: string) => `${count(rows, 'amount')} in ${column} can be read in two ways.`,
    currency: 'Which currency are the amounts in?',
    sign: (sign: string) => `Which currency is ${sign}?`,
    rowsLike: (rows: number, example: string) => (example === '' ? count(rows, 'row') : `${count(rows, 'row')}, such as “${example}”`),
    noWord: 'No word',
    question: (number: number) => `question ${number}`,
    laterQuestion: 'a later question',
    enter: 'Enter',
    answered: 'Your answers',
    change: 'Change',
    given: (about: string, value: string) => `${about}: ${value}`,
    orders: { dmy: 'day first', mdy: 'month first', leave: 'left out' } as Record<string, string>,
    decimalsAre: { point: 'a point before decimals', comma: 'a comma before decimals' } as Record<string, string>,
    subjects: { order: 'Dates', decimals: 'Amounts', currency: 'Currency', column: 'Column' } as Record<string, string>,
  },
}
