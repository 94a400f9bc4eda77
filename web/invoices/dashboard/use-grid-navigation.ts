import { useWindowVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useWidth } from '#web/ui/hooks.ts'

interface GridOptions {
  items: number
  columns: (width: number) => number
  height: (width: number) => number
  gap: number
  /** How it lay when it was last seen: going back can then land where one was, before anything is measured. */
  last: { width: number | null; top: number }
}

interface Grid<E extends HTMLElement> {
  frame: RefObject<E | null>
  columns: number
  height: number
  /** The height of all rows, and where the first that is drawn begins. */
  total: number
  start: number
  /** The items that are drawn: from this one up to, not including, that one. */
  from: number
  to: number
}

/**
 * Rows of invoices of which only those near the window are in the page, so that thousands scroll as smoothly as three.
 * The arrow keys go from one invoice to the next, x selects it: each item bears `data-index`, its link `data-open`.
 */
export function useGridNavigation<E extends HTMLElement>(about: GridOptions): Grid<E> {
  const { items, gap, last } = about
  const [frame, width] = useWidth<E>(last.width)
  const [top, setTop] = useState(last.top)
  const columns = Math.max(1, about.columns(width ?? 0))
  const height = about.height(width ?? 0)
  const rows = useWindowVirtualizer({
    count: width === null ? 0 : Math.ceil(items / columns),
    estimateSize: () => height,
    gap,
    // As much beyond the window as a turn of the wheel brings into it.
    overscan: Math.ceil(400 / height),
    scrollMargin: top,
    // Sizes are kept by key: another height is another row.
    getItemKey: useCallback((index: number) => `${height} ${index}`, [height]),
  })
  const steering = useRef({ rows, columns, items })
  steering.current = { rows, columns, items }
  useEffect(() => {
    const { current } = frame
    if (!current) return
    const heard = (event: KeyboardEvent) => steer(event, current, steering.current)
    current.addEventListener('keydown', heard)
    return () => current.removeEventListener('keydown', heard)
  }, [frame])
  // What stands above can grow or shrink.
  useLayoutEffect(() => {
    const { current } = frame
    if (!current) return
    const measure = () => {
      last.top = current.getBoundingClientRect().top + window.scrollY
      last.width = current.clientWidth
      setTop(last.top)
    }
    measure()
    const watch = new ResizeObserver(measure)
    watch.observe(document.body)
    return () => watch.disconnect()
  }, [frame, last])
  const inView = rows.getVirtualItems()
  return {
    frame,
    columns,
    height,
    total: rows.getTotalSize(),
    start: (inView[0]?.start ?? top) - top,
    from: (inView[0]?.index ?? 0) * columns,
    to: Math.min(items, ((inView.at(-1)?.index ?? -1) + 1) * columns),
  }
}

interface Steering {
  rows: Virtualizer<Window, Element>
  columns: number
  items: number
}

function steer(event: KeyboardEvent, list: HTMLElement, { rows, columns, items }: Steering): void {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof Element)) return
  const item = event.target.closest('[data-index]')
  if (!item || event.target.closest('[role="menu"]')) return
  if (event.key === 'x' && event.target.matches('[data-open]')) {
    item.querySelector<HTMLInputElement>('input[type="checkbox"]')?.click()
    return
  }
  const now = Number(item.getAttribute('data-index'))
  const steps: Record<string, number> = {
    ArrowDown: now + columns,
    ArrowUp: now - columns,
    ...(columns > 1 ? { ArrowRight: now + 1, ArrowLeft: now - 1 } : {}),
  }
  const wanted = steps[event.key]
  if (wanted === undefined) return
  event.preventDefault()
  const next = Math.min(items - 1, wanted)
  if (next < 0 || next === now) return
  if (!list.querySelector(`[data-index="${next}"]`)) rows.scrollToIndex(Math.floor(next / columns))
  focusItem(list, next, 20)
}

/** Puts the focus on an invoice as soon as it is drawn, and into sight. */
export function focusItem(list: Element, index: number, frames: number): void {
  const link = list.querySelector<HTMLElement>(`[data-index="${index}"] [data-open]`)
  if (link) {
    link.focus({ preventScroll: true })
    link.scrollIntoView({ block: 'nearest' })
  } else if (frames > 0) requestAnimationFrame(() => focusItem(list, index, frames - 1))
}
