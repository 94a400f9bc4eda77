import type { Question } from './meaning.ts'

/** What a question is about in a sentence, where no person is there to answer it. */
export function askedInWords(question: Question): string {
  switch (question.kind) {
    case 'column':
      return `The file does not show which column it is: ${columns[question.field] ?? question.field}.`
    case 'order':
      return `In the column ${question.heading}, ${question.example} can be ${spoken(question.dmy)} or ${spoken(question.mdy)}. Write dates as 2026-05-31 in the file.`
    case 'decimals':
      return `In the column ${question.heading}, ${question.example} can be read as two amounts. Write amounts as 5000.50 in the file.`
    case 'words': {
      const unknown = question.words.filter(({ means }) => means === null).map(({ written }) => `“${written}”`)
      return `In the column ${question.heading}, Duely does not know what this means: ${unknown.slice(0, 3).join(', ')}.`
    }
    case 'number':
      return 'The file has no due dates. Remove this link, and add it again with days to pay.'
    case 'choice':
      return question.about === 'currency'
        ? question.id === 'currency/file'
          ? 'Some rows have no currency, and others have one. Add a column with currency codes to the file.'
          : `Several currencies have the sign ${question.heading}. Add a column with currency codes to the file.`
        : question.about === 'lines'
          ? `Several rows have one number, and it is unclear whether ${question.heading} is the amount of a row or of the whole invoice.`
          : `It is unclear what the column ${question.heading} says about payment.`
  }
}

const columns: Record<string, string> = {
  clientName: 'the client',
  clientEmail: 'the email of the client',
  amount: 'the amount',
  balance: 'the balance',
  amountPaid: 'the amount paid',
  dueDate: 'the due date',
  status: 'the status',
}

const months = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })

/** 5 March 2026: a month in digits would be the question again. */
function spoken(day: string): string {
  return months.format(new Date(`${day}T00:00:00Z`))
}
