import type { BulkChange, Invoice } from '#contract/invoices.ts'

/** The changes that put invoices back as they were before a change of many: few, however many invoices. */
export function undoing(before: Invoice[], what: BulkChange['do']): { ids: string[]; change: BulkChange }[] {
  switch (what) {
    case 'mark':
      return grouped(before, ({ status }) => ({ do: 'mark', status }))
    case 'pause':
    case 'resume':
      return grouped(before, ({ pause }) =>
        pause?.scope === 'invoice' ? { do: 'pause', until: pause.until, note: pause.note, promised: pause.promised } : { do: 'resume' },
      )
    case 'delete':
      return grouped(before, () => ({ do: 'restore' }))
    case 'restore':
      return grouped(before, () => ({ do: 'delete' }))
  }
}

function grouped(invoices: Invoice[], changeOf: (invoice: Invoice) => BulkChange): { ids: string[]; change: BulkChange }[] {
  const groups = new Map<string, { ids: string[]; change: BulkChange }>()
  for (const invoice of invoices) {
    const change = changeOf(invoice)
    const key = JSON.stringify(change)
    const group = groups.get(key) ?? { ids: [], change }
    group.ids.push(invoice._id)
    groups.set(key, group)
  }
  return [...groups.values()]
}
