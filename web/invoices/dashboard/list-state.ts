import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useBlocker, useSearchParams } from 'react-router'
import { z } from 'zod'
import type { CallReply } from '#contract/call.ts'
import { type Invoice, invoiceStatus } from '#contract/invoices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import type { Known } from '#web/invoices/invoice-state.ts'
import { useToday } from '#web/platform/account.tsx'
import { useBrokenPromises } from '#web/platform/attention.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { type NextRun, nextRun, type Order, order } from './list-data.ts'
import type { Filter } from './texts.ts'

interface Search {
  search: string
  onSearch: (search: string) => void
  filter: Filter
  onFilter: (filter: Filter) => void
}

/** Search and filter. They live in the address, so that Back and Reload show the same invoices. */
export function useSearch(): Search {
  const [address, setAddress] = useSearchParams()
  const fromAddress = address.get('search') ?? ''
  const [search, setSearch] = useState(fromAddress)
  const lastWritten = useRef(fromAddress)
  const filter = invoiceStatus.safeParse(address.get('status')).data ?? 'all'

  const write = (name: 'search' | 'status', value: string) =>
    setAddress(
      () => {
        // The current address: the search is written late, and `?import` may have been added meanwhile.
        const next = new URLSearchParams(window.location.search)
        if (value === '') next.delete(name)
        else next.set(name, value)
        return next
      },
      { replace: true, preventScrollReset: true },
    )
  const writing = useRef<ReturnType<typeof setTimeout>>(undefined)
  const writeSoon = (text: string) => {
    clearTimeout(writing.current)
    writing.current = setTimeout(() => {
      lastWritten.current = text
      write('search', text)
    }, 300)
  }
  useEffect(() => () => clearTimeout(writing.current), [])
  // Writing the address during a navigation to another screen would cancel that navigation.
  useBlocker(({ currentLocation, nextLocation }) => {
    if (currentLocation.pathname !== nextLocation.pathname) clearTimeout(writing.current)
    return false
  })

  // A link or the Back button changed the address.
  useEffect(() => {
    if (fromAddress === lastWritten.current) return
    lastWritten.current = fromAddress
    setSearch(fromAddress)
  }, [fromAddress])

  return {
    search,
    onSearch: (text) => {
      setSearch(text)
      writeSoon(text)
    },
    filter,
    onFilter: (name) => write('status', name === 'all' ? '' : name),
  }
}

const key = 'invoiceView'
const stored = z.object({ view: z.enum(['cards', 'list']), order })
type Stored = z.infer<typeof stored>
export type View = Stored['view']

interface ViewState extends Stored {
  onView: (view: View) => void
  onOrder: (order: Order) => void
}

/** Cards or table, and the order of the table. Stored in this browser. */
export function useView(): ViewState {
  const [state, setState] = useState(readStored)
  const save = (change: Partial<Stored>) => {
    const next = { ...state, ...change }
    setState(next)
    try {
      localStorage.setItem(key, JSON.stringify(next))
    } catch {
      // Storage is full or blocked: the choice lasts until the page is left.
    }
  }
  return { ...state, onView: (view) => save({ view }), onOrder: (next) => save({ order: next }) }
}

function readStored(): Stored {
  try {
    return stored.parse(JSON.parse(localStorage.getItem(key) ?? ''))
  } catch {
    return { view: 'cards', order: null }
  }
}

export interface Selection {
  /** Only invoices that are shown: a bulk action must not change what is out of sight. */
  selected: Invoice[]
  isSelected: (id: string) => boolean
  /** Selects or deselects one; `range` includes everything since the last one toggled. */
  toggle: (id: string, range: boolean) => void
  selectAll: () => void
  clear: () => void
}

export function useSelection(shown: Invoice[]): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const latest = useRef(shown)
  latest.current = shown
  const last = useRef<string | null>(null)
  const toggle = useCallback((id: string, range: boolean) => {
    const from = latest.current.findIndex(({ _id }) => _id === last.current)
    const to = latest.current.findIndex(({ _id }) => _id === id)
    const part = range && from >= 0 ? latest.current.slice(Math.min(from, to), Math.max(from, to) + 1).map(({ _id }) => _id) : [id]
    last.current = id
    setIds((before) => {
      const next = new Set(before)
      const select = !before.has(id)
      for (const one of part) {
        if (select) next.add(one)
        else next.delete(one)
      }
      return next
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

interface Around {
  known: Known
  today: string
  /** Undefined until it is known. */
  status: CallReply<typeof reminderCalls.status> | undefined
  next: NextRun | null | undefined
}

/** In ms: the preview lists every unpaid invoice, and changes that matter invalidate it. */
const previewStaleTime = 60_000

/** What the dashboard knows about its invoices besides them: today, broken promises, and what is sent next. */
export function useKnown(invoices: Invoice[]): Around {
  const { zone, now, today } = useToday()
  const status = useApiQuery(reminderCalls.status)
  const settings = useApiQuery(reminderCalls.settings, {}, { staleTime: previewStaleTime })
  const preview = useApiQuery(reminderCalls.preview, {}, { staleTime: previewStaleTime })
  const lines = preview.data?.lines
  const next = useMemo(() => lines && new Map(lines.map((line) => [line.invoiceId, line])), [lines])
  const broken = useBrokenPromises()
  const known = useMemo((): Known => ({ zone, now, broken, next }), [zone, now, broken, next])
  const grouped = settings.data?.groupByClient
  const run = useMemo(
    () => (next === undefined || grouped === undefined ? undefined : nextRun(invoices, known, grouped)),
    [invoices, known, next, grouped],
  )
  return { known, today, status: status.data, next: run }
}
