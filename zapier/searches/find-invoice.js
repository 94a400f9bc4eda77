import { defineSearch } from 'zapier-platform-core'
import { address } from '../duely.js'
import { invoice, invoiceFields } from '../triggers/samples.js'

/** @import { HttpResponse, ZObject } from 'zapier-platform-core' */

/** How many invoices are asked for at once. */
const page = 500
/** How many of those that match are answered at most. */
const most = 20

/**
 * Pages of invoices, newest first, for as long as somebody takes them.
 * @param {ZObject} z
 * @param {Record<string, string>} asked
 */
async function* pagesOf(z, asked) {
  /** @type {string | null} */
  let next = `/invoice?${new URLSearchParams({ ...asked, limit: String(page) })}`
  while (next) {
    /** @type {HttpResponse} */
    const response = await z.request(`${address()}${next}`)
    yield response.data
    next = /<([^>]+)>;\s*rel="next"/.exec(response.getHeader('link') ?? '')?.[1] ?? null
  }
}

export const findInvoice = defineSearch({
  key: 'find_invoice',
  noun: 'Invoice',
  display: { label: 'Find Invoice', description: 'Finds an invoice by its reference, or by the name or the email of the client.' },
  operation: {
    inputFields: [
      { key: 'reference', label: 'Reference', type: 'string', required: false, helpText: 'Exactly this one, such as INV-0042.' },
      { key: 'search', label: 'Client', type: 'string', required: false, helpText: "A part of the client's name or email." },
      {
        key: 'status',
        label: 'Status',
        type: 'string',
        required: false,
        choices: { unpaid: 'Unpaid', paid: 'Paid', overdue: 'Overdue' },
        helpText: 'Left out: any.',
      },
    ],
    perform: async (z, bundle) => {
      const { reference, search, status } = bundle.inputData
      if (!reference && !search)
        throw new z.errors.Error('Please enter a reference, or a part of the name or email of the client.', 'invalid', 400)
      const found = []
      for await (const invoices of pagesOf(z, { ...(search ? { search } : {}), ...(status ? { status } : {}) })) {
        for (const one of invoices) if (!reference || one.reference === reference) found.push(one)
        if (found.length >= most || (reference && found.length > 0)) break
      }
      return found.slice(0, most)
    },
    sample: invoice,
    outputFields: invoiceFields,
  },
})
