import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'

interface Opening {
  opened: boolean
  onChange: (opened: boolean) => void
  /** For the button of the menu. */
  ref: RefObject<HTMLButtonElement | null>
}

/** For a menu that is there once it is wanted: its button takes over the focus from the one that stood in for it, so that it goes back there, and it opens. */
export function useOpening(): Opening {
  const [opened, onChange] = useState(false)
  const ref = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    ref.current?.focus({ preventScroll: true })
    onChange(true)
  }, [])
  return { opened, onChange, ref }
}

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
