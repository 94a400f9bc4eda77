import { defineSearch } from 'zapier-platform-core'
import { address } from '../duely.js'
import { invoice, invoiceFields } from '../triggers/samples.js'

/** @import { HttpResponse, ZObject } from 'zapier-platform-core' */

/** Invoices per page. */
const page = 500
/** The most matches returned. */
const most = 20

/**
 * Yields pages of invoices, newest first; fetches the next one only when it is needed.
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
  display: { label: 'Find Invoice', description: "Finds an invoice by its reference, or by the client's name or email." },
  operation: {
    inputFields: [
      { key: 'reference', label: 'Reference', type: 'string', required: false, helpText: 'The exact reference, such as INV-0042.' },
      { key: 'search', label: 'Client', type: 'string', required: false, helpText: "Part of the client's name or email." },
      {
        key: 'status',
        label: 'Status',
        type: 'string',
        required: false,
        choices: { unpaid: 'Unpaid', paid: 'Paid', overdue: 'Overdue' },
        helpText: 'Default: any.',
      },
    ],
    perform: async (z, bundle) => {
      const { reference, search, status } = bundle.inputData
      if (!reference && !search)
        throw new z.errors.Error("Please enter a reference, or part of the client's name or email.", 'invalid', 400)
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
