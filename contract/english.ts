import { formatDate } from './dates.ts'
import { formatMoney } from './money.ts'
import type { PayWords, Speech } from './speech.ts'

/* Apart from the tags of languages, which every screen loads with the calls. */
const payWords: PayWords = {
  colon: ': ',
  pay: (amount) => `Pay ${amount}`,
  seeAndPay: (amount) => `See and pay ${amount}`,
  upi: 'UPI ID',
  qr: (amount) => `UPI QR code for ${amount}`,
  received: (paid, total) => `${paid} of ${total} has been received, thank you.`,
  file: 'Download the invoice (PDF)',
  fileOf: (reference) => `Download ${reference} (PDF)`,
  question: 'Paid already, or a question?',
  tellUsThere: 'Tell us there',
  orReply: ', or reply to this email.',
  reply: 'Please reply to this email.',
  sentWith: 'Sent with Duely',
  bank: {
    accountName: 'Account name',
    accountNumber: 'Account number',
    sortCode: 'Sort code',
    routingNumber: 'Routing number',
    reference: 'Reference',
  },
}

export const english: Speech = {
  language: 'en',
  dir: 'ltr',
  money: formatMoney,
  date: formatDate,
  value: (text) => text,
  listed: ({ reference, amount, due, days }) => {
    const line = `${reference}: ${amount}, due ${due}`
    return days === null ? line : `${line}, ${days} ${days === 1 ? 'day' : 'days'} overdue`
  },
  more: (count, amount) => `and ${count} more (${amount})`,
  pay: payWords,
  payLanguage: 'en',
}
