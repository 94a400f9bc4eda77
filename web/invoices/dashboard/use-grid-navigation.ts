import { useWindowVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useWidth } from '#web/ui/hooks.ts'

interface GridOptions {
  items: number
  columns: (width: number) => number
  height: (width: number) => number
  gap: number
  /** The frame's last measurements: Back must restore the scroll position before anything is measured. */
  last: { width: number | null; top: number }
}

interface Grid<E extends HTMLElement> {
  frame: RefObject<E | null>
  columns: number
  height: number
  /** The height of all rows, and the offset of the first rendered one. */
  total: number
  start: number
  /** The rendered items: `from` up to, not including, `to`. */
  from: number
  to: number
}

/**
 * A virtualized grid: only rows near the window are rendered. Arrow keys move between invoices and x selects one, so each item needs
 * `data-index` and its link `data-open`.
 */
export function useGridNavigation<E extends HTMLElement>(options: GridOptions): Grid<E> {
  const { items, gap, last } = options
  const [frame, width] = useWidth<E>(last.width)
  const [top, setTop] = useState(last.top)
  const columns = Math.max(1, options.columns(width ?? 0))
  const height = options.height(width ?? 0)
  const rows = useWindowVirtualizer({
    count: width === null ? 0 : Math.ceil(items / columns),
    estimateSize: () => height,
    gap,
    // One turn of the wheel must not reach rows that are not rendered.
    overscan: Math.ceil(400 / height),
    scrollMargin: top,
    // Sizes are cached by key, so a new height needs new keys.
    getItemKey: useCallback((index: number) => `${height} ${index}`, [height]),
  })
  const latest = useRef({ rows, columns, items })
  latest.current = { rows, columns, items }
  useEffect(() => {
    const { current } = frame
    if (!current) return
    const onKeyDown = (event: KeyboardEvent) => navigate(event, current, latest.current)
    current.addEventListener('keydown', onKeyDown)
    return () => current.removeEventListener('keydown', onKeyDown)
  }, [frame])
  // The content above can grow or shrink.
  useLayoutEffect(() => {
    const { current } = frame
    if (!current) return
    const measure = () => {
      last.top = current.getBoundingClientRect().top + window.scrollY
      last.width = current.clientWidth
      setTop(last.top)
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(document.body)
    return () => observer.disconnect()
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

interface GridState {
  rows: Virtualizer<Window, Element>
  columns: number
  items: number
}

function navigate(event: KeyboardEvent, list: HTMLElement, { rows, columns, items }: GridState): void {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof Element)) return
  const item = event.target.closest('[data-index]')
  if (!item || event.target.closest('[role="menu"]')) return
  if (event.key === 'x' && event.target.matches('[data-open]')) {
    item.querySelector<HTMLInputElement>('input[type="checkbox"]')?.click()
    return
  }
  const current = Number(item.getAttribute('data-index'))
  const targets: Record<string, number> = {
    ArrowDown: current + columns,
    ArrowUp: current - columns,
    ...(columns > 1 ? { ArrowRight: current + 1, ArrowLeft: current - 1 } : {}),
  }
  const target = targets[event.key]
  if (target === undefined) return
  event.preventDefault()
  const next = Math.min(items - 1, target)
  if (next < 0 || next === current) return
  if (!list.querySelector(`[data-index="${next}"]`)) rows.scrollToIndex(Math.floor(next / columns))
  focusItem(list, next, 20)
}

/** Focuses an invoice once it is rendered, waiting at most `frames` frames, and scrolls it into view. */
export function focusItem(list: Element, index: number, frames: number): void {
  const link = list.querySelector<HTMLElement>(`[data-index="${index}"] [data-open]`)
  if (link) {
    link.focus({ preventScroll: true })
    link.scrollIntoView({ block: 'nearest' })
  } else if (frames > 0) requestAnimationFrame(() => focusItem(list, index, frames - 1))
}
