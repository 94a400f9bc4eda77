import { listRows } from '#contract/import/texts.ts'
import { count } from '#web/ui/texts.ts'

export const texts = {
  title: 'Import invoices',
  dropHint:
    'From Zoho, Xero, QuickBooks, FreshBooks, Stripe, Wave, Razorpay, Excel or any other program that exports CSV or .xlsx. Nothing is saved until you confirm.',
  columnsHint:
    'Required columns: client name, client email, amount and due date. Optional: amount paid, balance, status, reference and currency.',
  fields: {
    clientName: 'Client name',
    clientEmail: 'Client email',
    amount: 'Amount',
    dueDate: 'Due date',
    issuedOn: 'Issued on',
    amountPaid: 'Amount paid',
    balance: 'Balance',
    status: 'Status',
    reference: 'Reference',
    currency: 'Currency',
  },
  source: {
    found: (program: string) => `This looks like ${program}.`,
    label: 'Exported from',
    other: 'Another program',
    names: {
      zoho: 'Zoho',
      xero: 'Xero',
      quickbooks: 'QuickBooks',
      freshbooks: 'FreshBooks',
      wave: 'Wave',
      invoiceNinja: 'Invoice Ninja',
      stripe: 'Stripe',
      razorpay: 'Razorpay',
    },
    daysToPay: 'Days to pay',
    noDueDates: 'This file has no due dates. Duely adds this many days to the date of each invoice.',
    noEmails: 'This file has no email addresses. Add a list of your clients.',
    addClients: 'Choose a list',
    notClients: 'This file has no column of names with one of emails. Please choose another.',
  },
  missing: (fields: string) => `Choose the columns for ${fields} to see the invoices. If one is missing from the file, add it there first.`,
  owedInstead: (owed: string, chosen: string) =>
    `“${owed}” contains the amount still owed. With “${chosen}” you may ask for money that was already paid.`,
  chooseOwed: (owed: string) => `Use “${owed}”`,
  preview: 'Preview',
  tabs: {
    all: (n: number) => `All (${n})`,
    ready: (n: number) => `Ready (${n})`,
    update: (n: number) => `Updates (${n})`,
    missing: (n: number) => `Missing (${n})`,
    noted: (n: number) => `To look at (${n})`,
    same: (n: number) => `Unchanged (${n})`,
    bad: (n: number) => `With problems (${n})`,
    duplicate: (n: number) => `Duplicates (${n})`,
    left: (n: number) => `Left out (${n})`,
  },
  row: 'Line',
  of: (total: string) => `of ${total}`,
  planLimit: (left: number, over: number, unlimited: string) =>
    `Your plan has room for ${count(left, 'more invoice', 'more invoices')} this month. The other ${over} will be skipped and listed, so you can import them later. ${unlimited} has no limit.`,
  keep: 'Import duplicates too',
  statuses: {
    title: (words: number) => (words === 1 ? "We don't know one status" : `We don't know ${words} statuses`),
    label: (word: string) => `Import "${word}" as`,
    lines: (lines: number) => (lines === 1 ? 'for 1 line' : `for all ${lines.toLocaleString('en-IN')} lines`),
    choices: { unpaid: 'Unpaid', overdue: 'Overdue', paid: 'Paid', leave: 'Leave out' },
    more: (words: number) => `and ${words.toLocaleString('en-IN')} more. Is this the column with statuses?`,
  },
  noneHere: 'No lines here.',
  again: {
    label: (invoices: number) => `Update ${count(invoices, 'invoice that is', 'invoices that are')} here already`,
    hint: 'What is owed, the due date and that it is paid follow the file. Names and emails stay.',
    missing: 'Missing means paid',
    missingHint: (invoices: number) =>
      `${count(invoices, 'open invoice', 'open invoices')} from earlier files ${invoices === 1 ? 'is' : 'are'} not in this one. Look through the list first.`,
    same: 'Unchanged',
    submit: (fresh: number, changed: number) =>
      [
        fresh > 0 ? `Import ${fresh.toLocaleString('en-IN')} new` : '',
        changed > 0 ? `${fresh > 0 ? 'update' : 'Update'} ${count(changed, 'invoice')}` : '',
      ]
        .filter((part) => part !== '')
        .join(', '),
    doneTitle: (fresh: number, updated: number, unchanged: number) =>
      `${fresh.toLocaleString('en-IN')} new, ${updated.toLocaleString('en-IN')} updated, ${unchanged.toLocaleString('en-IN')} unchanged`,
    noted: (invoices: number) => `${count(invoices, 'invoice')} to look at`,
    undone: (deleted: number, restored: number) => `${count(deleted, 'invoice')} deleted, ${restored.toLocaleString('en-IN')} as before.`,
    kept: (messages: string[]) => `Undone, but for ${count(messages.length, 'invoice')}: ${messages.slice(0, 3).join(' ')}`,
  },
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
  lines: (rows: number[]) => `${rows.length === 1 ? 'Line' : 'Lines'} ${listRows(rows)}`,
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
