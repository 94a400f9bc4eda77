import { useState } from 'react'
import { z } from 'zod'
import { type Order, order } from './order.ts'

const key = 'invoiceView'
const stored = z.object({ view: z.enum(['cards', 'list']), order })
type Stored = z.infer<typeof stored>
export type View = Stored['view']

interface Chosen extends Stored {
  onView: (view: View) => void
  onOrder: (order: Order) => void
}

/** Cards or list, and how the list is sorted; kept in this browser. */
export function useView(): Chosen {
  const [chosen, setChosen] = useState(read)
  const choose = (change: Partial<Stored>) => {
    const next = { ...chosen, ...change }
    setChosen(next)
    try {
      localStorage.setItem(key, JSON.stringify(next))
    } catch {
      // A full or forbidden store: the choice holds until the page is left.
    }
  }
  return { ...chosen, onView: (view) => choose({ view }), onOrder: (next) => choose({ order: next }) }
}

function read(): Stored {
  try {
    return stored.parse(JSON.parse(localStorage.getItem(key) ?? ''))
  } catch {
    return { view: 'cards', order: null }
  }
}
