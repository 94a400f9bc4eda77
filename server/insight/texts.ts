import type { Age } from '#contract/insights.ts'
import type { HistoryMail } from '#contract/reminders.ts'

export const analyticsName = 'Advanced analytics'

/** The first lines of the CSV files. */
export const heads = {
  ageing: ['Currency', 'Age', 'Amount', 'Invoices'],
  clients: ['Client Name', 'Client Email', 'Currency', 'Overdue', 'Open', 'Paid Invoices', 'Mean Days Late', 'On Time %'],
  effect: [
    'Reminder',
    'Sent',
    'Paid Within 3 Days',
    'Paid Within 7 Days',
    'Within 3 Days From %',
    'Within 3 Days To %',
    'Within 7 Days From %',
    'Within 7 Days To %',
  ],
  forecast: ['Currency', 'Week', 'Median', 'Low', 'High'],
  trend: ['Currency', 'Month', 'Receivables', 'DSO', 'CEI %', 'On Time %'],
  promises: ['Client Name', 'Client Email', 'Kept', 'Broken', 'Mean Days Over'],
}

export const ageNames: Record<Age, string> = {
  notDue: 'Not due',
  to30: '1–30 days late',
  to60: '31–60 days late',
  to90: '61–90 days late',
  over90: '90+ days late',
}

/** What the archive of an invoice says. */
export const evidenceTexts = {
  notLegal: 'A record of what Duely did, not legal advice.',
  readme: (reference: string, at: string, zone: string) => `Evidence about ${reference}

A record of what Duely did, not legal advice.
Made on ${at}. Times are of the zone ${zone}.

invoice.json    the invoice as it was then
invoice.pdf     its PDF, if it has one; an email that attached it is stored without it
timeline.pdf    everything that happened, oldest first
emails.csv      every email with what the mail server answered
emails/         each email as it was sent, if it is still stored
decisions.csv   what was decided on each day, and why
payments.csv    payments and refunds, also those that were taken back
answers.csv     what the client said on the pay page, promises among it
SHA256SUMS      the sum of each file: sha256sum -c SHA256SUMS
`,
  heads: {
    emails: ['Made', 'To', 'Subject', 'State', 'Reason', 'Accepted', 'Tries', 'Server Reply', 'ID', 'Stored'],
    decisions: ['Date', 'Outcome', 'Reason', 'Decided'],
    payments: ['Kind', 'Amount', 'Currency', 'Paid On', 'Method', 'Reference', 'Note', 'Origin', 'Recorded', 'Taken Back'],
    answers: ['At', 'Kind', 'Date', 'Amount', 'Reference', 'Message', 'Name', 'Email', 'State', 'Paused Until'],
  },
  timeline: {
    title: (reference: string) => `Timeline of ${reference}`,
    about: (client: string, email: string, amount: string) => `${amount} from ${client} (${email})`,
    dates: (issued: string, due: string, paid: string | null) => `Issued ${issued} · due ${due}${paid === null ? '' : ` · paid ${paid}`}`,
    made: (at: string) => `Made on ${at}`,
    page: (page: number, count: number) => `page ${page} of ${count}`,
  },
  event: {
    created: 'Invoice created in Duely',
    mail: ({ state, clientEmail, subject, serverReply }: HistoryMail) =>
      `Email to ${clientEmail}, ${state}${subject === null ? '' : `: ${subject}`}${serverReply === null ? '' : `\nServer: ${serverReply}`}`,
    day: (words: string) => `No email that day: ${words}`,
    payment: (kind: 'payment' | 'refund' | 'credit', amount: string, on: string) =>
      `${{ payment: 'Payment', refund: 'Refund', credit: 'Credit note' }[kind]} of ${amount}, dated ${on}`,
    voided: (amount: string) => `${amount} taken back`,
    answer: (kind: 'paid' | 'promise' | 'question' | 'wrong_person', date: string | null, message: string) =>
      ({
        paid: `The client said that it was paid on ${date}`,
        promise: `The client promised to pay by ${date}`,
        question: `The client asked: ${message}`,
        wrong_person: 'The client said that they are the wrong person',
      })[kind],
  },
}
