import { formatDate } from '#contract/dates.ts'
import { isAddressRefusal } from '#contract/delivery-problem.ts'
import { formatSums, type Money } from '#contract/money.ts'
import { shortName } from '#contract/notices.ts'
import type { PaymentKind } from '#contract/payments.ts'

/** The sentences that customers read of this slice. */
export const texts = {
  signIn: 'Please sign in.',
  notFound: 'This invoice does not exist, or it was deleted.',
  // Fixed by the specification.
  noInvoice: 'There is no such invoice.',
  ownAddress: 'This is the client’s own address.',
  mostCopies: (most: number) => `A client can have up to ${most} further recipients.`,
  noClient: 'This client does not exist, or has no invoices any more.',
  referenceTaken: (reference: string) => `Another invoice already has the reference ${reference}.`,
  firstPage: 'Please start again from the first page.',
  tooManyOpen: (most: number) =>
    `An account can have ${most.toLocaleString('en-IN')} open invoices, and yours has that many. Mark some as paid or delete them, then try again.`,
  tooManyLayouts: (most: number) => `You keep ${most} layouts of such files, the most there can be. Delete one that you no longer need.`,
  layoutNotFound: 'This layout was deleted already.',
  tooManyNotes: (most: number) => `An invoice can have ${most} notes, and this one has that many.`,
  pastDay: 'Please choose today or a later day.',

  keyUsed: 'This Idempotency-Key was used for another invoice. Send a new key with this one.',
  keyDeleted: 'The invoice created with this Idempotency-Key was deleted. Send a new key to create another.',
  nothingImported: 'Nothing was imported with this Idempotency-Key.',

  payment: {
    notFound: 'This payment does not exist.',
    inCurrency: (reference: string, currency: string) =>
      `${reference} has payments in ${currency}. Please take them back before you change its currency.`,
    coveredByOthers: (reference: string) => `${reference} is paid by payments that were recorded one by one. Please take one back first.`,
    refundFirst: (reference: string) => `More of ${reference} was refunded than would be left as paid. Please take the refund back first.`,
    tooMany: (reference: string, most: number) =>
      `An invoice can have ${most} payments and refunds, also taken back ones, and ${reference} would have more. Please create another invoice.`,
    future: 'Please choose today or an earlier day.',
    creditTwice: (reference: string, invoice: string) => `The credit note ${reference} is recorded on ${invoice} already.`,
    mostRefund: (most: string) => `At most ${most} can be refunded.`,
    // Fixed by the specification.
    fromProvider: 'This payment came from Razorpay. Refund it there; it is then taken off here by itself.',
    voided: (kind: PaymentKind, amount: string, reference: string) => `${kind} of ${amount} for ${reference}`,
    /** More was paid than the invoice is over. `over`: formatted. */
    overpaid: {
      title: (reference: string, over: string) => `${reference}: ${over} too much`,
      text: (client: string) =>
        `${client} paid more than the invoice. Pay it back and record a refund, or take back what was recorded twice.`,
    },
    keyUsed: 'This Idempotency-Key was used for another payment. Send a new key with this one.',
  },

  /** `reply` has a code where a mail server refused the address, and none where an email came back. */
  addressHeld: (address: string, reply: string) =>
    `${isAddressRefusal(reply) ? `${address} doesn’t exist` : `An email to ${address} came back`}. Correct the address to resume.`,

  line: {
    name: (line: number) => `Line ${line}`,
    duplicate: (twin: string) => `${twin} already has this client email, amount and due date.`,
    keyUsed: 'This Idempotency-Key was used for another line. Send a new key with this one.',
    deleted: 'This line was imported before, and its invoice was deleted since.',
    invalid: 'Please check this line.',
    held: 'Imported when it was past due. Held until you resume it.',
  },

  again: {
    importNotFound: 'There is no such import.',
    sameReference: (line: number, reference: string) => `Line ${line} already has the reference ${reference}.`,
    changedSince: (reference: string) => `${reference} was changed since. It stays as it is.`,
    voided: (payments: number) => `${payments.toLocaleString('en-IN')} ${payments === 1 ? 'payment' : 'payments'} of an import`,
  },

  /** Imported invoices that were past due wait for their owner. */
  importsHeld: {
    title: (invoices: number) => `${invoices.toLocaleString('en-IN')} imported ${invoices === 1 ? 'invoice is' : 'invoices are'} on hold`,
    text: 'They were past due when you imported them, so they get no reminders. Resume their reminders, or mark them as paid.',
  },

  /** A promise to pay has passed unpaid. `reference`: null where it was for all that a client owes. */
  brokenPromise: {
    summary: (client: string) => `${shortName(client)} broke a promise`,
    title: (client: string) => `${client} has not paid as promised`,
    text: (about: { client: string; reference: string | null; owed: Money[]; promisedBy: string }) => {
      const owed = `${formatSums(about.owed, 'INR')}${about.reference === null ? '' : ` (${about.reference})`}`
      return `${about.client} promised ${owed} by ${formatDate(about.promisedBy)} and has not paid.`
    },
    resumed: (address: string | null) => (address === null ? 'Reminders have resumed.' : `Reminders to ${address} have resumed.`),
  },
}
