import type { MantineColorSchemeManager } from '@mantine/core'

type Theme = 'light' | 'dark'

const key = 'theme'

/** The stored theme; dark unless the person chose light. */
function readTheme(): Theme {
  try {
    return localStorage.getItem(key) === 'light' ? 'light' : 'dark'
  } catch {
    return 'dark'
  }
}

/**
 * Keeps the plain words `light` and `dark` in localStorage under `theme`, and the class `dark` on the document. Tabs follow each other: theme.js,
 * which public pages have too, shows there what was chosen here.
 */
export function openThemeManager(): MantineColorSchemeManager {
  let heard: ((event: StorageEvent) => void) | null = null
  return {
    get: (fallback) => (typeof window === 'undefined' ? fallback : readTheme()),
    set: (value) => {
      const theme: Theme = value === 'light' ? 'light' : 'dark'
      localStorage.setItem(key, theme)
      show(theme)
    },
    subscribe: (onUpdate) => {
      heard = (event) => {
        if (event.key === key || event.key === null) onUpdate(readTheme())
      }
      window.addEventListener('storage', heard)
    },
    unsubscribe: () => {
      if (heard) window.removeEventListener('storage', heard)
      heard = null
    },
    clear: () => localStorage.removeItem(key),
  }
}

function show(theme: Theme): void {
  const root = document.documentElement
  root.classList.toggle('dark', theme === 'dark')
  const ground = getComputedStyle(root).getPropertyValue('--ground').trim()
  document.querySelector('meta[name="theme-color"]')?.setAttribute('content', ground)
}
