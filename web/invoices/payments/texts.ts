import type { Payment, PaymentMethod, PaymentOrigin } from '#contract/payments.ts'

const methods: Record<PaymentMethod, string> = {
  upi: 'UPI',
  bank: 'Bank transfer',
  card: 'Card',
  cash: 'Cash',
  cheque: 'Cheque',
  online: 'Online',
  other: 'Other',
}

/** Where a payment without a method comes from. */
const origins: Record<PaymentOrigin, string> = {
  marked: 'Marked as paid',
  by_hand: 'Recorded by hand',
  answer: 'Named by the client',
  bank_file: 'From a bank file',
  program: 'By a program',
  import: 'Imported',
  razorpay: 'Razorpay',
}

/** Texts of the panel 'Payments' and its dialogs. Amounts are formatted. */
export const paymentTexts = {
  title: 'Payments',
  none: 'No payment yet.',
  left: (balance: string, amount: string) => `${balance} of ${amount} still to pay`,
  overpaid: (amount: string) => `${amount} too much`,
  paidInFull: (amount: string) => `${amount} paid`,
  methods,
  /** `UPI · 632418907755`, `Refund · Cash`, `Credit note · CN-4` */
  about: (payment: Pick<Payment, 'method' | 'origin' | 'kind' | 'reference'>) =>
    [{ payment: '', refund: 'Refund', credit: 'Credit note' }[payment.kind], paymentTexts.details(payment)]
      .filter((part) => part !== '')
      .join(' · '),
  /** The same where the line shows already that it is a refund. */
  details: ({ method, origin, kind, reference }: Pick<Payment, 'method' | 'origin' | 'kind' | 'reference'>): string =>
    [method === null ? (kind === 'payment' ? origins[origin] : null) : methods[method], reference]
      .filter((part) => part !== null && part !== '')
      .join(' · '),
  takenBack: (date: string) => `taken back on ${date}`,
  record: 'Record payment',
  refund: 'Record refund',
  /** The accessible name of each row's button. */
  takeBackOf: (amount: string, date: string) => `Take back ${amount} of ${date}`,
  takeBack: {
    title: 'Take this payment back?',
    refundTitle: 'Take this refund back?',
    creditTitle: 'Take this credit note back?',
    action: 'Take back',
    busy: 'Taking it back...',
    opens: (reference: string, balance: string) => `${reference} is then open again with ${balance}, and is reminded if it is past due.`,
    asks: (reference: string, balance: string) => `${balance} of ${reference} is then still to pay.`,
    covered: (reference: string) => `${reference} stays paid.`,
    done: (amount: string, balance: string) => `${amount} taken back. ${balance} still to pay.`,
    donePaid: (amount: string, reference: string) => `${amount} taken back. ${reference} is paid.`,
  },
  payLink: {
    replace: 'Replace the link',
    title: (reference: string) => `Replace the pay link of ${reference}?`,
    body: 'The old link stops working, also in emails that were sent. The next email has the new one.',
    action: 'Replace',
    busy: 'Replacing...',
    replaced: 'The old link stops working.',
  },
  file: {
    add: 'Add PDF',
    adding: 'Adding...',
    added: (name: string) => `${name} added.`,
    replace: 'Replace PDF',
    download: 'Download PDF',
    downloading: 'Downloading...',
    remove: 'Remove PDF',
    removing: 'Removing...',
    removed: 'PDF removed.',
    removeTitle: (reference: string) => `Remove the PDF of ${reference}?`,
    removeBody: 'The pay page and further reminders are without it.',
    tooLarge: 'Please choose a PDF of at most 3 MiB.',
  },
  dialog: {
    about: (reference: string, client: string) => `${reference}, ${client}`,
    amount: 'Amount',
    paidOn: 'Paid on',
    paidBackOn: 'Paid back on',
    how: 'How',
    noMethod: 'Not specified',
    reference: 'Reference',
    referenceHint: 'Such as the UTR',
    note: 'Note',
    noteHint: 'For you, never sent to the client',
    submit: 'Record',
    busy: 'Recording...',
    cancel: 'Cancel',
    future: 'Please choose today or an earlier day.',
    mostRefund: (most: string) => `At most ${most} can be refunded.`,
    failed: (message: string) => `The payment was not recorded. ${message}`,
    recorded: (amount: string, balance: string) => `${amount} recorded. ${balance} still to pay.`,
    refunded: (amount: string) => `Refund of ${amount} recorded.`,
    paid: (reference: string) => `${reference} is paid. No more reminders go out for it.`,
  },
}
