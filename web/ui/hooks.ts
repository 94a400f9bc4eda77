import { type RefObject, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react'

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

/** Where it is kept whether single-key shortcuts are on. */
const singleKeys = 'singleKeys'
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
      if (next) localStorage.removeItem(singleKeys)
      else localStorage.setItem(singleKeys, 'off')
      for (const listener of listeners) listener()
    },
  ]
}

function areOn(): boolean {
  return localStorage.getItem(singleKeys) !== 'off'
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
