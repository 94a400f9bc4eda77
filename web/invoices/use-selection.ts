import { useCallback, useMemo, useRef, useState } from 'react'
import type { Invoice } from '#contract/invoices.ts'

export interface Selection {
  /** The chosen ones of those that are shown: what is out of sight is not acted on. */
  chosen: Invoice[]
  isChosen: (id: string) => boolean
  /** Chooses one, or with `range` everything from the last one on; or lets go of it. */
  toggle: (id: string, range: boolean) => void
  chooseAll: () => void
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
  const chosen = useMemo(() => (ids.size === 0 ? [] : shown.filter(({ _id }) => ids.has(_id))), [ids, shown])
  return {
    chosen,
    isChosen: (id) => ids.has(id),
    toggle,
    chooseAll: () => setIds(new Set(shown.map(({ _id }) => _id))),
    clear: useCallback(() => {
      last.current = null
      setIds(new Set())
    }, []),
  }
}
