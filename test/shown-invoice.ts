import { type Invoice, invoice } from '#contract/invoices.ts'

/** An invoice as screens receive it: Kaveri Foods, ₹100, unpaid, with the given fields. */
export function aShownInvoice(said: Partial<Invoice> = {}): Invoice {
  return invoice.parse({
    _id: 'a',
    clientName: 'Kaveri Foods',
    clientEmail: 'billing@kaveri.example',
    amount: 100,
    currency: 'INR',
    issuedOn: '2026-11-01',
    dueDate: '2026-11-20',
    status: 'unpaid',
    reference: 'INV-0001',
    createdAt: '2026-11-01T00:00:00Z',
    updatedAt: '2026-11-01T00:00:00Z',
    version: 1,
    paidAt: null,
    amountPaid: 0,
    balance: said.amount ?? 100,
    overpaid: 0,
    paidOn: null,
    hasFile: false,
    remindersSent: 0,
    lastReminderAt: null,
    refusal: null,
    pause: null,
    notDelivered: null,
    addressHold: null,
    sequence: null,
    ...said,
  })
}
