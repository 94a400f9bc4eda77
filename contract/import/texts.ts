/** What is wrong with a line of a file, or why it is left out. */
export const texts = {
  waits: 'Waits for your answer.',
  duplicateOf: (reference: string) => `Duplicate: ${reference} has the same client email, amount and due date.`,
  duplicateRow: (row: number) => `Duplicate: line ${row} has the same client email, amount and due date.`,
  referenceTwice: (reference: string) => `Another line of the file has the reference ${reference} too.`,
  stillOpen: (reference: string) => `${reference} is still open here.`,
  missing: (reference: string) => `${reference} is open here and not in the file.`,
  referenceTaken: (reference: string) => `Another invoice already has the reference ${reference}.`,
  unknownStatus: (status: string) => `We don't know the status "${status}". Choose how to import it.`,
  left: {
    draft: 'A draft: your client has not received this invoice.',
    void: 'This invoice is void.',
    cancelled: 'This invoice is cancelled.',
    deleted: 'This invoice was deleted or rejected.',
    deletedHere: (reference: string) => `${reference} was deleted here. It stays deleted.`,
    writtenOff: 'This invoice was written off or refunded.',
    settled: 'Nothing is owed: the balance is 0.',
    credit: 'This is a credit, not an amount that is owed.',
    total: 'This line is a total, not an invoice.',
    type: (type: string) => `This line is not an invoice: its type is “${type}”.`,
    item: (row: number) => `Another item of the invoice in line ${row}.`,
    chosen: (status: string) => `Left out, as you chose for "${status}".`,
    chosenDate: 'Left out, as you chose for its date.',
    chosenLines: 'Left out, as you chose for rows with one number.',
  },
  credit: {
    offered: (amount: string, reference: string, from: string, to: string) =>
      `Credit note of ${amount} for ${reference}. It lowers what is to pay from ${from} to ${to}.`,
    gone: (amount: string, reference: string) => `Credit note of ${amount} for ${reference}. This client has no such invoice here.`,
    paid: (amount: string, reference: string) => `Credit note of ${amount} for ${reference}, which is paid.`,
    more: (amount: string, reference: string, toPay: string) =>
      `Credit note of ${amount} for ${reference}, of which ${toPay} is to pay. If its payments lack this credit, record it on the invoice.`,
  },
  severalCurrencies: (one: string, other: string) => `The file gives two currencies for this amount, ${one} and ${other}. Please keep one.`,
  formula: 'A formula without its result. Open the file in Excel, save it, and choose it again.',
  statusesDiffer: 'One column says that this invoice is paid, and another that it is not.',
  paidButOwed: (status: string, balance: string) => `The file says “${status}”, and that ${balance} is owed.`,
  noBalance: 'Partially paid. Please choose the column with the balance or the amount paid, or enter what is still owed.',
  unclearAmount: (amount: string) => `"${amount}" can be read as two different amounts. Please write it as 5000.50.`,
  unclearItems: (reference: string, rows: number[]) =>
    `Lines ${listRows(rows)} have the reference ${reference} and different amounts, so what is owed is unclear.`,
  noAmount: 'Please enter an amount such as 5000.50.',
  unknownLanguage: (language: string) =>
    `We don't know the language "${language}". Enter a tag such as de, or write its texts under Email Templates first.`,
  noDate: 'Please enter a date such as 31/03/2026.',
}

const listed = 6

/** `3`, `3 and 4`, `3, 4, 5 and 90 more`. */
export function listRows(rows: number[]): string {
  const shown = rows.length > listed + 1 ? [...rows.slice(0, listed), `${(rows.length - listed).toLocaleString('en-IN')} more`] : rows
  const last = shown.at(-1)
  return shown.length < 2 ? String(last ?? '') : `${shown.slice(0, -1).join(', ')} and ${last}`
}
