import { useEffect, useRef, useSyncExternalStore } from 'react'

const key = 'singleKeys'
const listeners = new Set<() => void>()

export function isMac(): boolean {
  return typeof navigator !== 'undefined' && /mac|iphone|ipad/i.test(navigator.platform)
}

/** WCAG 2.1.4: single-key shortcuts must be possible to turn off. Kept in this browser. */
export function useSingleKeys(): [on: boolean, set: (on: boolean) => void] {
  const on = useSyncExternalStore(subscribe, areOn, () => true)
  return [
    on,
    (next) => {
      if (next) localStorage.removeItem(key)
      else localStorage.setItem(key, 'off')
      for (const listener of listeners) listener()
    },
  ]
}

function areOn(): boolean {
  return localStorage.getItem(key) !== 'off'
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

interface Shortcuts {
  /** Ctrl K, or Cmd K on a Mac: also in text fields. */
  onPalette: () => void
  /** Single keys; ignored in text fields and while a dialog is open. */
  single: Record<string, () => void>
}

export function useShortcuts(shortcuts: Shortcuts): void {
  const now = useRef(shortcuts)
  now.current = shortcuts
  useEffect(() => {
    const heard = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || event.repeat) return
      if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        now.current.onPalette()
        return
      }
      if (event.ctrlKey || event.metaKey || event.altKey || !areOn()) return
      const act = now.current.single[event.key]
      if (!act || isTyping(event.target) || document.querySelector('[role="dialog"], [role="menu"]')) return
      event.preventDefault()
      act()
    }
    document.addEventListener('keydown', heard)
    return () => document.removeEventListener('keydown', heard)
  }, [])
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button', 'submit'].includes(target.type)
  return target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement
}
