import { type RefObject, useLayoutEffect, useRef, useState } from 'react'

/** The width of an element in pixels, known before the first paint and kept right; `expected` (null: nothing) until the element is there. */
export function useWidth<E extends HTMLElement>(expected: number | null = null): [RefObject<E | null>, number | null] {
  const element = useRef<E>(null)
  const [width, setWidth] = useState(expected)
  useLayoutEffect(() => {
    const { current } = element
    if (!current) return
    setWidth(current.clientWidth)
    const watch = new ResizeObserver(() => setWidth(current.clientWidth))
    watch.observe(current)
    return () => watch.disconnect()
  }, [])
  return [element, width]
}
