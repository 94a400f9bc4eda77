import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'

interface Opening {
  opened: boolean
  onChange: (opened: boolean) => void
  /** For the button of the menu. */
  ref: RefObject<HTMLButtonElement | null>
}

/**
 * For a menu that is loaded on first use: its button takes the focus over from the placeholder, so that the focus can return to it, and
 * the menu opens.
 */
export function useOpening(): Opening {
  const [opened, onChange] = useState(false)
  const ref = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    ref.current?.focus({ preventScroll: true })
    onChange(true)
  }, [])
  return { opened, onChange, ref }
}

/** The width of an element in pixels, measured before the first paint; `expected` until the element is mounted. */
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
