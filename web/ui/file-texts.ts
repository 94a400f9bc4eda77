/** Texts of the choice of a CSV file and its columns. */
export const fileTexts = {
  drop: 'Drop a CSV file here, or choose one',
  choose: 'Choose a CSV file',
  chooseOther: 'Choose another file',
  tooBig: 'This file is larger than 10 MB. Please split it and import the parts separately.',
  tooLong: (most: string) => `This file has more than ${most} lines. Please split it and import the parts separately.`,
  unreadable: "Couldn't read this file. Please save it as CSV and try again.",
  unknownEncoding: "Couldn't read the characters in this file. Please save it as “CSV UTF-8” and choose it again.",
  notCsv: 'This is a spreadsheet, not a CSV file. In Excel or Google Sheets, save or download it as CSV and choose that file.',
  empty: 'This file has no lines.',
  columns: 'Match columns',
  column: (number: number) => `Column ${number}`,
  none: 'Not in the file',
  choosePlease: 'Choose...',
  header: 'First line contains column names',
  headerAt: (row: number) => `Line ${row} contains column names`,
  dates: 'Date format',
  dateOrders: { dmy: 'day/month/year', mdy: 'month/day/year' },
}

const listed = 6

/** `3`, `3 and 4`, `3, 4, 5 and 90 more`. */
export function listRows(rows: number[]): string {
  const shown = rows.length > listed + 1 ? [...rows.slice(0, listed), `${(rows.length - listed).toLocaleString('en-IN')} more`] : rows
  const last = shown.at(-1)
  return shown.length < 2 ? String(last ?? '') : `${shown.slice(0, -1).join(', ')} and ${last}`
}
