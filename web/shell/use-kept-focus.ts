import { useEffect } from 'react'

/** In ms: a dialog that closes hands the focus back within this. */
const moment = 60

/**
 * Where what had the focus is gone (a card that was deleted, a button that another took the place of, a dialog whose opener is no longer
 * there), the page itself has it: whoever goes by keyboard or by ear goes on from there, and not from the very top.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: Element | null = null
    let timer = 0
    const nothing = () => document.activeElement === null || document.activeElement === document.body
    const came = (event: FocusEvent) => {
      last = event.target instanceof Element ? event.target : null
    }
    // Who presses beside everything has let go of it.
    const left = () => {
      const before = last
      window.setTimeout(() => {
        if (last === before && before?.isConnected && nothing()) last = null
      })
    }
    const changes = new MutationObserver(() => {
      if (last === null || last.isConnected) return
      last = null
      window.clearTimeout(timer)
      timer = window.setTimeout(() => {
        if (nothing()) document.getElementById('content')?.focus({ preventScroll: true })
      }, moment)
    })
    document.addEventListener('focusin', came)
    document.addEventListener('focusout', left)
    changes.observe(document.body, { childList: true, subtree: true })
    return () => {
      window.clearTimeout(timer)
      changes.disconnect()
      document.removeEventListener('focusin', came)
      document.removeEventListener('focusout', left)
    }
  }, [])
}
