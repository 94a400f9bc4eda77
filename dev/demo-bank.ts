/** Where the demo has a bank file to import, in its folder. */
export const bankFileName = 'bank-statement.csv'

interface Open {
  reference: string
  clientName: string
  currency: string
  balance: number
  status: string
  dueDate: string
}

/**
 * A month of an account as a bank exports it: payments of the invoices that are owed longest, what is pending or came back, money out, and a word that no
 * bank explains, so that the review asks about it. `today`: its last day.
 */
export function bankFile(invoices: Open[], today: Temporal.PlainDate): string {
  const owed = invoices
    .filter(({ status, currency }) => status !== 'paid' && currency === 'INR')
    .toSorted((one, other) => one.dueDate.localeCompare(other.dueDate))
  const day = (ago: number) => today.subtract({ days: ago }).toString()
  const cell = (text: string) => `"${text.replaceAll('"', '""')}"`
  const line = (ago: number, text: string, type: string, amount: number, status = 'Completed') =>
    [day(ago), cell(text), type, amount.toFixed(2), 'INR', status].join()
  const paid = owed.slice(0, 5).map(({ reference, clientName, balance }, nth) => {
    const name = clientName.toUpperCase()
    if (nth === 3) return line(9, `NEFT ${name} part payment`, 'CR', Math.round(balance / 2))
    if (nth === 0) return line(6, `IMPS ${reference} ${name}`, 'INW', balance)
    if (nth === 1) return line(1, `NEFT ${reference} ${name}`, 'CR', balance, 'Pending')
    return line(3 + nth, `NEFT ${reference} ${name}`, 'CR', balance)
  })
  return [
    'Date,Narration,Type,Amount,Currency,Status',
    line(16, 'Opening balance', '', 184_200),
    line(14, 'Studio rent', 'DR', 38_000),
    ...paid,
    line(8, 'Type foundry, licences', 'DR', 12_400),
    line(5, 'UPI sent back', 'CR', 1_500, 'Failed'),
    line(2, 'Electricity', 'DR', 2_310),
    '',
  ].join('\n')
}
