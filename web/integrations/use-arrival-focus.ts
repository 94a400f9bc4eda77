import { type RefObject, useEffect, useRef } from 'react'

/** For what takes the place of a form in a dialog: the button that was pressed is gone, and this is read next. It needs `tabIndex={-1}`. */
export function useArrivalFocus<E extends HTMLElement>(): RefObject<E | null> {
  const element = useRef<E>(null)
  useEffect(() => element.current?.focus({ preventScroll: true }), [])
  return element
}
