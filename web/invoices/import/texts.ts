import { count } from '#web/ui/texts.ts'

export const texts = {
  title: 'Import invoices',
  drop: 'Drop a CSV file here, or choose one',
  dropHint:
    'From Zoho, Xero, QuickBooks, FreshBooks, Stripe, Wave, Razorpay, Excel or any other program that exports CSV. Nothing is saved until you confirm.',
  choose: 'Choose a CSV file',
  chooseOther: 'Choose another file',
  columnsHint: 'Required columns: client name, client email, amount and due date. Optional: status, reference and currency.',
  tooBig: 'This file is larger than 10 MB. Please split it and import the parts separately.',
  tooLong: (most: string) => `This file has more than ${most} lines. Please split it and import the parts separately.`,
  unreadable: "Couldn't read this file. Please save it as CSV and try again.",
  unknownEncoding: "Couldn't read the characters in this file. Please save it as “CSV UTF-8” and choose it again.",
  notCsv: 'This is a spreadsheet, not a CSV file. In Excel or Google Sheets, save or download it as CSV and choose that file.',
  empty: 'This file has no lines.',
  columns: 'Match columns',
  fields: {
    clientName: 'Client name',
    clientEmail: 'Client email',
    amount: 'Amount owed',
    dueDate: 'Due date',
    status: 'Status',
    reference: 'Reference',
    currency: 'Currency',
  },
  column: (number: number) => `Column ${number}`,
  none: 'Not in the file',
  choosePlease: 'Choose...',
  header: 'First line contains column names',
  dates: 'Date format',
  dateOrders: { dmy: 'day/month/year', mdy: 'month/day/year' },
  headerAt: (row: number) => `Line ${row} contains column names`,
  missing: (fields: string) => `Choose the columns for ${fields} to see the invoices. If one is missing from the file, add it there first.`,
  owedInstead: (owed: string, chosen: string) =>
    `“${owed}” contains the amount still owed. With “${chosen}” you may ask for money that was already paid.`,
  chooseOwed: (owed: string) => `Use “${owed}”`,
  preview: 'Preview',
  tabs: {
    all: (n: number) => `All (${n})`,
    ready: (n: number) => `Ready (${n})`,
    bad: (n: number) => `With problems (${n})`,
    duplicate: (n: number) => `Duplicates (${n})`,
    left: (n: number) => `Left out (${n})`,
  },
  row: 'Line',
  planLimit: (left: number, over: number, unlimited: string) =>
    `Your plan has room for ${count(left, 'more invoice', 'more invoices')} this month. The other ${over} will be skipped and listed, so you can import them later. ${unlimited} has no limit.`,
  duplicateOf: (reference: string) => `Duplicate: ${reference} has the same client email, amount and due date.`,
  duplicateRow: (row: number) => `Duplicate: line ${row} has the same client email, amount and due date.`,
  keep: 'Import duplicates too',
  referenceTaken: (reference: string) => `Another invoice already has the reference ${reference}.`,
  unknownStatus: (status: string) => `We don't know the status "${status}". Choose how to import it.`,
  statuses: {
    title: (words: number) => (words === 1 ? "We don't know one status" : `We don't know ${words} statuses`),
    label: (word: string) => `Import "${word}" as`,
    lines: (lines: number) => (lines === 1 ? 'for 1 line' : `for all ${lines.toLocaleString('en-IN')} lines`),
    choices: { unpaid: 'Unpaid', overdue: 'Overdue', paid: 'Paid', leave: 'Leave out' },
    more: (words: number) => `and ${words.toLocaleString('en-IN')} more. Is this the column with statuses?`,
  },
  left: {
    draft: 'A draft: your client has not received this invoice.',
    void: 'This invoice is void.',
    cancelled: 'This invoice is cancelled.',
    deleted: 'This invoice was deleted or rejected.',
    writtenOff: 'This invoice was written off or refunded.',
    settled: 'Nothing is owed: the balance is 0.',
    credit: 'This is a credit, not an amount that is owed.',
    total: 'This line is a total, not an invoice.',
    type: (type: string) => `This line is not an invoice: its type is “${type}”.`,
    item: (row: number) => `Another item of the invoice in line ${row}.`,
    chosen: (status: string) => `Left out, as you chose for "${status}".`,
  },
  severalCurrencies: (one: string, other: string) => `The file gives two currencies for this amount, ${one} and ${other}. Please keep one.`,
  noBalance: 'Partially paid, but the file has no column with the balance. Please enter what is still owed.',
  unclearAmount: (amount: string) => `"${amount}" can be read as two different amounts. Please write it as 5000.50.`,
  unclearItems: (reference: string, rows: number[]) =>
    `Lines ${list(rows)} have the reference ${reference} and different amounts, so what is owed is unclear.`,
  noAmount: 'Please enter an amount such as 5000.50.',
  noDate: 'Please enter a date such as 31/03/2026.',
  noneHere: 'No lines here.',
  submit: (invoices: number) => `Import ${count(invoices, 'invoice')}`,
  nothing: 'Nothing to import',
  cancel: 'Cancel',
  progress: (done: number, of: number) => `${done.toLocaleString('en-IN')} of ${count(of, 'line')} processed`,
  stop: 'Stop',
  stopping: 'Stopping...',
  doneTitle: (invoices: number) => `${count(invoices, 'invoice')} imported`,
  noneTitle: 'Nothing was imported',
  noEmails: 'No emails were sent.',
  notImported: (rows: number) => `${count(rows, 'line was', 'lines were')} not imported`,
  lines: (rows: number[]) => `${rows.length === 1 ? 'Line' : 'Lines'} ${list(rows)}`,
  moreReasons: (rows: number) => `and ${count(rows, 'line')} more, all in the file.`,
  save: 'Save these lines as CSV',
  savedName: 'duely-not-imported.csv',
  savedRow: 'Line',
  savedReason: 'Not imported because',
  late: {
    title: (invoices: number) =>
      `${count(invoices, 'invoice is', 'invoices are')} past due, and daily reminders are on. What should happen?`,
    choices: { hold: 'Hold until I review them', remind: 'Remind from tomorrow', paid: 'Mark as paid' },
    hints: {
      hold: 'They are held now. No reminders until you resume them.',
      remind: 'They join the daily reminders from tomorrow.',
      paid: 'They were paid already. Their clients get no reminder.',
    },
    busy: 'Saving...',
    failed: (message: string) => `Your choice could not be saved. ${message} Until then, these invoices are held.`,
    done: {
      hold: (invoices: number) => `${count(invoices, 'invoice is', 'invoices are')} held until you resume reminders.`,
      remind: (invoices: number) => `Reminders for ${count(invoices, 'invoice')} begin tomorrow.`,
      paid: (invoices: number) => `${count(invoices, 'invoice is', 'invoices are')} marked as paid.`,
    },
  },
  interrupted: (message: string, unsure: number) =>
    `The import was interrupted. ${message} ${unsure === 0 ? '' : `${count(unsure, 'line')} may already be saved. `}Continue to import the rest; no line is added twice.`,
  interruptedTitle: 'Import interrupted',
  noneArrived: 'No lines of this file were saved.',
  stopped: (rows: number) => `Stopped. ${count(rows, 'line was', 'lines were')} not imported yet.`,
  continue: 'Continue',
  close: 'Done',
  undo: 'Undo import',
  undoBusy: 'Undoing...',
}

const listed = 6

/** `3`, `3 and 4`, `3, 4, 5 and 90 more`. */
function list(rows: number[]): string {
  const shown = rows.length > listed + 1 ? [...rows.slice(0, listed), `${(rows.length - listed).toLocaleString('en-IN')} more`] : rows
  const last = shown.at(-1)
  return shown.length < 2 ? String(last ?? '') : `${shown.slice(0, -1).join(', ')} and ${last}`
}
