import type { InvoiceDraft } from '#contract/invoices.ts'

/** Names of clients in a large account. Each letter of `searched` finds fewer than the one before. */
export const clientWords = {
  searched: 'kaver',
  first: ['Kaveri', 'Kavel', 'Kavya', 'Kanchan', 'Krishna', 'Meridian', 'Banyan', 'Nila', 'Lotus', 'Orbit', 'Coastal', 'Sunrise', 'Anand'],
  second: ['Foods', 'Textiles', 'Studio', 'Printers', 'Dental', 'Logistics', 'Schools', 'Farms', 'Motors', 'Paper', 'Tools'],
}

/** Lines for an import: clients of all names, due from three months ago until two months ahead, in every state. The last is the newest. */
export function invoiceLines(count: number): InvoiceDraft[] {
  const today = Temporal.Now.plainDateISO('Asia/Kolkata')
  const { first, second } = clientWords
  return Array.from({ length: count }, (_, index) => {
    const name = first[index % first.length] ?? ''
    const trade = second[Math.floor(index / first.length) % second.length] ?? ''
    const late = (index % 150) - 60
    return {
      clientName: `${name} ${trade}`,
      clientEmail: `${name}.${trade}${index % 400}@clients.example`.toLowerCase(),
      amount: 100 + ((index * 37) % 90_000) + 0.5,
      dueDate: today.subtract({ days: late }).toString(),
      status: index % 3 === 0 ? 'paid' : late > 0 ? 'overdue' : 'unpaid',
    }
  })
}
