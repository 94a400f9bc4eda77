import { type RefObject, useEffect, useRef } from 'react'

interface RemovalFocus {
  /** For what stands around the list; it needs `tabIndex={-1}`. */
  around: RefObject<HTMLDivElement | null>
  /** Says that something is being removed, or after all is not. */
  expect: (removal: boolean) => void
}

/** For a list out of which a button removes its own line: the button is gone with it, and the list takes the focus. */
export function useRemovalFocus(length: number | undefined): RemovalFocus {
  const around = useRef<HTMLDivElement>(null)
  const expected = useRef(false)
  const before = useRef(length)
  useEffect(() => {
    if (before.current === length) return
    before.current = length
    if (expected.current) around.current?.focus({ preventScroll: true })
    expected.current = false
  }, [length])
  return {
    around,
    expect: (removal) => {
      expected.current = removal
    },
  }
}
