import type { BankEvidence } from '#contract/bank-file.ts'
import { formatDate } from '#contract/dates.ts'
import { formatMoney } from '#contract/money.ts'
import { shortName } from '#contract/notices.ts'
import type { Answer } from './answers.ts'

const listed = new Intl.ListFormat('en', { type: 'conjunction' })

/** The sentences that customers read of this slice. */
export const texts = {
  noClient: 'There is no such client.',
  noAnswer: 'There is no such answer.',
  decided: 'This answer is not open any more.',
  recordedAlready: (amount: string) =>
    `${amount} with this reference is recorded already. If this is another payment, please change its reference; if not, choose “Recorded already”.`,
  whichAmount: 'Please enter the amount that was paid.',
  whichContact: 'Please enter the email of the right person.',
  wrongBrandLogo: 'Please choose a PNG of at most 60 KB and 600 × 200 pixels.',
  noWhiteLabel: (plan: string) => `A logo and a colour of your own are part of ${plan}.`,
  wrongBic: 'This BIC is not right. Please check its letters.',
  file: {
    wrongType: 'Please send a PDF with the header Content-Type: application/pdf.',
    notPdf: 'Please choose a PDF.',
    tooLarge: 'Please choose a PDF of at most 3 MiB.',
    noRoom: 'All PDFs of your account may be 200 MiB together. Please remove one first.',
    none: 'This invoice has no PDF.',
  },
  keysRefused: (words: string) => `Razorpay refused these keys: ${words}`,
  providerAway: 'Razorpay did not answer. Please try again in a few minutes.',
  connectAgain: 'Someone who left knows these keys. Generate new ones at Razorpay, and connect them under Getting Paid.',
  knownKeys: 'Someone who left knows this secret. Please generate a new key at Razorpay, and enter its secret.',
  onlyTestKeys: 'Only test keys can be tried. Clients pay with live keys.',
  wrongSignature: 'This webhook was not signed with the secret of this address.',
  noHook: 'There is no webhook at this address.',
  changed: {
    title: 'How clients pay you was changed',
    text: 'Reminders and pay pages use the new details from now on. If this was not you, set a new password and check every detail.',
  },
}

/** The sentences of the pay page, which clients read. */
export const pageTexts = {
  title: (reference: string, business: string) => `Invoice ${reference} from ${business}`,
  statementTitle: (business: string) => `Open invoices from ${business}`,
  invoice: (reference: string) => `Invoice ${reference}`,
  openInvoices: 'Open invoices',
  toPay: 'to pay',
  forClient: (client: string, due: string) => `For ${client} · due ${due}`,
  forClientAll: (client: string) => `For ${client}`,
  overdue: (days: number) => `${days} ${days === 1 ? 'day' : 'days'} overdue`,
  due: (date: string) => `due ${date}`,
  soFar: (total: string, paid: string) => [`${total} in total, `, `${paid} paid`, ' so far.'] as const,
  upi: 'Pay by UPI',
  openUpi: 'Open a UPI app',
  scan: 'Or scan the code with your phone.',
  upiId: 'UPI ID',
  upiRefused: (reference: string) => ['If your app refuses, pay to this UPI ID and write ', reference, ' as the note.'] as const,
  upiLarge: 'Many banks refuse UPI above ₹1,00,000. A bank transfer works.',
  refund: 'Refund',
  credit: 'Credit note',
  upiCode: (amount: string) => `UPI QR code for ${amount}`,
  bank: 'Pay by bank transfer',
  bankCode: (amount: string) => `QR code of a bank transfer of ${amount}`,
  bankScan: 'Or scan the code with the app of your bank.',
  bankReference: (reference: string) => ['Please write ', reference, ' as the reference.'] as const,
  online: 'Pay online',
  payOnline: (amount: string) => `Pay ${amount} online`,
  onlineTold: (business: string) => `${business} is told at once.`,
  /** What the provider shows, and the owner finds there. */
  onlineFor: (references: string[]) =>
    references.length === 1 ? `Invoice ${references[0]}` : `Invoices ${listed.format(references)}`.slice(0, 2_000),
  onlineTrial: 'A test payment',
  confirming: 'Your payment is being confirmed.',
  anotherAmount: 'Pay another amount',
  amount: 'Amount',
  show: 'Show',
  paying: (amount: string) => `Paying ${amount} now`,
  amountRange: (least: string, most: string) => `Please enter an amount from ${least} to ${most}.`,
  file: 'Download the invoice (PDF)',
  statement: 'Statement',
  statementFile: 'Download this statement (PDF)',
  /** The heads of a statement's table. */
  columns: { invoice: 'Invoice', due: 'Due', total: 'Total', paid: 'Paid', balance: 'To pay' },
  pay: (amount: string) => `Pay ${amount}`,
  pageOf: (page: number, pages: number) => `page ${page} of ${pages}`,
  payments: 'Payments so far',
  waysToPay: 'Ways to pay',
  other: 'Something else?',
  answers: {
    paid: 'I have paid',
    promise: 'I will pay on a date',
    question: 'I have a question, or this is wrong',
    wrong_person: 'I am the wrong person',
  },
  paidOn: 'Paid on',
  paymentReference: 'Payment reference',
  paymentReferenceHint: 'Such as the UTR of your UPI app',
  payBy: 'I will pay by',
  message: 'Your message',
  wrongPerson: 'This invoice is not for me',
  rightName: 'Name of the right person, if you know it',
  rightEmail: 'Their email, if you know it',
  leaveEmpty: 'Leave this field empty',
  tell: (business: string) => `Tell ${business}`,
  takeBack: 'Take this back',
  footer: 'This page is about this invoice only. Please keep the link to yourself.',
  statementFooter: 'This page is about your open invoices only. Please keep the link to yourself.',
  noMethod: 'Please reply to the email to ask how to pay.',
  paid: 'Paid.',
  thanks: 'Thank you.',
  nothingOpen: 'Nothing is open at the moment.',
  paidLine: (amount: string, last: string | null) => [`${amount} paid`, last === null ? '.' : `, the last on ${last}.`] as const,
  paidFor: (client: string, amount: string, reference: string) => `For ${client} · ${amount} · ${reference}`,
  said: {
    paid: (business: string, until: string | null) =>
      `You told ${business} that you have paid. They are checking it${until === null ? '.' : `; reminders wait until ${until}.`}`,
    notFound: (business: string) => `${business} could not find this payment yet. Please check it, or write to them.`,
    promise: (business: string, date: string) => `Thank you. ${business} knows that you will pay by ${date}.`,
    question: (business: string) => `Your message was sent. ${business} answers by email.`,
    wrong_person: (business: string) => `Thank you. ${business} has been told.`,
  },
  copy: 'Copy',
  copied: 'Copied',
  gone: { title: 'This link does not work any more', text: 'Please ask whoever sent it for a new one.' },
  tooMany: { title: 'Too many tries', text: 'Too many tries. Please wait a few minutes.' },
  unread: 'This cannot be read',
  failed: { title: 'This page cannot be shown right now', text: 'Please try again in a few minutes.' },
  errors: {
    amountRange: 'Please check the amount.',
    filled: 'Please leave the last field empty.',
    online: 'The online payment could not be started. Nothing was charged. Please try again, or pay another way.',
    changed: 'The amount has changed since you opened this page. Please look again.',
    date: 'Please choose a day within the next 30 days.',
    pastDate: 'Please choose today or an earlier day.',
    amount: 'Please enter the amount that you paid.',
    reference: 'Please enter the reference of your payment.',
    message: 'Please write your message.',
    wrongPerson: 'Please tick the box.',
    email: 'Please enter an email such as name@example.com.',
  },
}

/** The most references that a title names. */
const mostNamed = 3

function named(invoices: { clientName: string; reference: string }[]): { client: string; references: string } {
  const references = invoices.map(({ reference }) => reference)
  const more = references.length - mostNamed
  const shown = more > 0 ? [...references.slice(0, mostNamed), `${more} more`] : references
  return { client: invoices[0]?.clientName ?? 'A client', references: references.length === 0 ? 'an invoice' : listed.format(shown) }
}

/** What the owner learns of a payment online, or of an answer. Clients wrote the quoted words. */
export const noticeTexts = {
  /** Amounts in units. `isRecorded`: in the payments of its invoices; `isSecond`: the same link was paid before. */
  paidOnline: (about: {
    invoices: { clientName: string; reference: string; deletedAt: unknown }[]
    amount: number
    currency: string
    asked: number
    isRecorded: boolean
    isSecond: boolean
  }) => {
    const { invoices, amount, currency, asked } = about
    const { client, references } = named(invoices)
    const paid = formatMoney(amount, currency)
    const deleted = invoices.filter(({ deletedAt }) => deletedAt !== null)
    const sentences = [
      about.isRecorded ? `${paid} through Razorpay.` : `${paid} through Razorpay, which Duely could not record. Please check it there.`,
      about.isSecond ? 'The same payment link was paid before.' : '',
      amount === asked && currency === 'INR' ? '' : `${formatMoney(asked, 'INR')} was asked for.`,
      deleted.length === 0 ? '' : `${named(deleted).references} was deleted: restore it, or pay the client back.`,
    ]
    return {
      title: `${client} paid ${references} online`,
      summary: `${shortName(client)} paid online`,
      text: sentences.filter((one) => one !== '').join(' '),
    }
  },
  reserved: (invoices: { clientName: string; reference: string }[]) => {
    const { client, references } = named(invoices)
    return {
      title: `${client} paid ${references} online, and the money is not captured`,
      summary: `${shortName(client)} paid, not captured`,
      text: 'Razorpay only reserved it. Capture it there, or it goes back to the client.',
    }
  },
  trial: {
    title: 'Your test payment arrived',
    summary: 'Your test payment arrived',
    text: 'Razorpay is connected. With live keys, clients can pay online.',
  },
  /** Amounts in units. `taken`: of the refund, off the payments of its invoices; `open`: those that `balance` is left to pay of. */
  refunded: (about: {
    invoices: { clientName: string; reference: string }[]
    amount: number
    currency: string
    taken: number
    open: { clientName: string; reference: string }[]
    balance: number
  }) => {
    const { amount, currency, taken, open } = about
    const { client, references } = named(about.invoices)
    const be = open.length === 1 ? 'is' : 'are'
    const sentences = [
      taken === amount ? 'Duely took it off the recorded payments.' : '',
      taken < amount
        ? `Duely took ${taken === 0 ? 'nothing' : `only ${formatMoney(taken, currency)}`} off the recorded payments, because no more is recorded as paid. Please check them.`
        : '',
      open.length === 0
        ? ''
        : `${named(open).references} ${be} open with ${formatMoney(about.balance, 'INR')} to pay, and ${be} reminded once past due.`,
    ]
    return {
      title: `Razorpay refunded ${client} ${formatMoney(amount, currency)} for ${references}`,
      summary: `${shortName(client)} was refunded`,
      text: sentences.filter((one) => one !== '').join(' '),
    }
  },
  refundOf: (paymentId: string) => `Refund of ${paymentId}`,
  /** `own`: the pause of the owner, which the answer left as it was. */
  answered: (about: {
    client: string
    reference: string
    currency: string
    answer: Answer
    until: string | null
    own: { until: string | null } | null
  }) => {
    const { client, reference, currency, answer, until, own } = about
    const notPaused = own
      ? `You have paused its reminders${own.until === null ? '' : ` until ${formatDate(own.until)}`}.`
      : 'Its reminders are not paused.'
    const waits = until === null ? notPaused : `Its reminders wait until ${formatDate(until)}.`
    switch (answer.kind) {
      case 'paid':
        return {
          title: `${client} says ${reference} is paid`,
          text: `${formatMoney(answer.amount, currency)} on ${formatDate(answer.date)}, reference ${answer.reference}. ${waits}`,
        }
      case 'promise':
        return { title: `${client} will pay ${reference} by ${formatDate(answer.date)}`, text: waits }
      case 'question':
        return { title: `${client} asks about ${reference}`, text: `“${answer.message}” ${waits}` }
      case 'wrong_person': {
        const right = [answer.name, answer.email].filter((part) => part !== '').join(', ')
        return {
          title: `${client} is not the right person for ${reference}`,
          text: right === '' ? waits : `The right person: ${right}. ${waits}`,
        }
      }
    }
  },
  lapsed: {
    paid: (client: string, reference: string) => `${client} said ${reference} was paid, and no payment is recorded`,
    recorded: (client: string, reference: string) => `${client} said ${reference} was paid, and nothing was decided`,
    promise: (client: string, reference: string, date: string) =>
      `${client} will pay ${reference} by ${formatDate(date)}, and nothing was decided`,
    question: (client: string, reference: string) => `${client} asked about ${reference}, and nothing was decided`,
    wrong_person: (client: string, reference: string) => `${client} is not the right person for ${reference}, and nothing was decided`,
    text: (until: string | null) =>
      until === null ? 'Its reminders go on.' : `Its reminders wait until ${formatDate(until)}, as promised.`,
  },
}

/** What a review of a bank file says about a line, and why an import is refused. */
type Evidence = Pick<BankEvidence, 'text'>

/** Quotations of a reason; a row can name a hundred invoices. */
const mostQuoted = 4

/** “INV-0018” and “KAVERI FOODS” are in the row, and so on. */
function inRow(evidence: Evidence[], rest: string): string {
  const words = [...new Set(evidence.map(({ text }) => `“${text}”`))]
  const others = words.length - mostQuoted
  const quoted = others > 1 ? [...words.slice(0, mostQuoted), `${others} others`] : words
  return `${listed.format(quoted)} ${words.length === 1 ? 'is' : 'are'} in the row${rest}`
}

export const bankTexts = {
  recorded: 'Recorded before.',
  perhapsRecorded: (reference: string) => `Perhaps recorded already: ${reference} has a payment of this amount from about that day.`,
  named: (evidence: Evidence[]) => inRow(evidence, '.'),
  namedTogether: (evidence: Evidence[]) => inRow(evidence, ', and their balances add up to this amount.'),
  namedButMore: (evidence: Evidence[], reference: string, balance: string) =>
    inRow(evidence, `, but only ${balance} of ${reference} is still to pay.`),
  namedButOther: (evidence: Evidence[], sum: string) => inRow(evidence, `, of which ${sum} is still to pay.`),
  answered: (evidence: Evidence[], client: string) => inRow(evidence, `, and ${client} named it.`),
  amountAndName: (evidence: Evidence[], reference: string) => inRow(evidence, `, and the amount is the balance of ${reference}.`),
  amountOnly: (reference: string) => `Only ${reference} has this balance.`,
  future: 'Please choose today or an earlier day.',
  notTheSum: 'The amounts of the invoices must add up to the amount of the line.',
  twiceInLine: 'Please name each invoice once in a line.',
  namedElsewhere: (evidence: Evidence[], currency: string) =>
    inRow(evidence, `, and that invoice is in ${currency}. How much of it was paid? Record that on the invoice.`),
  otherCurrency: (reference: string, own: string, asked: string) => `${reference} is in ${own}, not in ${asked}.`,
  invoiceGone: 'An invoice was deleted meanwhile. Please match the file again.',
  keyUsed: 'This Idempotency-Key was used for another import.',
  paymentGone: 'A payment to take back was not found. Choose the file again.',
  importNotFound: 'This import was not found.',
  voided: (payments: number) => `${payments} ${payments === 1 ? 'payment' : 'payments'} of a bank file`,
}
