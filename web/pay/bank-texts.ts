import type { Left } from '#contract/import/bank.ts'
import type { Direction, State } from '#contract/import/bank-words.ts'
import type { StatementFormat } from '#contract/import/statement.ts'
import type { QuestionTexts } from '#web/ui/file-questions.tsx'
import { count } from '#web/ui/texts.ts'
import type { Unread } from './bank-reading.ts'
import type { Group } from './bank-rows.ts'
import { bankCard } from './texts.ts'

/** The sentences of the import of a bank file. */
export const bankFileTexts = {
  title: bankCard.title,
  subtitle: 'Nothing is recorded before you press Record.',
  drop: {
    drop: 'Drop a bank file here, or choose one',
    choose: 'Choose a bank file',
    endings: ',.xml,.zip,.sta,.940,.942,.mt940,.swi,.ofx,.qfx,.qbo,.qif',
  },
  hint: 'Your bank statement as CAMT, MT940, OFX, QIF, CSV or Excel. Only incoming payments are read, and only those that you record are kept.',
  columnsHint: 'In CSV and Excel, dates and amounts are required. Descriptions, references and names help to find the invoices.',
  opening: 'Reading the file...',
  unread: {
    workbook: "Couldn't read this file. Save or download it as .xlsx or CSV and choose that file.",
    'unknown-encoding': "Couldn't read the characters in this file. Save it as “CSV UTF-8” and choose it again.",
    empty: 'This file has no rows.',
    'long-row': 'This file has a row that is too long for a bank statement. Save it as CSV and choose it again.',
    'too-long': 'This file has more than 20,000 rows. Split it by date and import the parts one after the other.',
    hidden: 'All sheets of this workbook are hidden. Show the one with the transfers, save it, and choose it again.',
    unreadable: "Couldn't read this file. Choose it again.",
    slow: 'Reading this file takes too long. Save it as CSV and choose that file.',
  } satisfies Record<Unread['why'], string>,
  statement: (formats: StatementFormat[], accounts: string[]) =>
    [formats.join(', '), accounts.length === 1 ? spaced(accounts[0] ?? '') : count(accounts.length, 'account')].join(', '),
  notes: 'About this file',
  whichSheet: 'Which sheet has the transfers?',
  cardStatement: 'This is a statement of a card: nothing in it is a payment from a client. Choose the statement of your bank account.',
  columns: 'Columns',
  fields: {
    date: 'Date',
    amount: 'Amount',
    in: 'Money in',
    out: 'Money out',
    direction: 'In or out, in words',
    state: 'Status',
    currency: 'Currency',
    description: 'Description',
    reference: 'Reference',
    name: 'Name',
  },
  tooMany: 'At most 2,000 payments can be recorded at once. Untick some, and record the rest after these.',
  noLines: 'No incoming payments were found in this file.',
  loading: 'Comparing with your invoices...',
  failed: (message: string) => `The file could not be compared with your invoices. ${message}`,

  questions: {
    twoColumns: 'Money in and money out are in two columns',
    column: { date: 'Which column has the dates?', amount: 'Please choose the column with the amounts.' },
    direction: (column: string) => `In the column ${column}, which words mean money in?`,
    state: (column: string) =>
      column === ''
        ? 'Which of these words mean that money has arrived?'
        : `In the column ${column}, which words mean that money has arrived?`,
    account: 'Which account do your clients pay into?',
    allAccounts: 'All of these accounts',
    unsigned: (rows: number) =>
      rows === 1
        ? 'Did the money in this row come in or go out?'
        : `Did the money in these ${rows.toLocaleString('en-IN')} rows come in or go out?`,
    unsignedWhy: (column: string) => `${column} has no signs, and no other column says it.`,
    unmarked: (rows: number) => `${count(rows, 'row has', 'rows have')} no sign where others have one. Did their money come in or go out?`,
    choices: { in: 'In', out: 'Out', leave: 'Leave out', booked: 'Has arrived' },
    wide: { in: 'All of it came in', out: 'All of it went out', leave: 'Leave them out' },
    means: {
      in: 'Money in',
      out: 'Money out',
      leave: 'Left out',
      booked: 'Booked',
      pending: 'Pending, left out',
      failed: 'Failed, left out',
      cancelled: 'Cancelled, left out',
      returned: 'Returned, left out',
      refunded: 'Refunded, left out',
    } satisfies Record<Direction | State, string>,
    subjects: { direction: 'In or out', state: 'Status', account: 'Account' },
  },

  review: 'What will be recorded',
  summary: (parts: { sure: number; waits: number; left: number }) =>
    [
      parts.sure > 0 ? `${count(parts.sure, 'is', 'are')} certain` : '',
      parts.waits > 0 ? `${count(parts.waits, 'waits', 'wait')} for your answers` : '',
      parts.left > 0 ? `${count(parts.left, 'is', 'are')} left out` : '',
    ]
      .filter((part) => part !== '')
      .join(', '),
  head: { date: 'Date', amount: 'Amount', what: 'What it is', words: 'The bank’s words', why: 'Invoice, and why' },
  groups: {
    sure: 'Sure',
    likely: 'Please look',
    waits: 'Waiting for an answer',
    none: 'No match',
    recorded: 'Recorded before',
    left: 'Left out',
  } satisfies Record<Group, string>,
  moneyIn: 'Money in',
  moneyOut: 'Money out',
  booked: 'Booked',
  left: {
    pending: 'Pending, left out',
    failed: 'Failed, left out',
    cancelled: 'Cancelled, left out',
    returned: 'Returned, left out',
    refunded: 'Refunded, left out',
    leave: 'Left out, as you chose',
    sum: 'A balance or total of the bank',
    out: 'Money out',
    future: 'A date in the future, left out',
    info: 'For information only, left out',
    reversal: 'A reversal, left out',
    'came-back': 'A payment of yours that came back, left out',
  } satisfies Record<Left, string>,
  returned: (place: string) => `${sentence(place)} takes this amount back. Record it only if the money stayed.`,
  fee: (fee: string) => `Fee ${fee}`,
  rawRow: (place: string) => `${sentence(place)} as in the file`,
  sent: (amount: string) => `Sent as ${amount}`,
  noInvoiceFits: 'No invoice',
  showOut: (rows: number) => `Show ${count(rows, 'row')} of money out`,
  hideOut: 'Hide money out',
  tick: (amount: string, date: string) => `Record ${amount} of ${date}`,
  waiting: 'Waits for an answer',
  pays: (reference: string, client: string) => `${reference}, ${client}`,
  part: (amount: string, pays: string) => `${amount} for ${pays}`,
  inFull: 'paid in full',
  staysOpen: (amount: string) => `${amount} stay open`,
  paidByOthers: 'Other rows of this file pay this invoice already.',
  chosen: 'You chose this invoice.',
  openInvoice: (reference: string) => `Open ${reference}`,
  choose: 'Choose an invoice',
  chooseOther: 'Choose another invoice',
  forLine: (button: string, amount: string, date: string) => `${button} for ${amount} of ${date}`,
  search: 'Search open invoices',
  toPay: (amount: string) => `${amount} to pay`,
  noInvoice: 'No open invoice found.',
  more: (invoices: number) => `and ${invoices.toLocaleString('en-IN')} more; search for a client or a reference to find them.`,
  record: (payments: number) => `Record ${count(payments, 'payment')}`,
  recordSum: (payments: number, sum: string) => `Record ${count(payments, 'payment')}, ${sum}`,
  takeBackOnly: (back: number) => `Take ${count(back, 'payment')} back`,
  andTakeBack: (back: number) => `, and take ${back.toLocaleString('en-IN')} back`,
  tickBack: (amount: string, date: string) => `Take back ${amount} of ${date}`,
  takesBack: (date: string) => `This debit takes back the payment recorded on ${date}. Tick it if the money is gone.`,
  recording: 'Recording...',
  recordFailed: (message: string) => `The payments were not recorded. ${message}`,
  done: (payments: number, sums: string, invoices: number) =>
    `${count(payments, 'payment')} recorded${sums === '' ? '' : `, ${sums}`}. ${count(invoices, 'invoice is', 'invoices are')} paid.`,
  some: 'The other lines were recorded before.',
  undo: 'Undo',
  undoing: 'Undoing...',
  undone: (payments: number) => `${count(payments, 'payment')} taken back.`,
  undoFailed: (message: string) => `The payments were not taken back. ${message}`,
  back: 'Getting Paid',
  finish: 'Done',
  another: 'Import another file',
  other: 'Another file',
}

const asked = bankFileTexts.questions

/** What bank files are asked about. */
export const bankQuestions: QuestionTexts = {
  ...asked,
  fields: bankFileTexts.fields,
  choice: (about, value) => (about !== 'account' ? null : value === 'all' ? asked.allAccounts : spaced(value)),
  about: (question) => {
    if (question.about === 'account') return { title: asked.account }
    if (question.kind === 'words')
      return { title: question.about === 'state' ? asked.state(question.heading) : asked.direction(question.heading) }
    return question.id === 'direction/unmarked'
      ? { title: asked.unmarked(question.rows) }
      : { title: asked.unsigned(question.rows), why: asked.unsignedWhy(question.heading) }
  },
}

/** An account number as people write it: `DE89 3704 0044 0532 0130 00 EUR`. */
function spaced(account: string): string {
  return account.replace(/^[A-Z]{2}\d{2}[A-Z0-9]{10,30}(?= |$)/, (iban) => iban.replace(/.{4}(?=.)/g, '$& '))
}

function sentence(text: string): string {
  return text.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase())
}
