import { useDebouncedCallback } from '@mantine/hooks'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useBlocker, useSearchParams } from 'react-router'
import { z } from 'zod'
import { type Invoice, invoiceStatus } from '#contract/invoices.ts'
import { type Order, order } from './list-data.ts'
import type { Filter } from './texts.ts'

interface Search {
  search: string
  onSearch: (search: string) => void
  filter: Filter
  onFilter: (filter: Filter) => void
}

/** What is searched for and filtered by. It stands in the address, so that going back and reloading show the same invoices. */
export function useSearch(): Search {
  const [address, setAddress] = useSearchParams()
  const inAddress = address.get('search') ?? ''
  const [search, setSearch] = useState(inAddress)
  const written = useRef(inAddress)
  const filter = invoiceStatus.safeParse(address.get('status')).data ?? 'all'

  const write = (name: 'search' | 'status', value: string) =>
    setAddress(
      () => {
        // The address as it stands: what was typed is written late, and the import may have been opened meanwhile.
        const after = new URLSearchParams(window.location.search)
        if (value === '') after.delete(name)
        else after.set(name, value)
        return after
      },
      { replace: true, preventScrollReset: true },
    )
  const writeSearch = useDebouncedCallback((text: string) => {
    written.current = text
    write('search', text)
  }, 300)
  // Whoever goes to another screen is on the way as soon as this is asked: an address written later would call that off.
  useBlocker(({ currentLocation, nextLocation }) => {
    if (currentLocation.pathname !== nextLocation.pathname) writeSearch.cancel()
    return false
  })

  // A link or the back button changed the address: follow it.
  useEffect(() => {
    if (inAddress === written.current) return
    written.current = inAddress
    setSearch(inAddress)
  }, [inAddress])

  return {
    search,
    onSearch: (text) => {
      setSearch(text)
      writeSearch(text)
    },
    filter,
    onFilter: (name) => write('status', name === 'all' ? '' : name),
  }
}

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

export interface Selection {
  /** The selected ones of those that are shown: what is out of sight is not acted on. */
  selected: Invoice[]
  isSelected: (id: string) => boolean
  /** Chooses one, or with `range` everything from the last one on; or lets go of it. */
  toggle: (id: string, range: boolean) => void
  selectAll: () => void
  clear: () => void
}

/** Which of the shown invoices are selected. */
export function useSelection(shown: Invoice[]): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const list = useRef(shown)
  list.current = shown
  const last = useRef<string | null>(null)
  const toggle = useCallback((id: string, range: boolean) => {
    const from = list.current.findIndex(({ _id }) => _id === last.current)
    const to = list.current.findIndex(({ _id }) => _id === id)
    const part = range && from >= 0 ? list.current.slice(Math.min(from, to), Math.max(from, to) + 1).map(({ _id }) => _id) : [id]
    last.current = id
    setIds((before) => {
      const after = new Set(before)
      const choose = !before.has(id)
      for (const one of part) {
        if (choose) after.add(one)
        else after.delete(one)
      }
      return after
    })
  }, [])
  const selected = useMemo(() => (ids.size === 0 ? [] : shown.filter(({ _id }) => ids.has(_id))), [ids, shown])
  return {
    selected,
    isSelected: (id) => ids.has(id),
    toggle,
    selectAll: () => setIds(new Set(shown.map(({ _id }) => _id))),
    clear: useCallback(() => {
      last.current = null
      setIds(new Set())
    }, []),
  }
}
