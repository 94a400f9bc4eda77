import { type RefObject, useEffect, useRef, useState } from 'react'

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
