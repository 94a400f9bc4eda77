import { type MantineColorSchemeManager, MantineProvider } from '@mantine/core'
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { pageNonce } from '#web/platform/page-meta.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { createQueryClient } from '#web/platform/query.ts'
import { useSession } from '#web/platform/session.ts'
import { ConfirmHost } from '#web/ui/confirm.tsx'
import { mantineTheme, mantineVariables } from '#web/ui/mantine-theme.ts'
import { Toaster } from '#web/ui/toast.tsx'

const themeManager = openThemeManager()

/** The providers that the product's screens need and the public pages do without: Mantine, queries, toasts, confirmations. */
export function Library({ children }: { children: ReactNode }): ReactNode {
  return (
    <Components>
      {children}
      <Toaster />
      <ConfirmHost errorMessage={errorMessage} />
    </Components>
  )
}

/** Without toasts and confirmations, for a second part of a page: those must exist once. */
export function Components({ children }: { children: ReactNode }): ReactNode {
  const [queries] = useState(createQueryClient)
  return (
    <MantineProvider
      theme={mantineTheme}
      cssVariablesResolver={mantineVariables}
      defaultColorScheme="dark"
      colorSchemeManager={themeManager}
      getStyleNonce={pageNonce}
    >
      <QueryClientProvider client={queries}>
        <ClearCacheOnSwitch queries={queries} />
        {children}
      </QueryClientProvider>
    </MantineProvider>
  )
}

/** Clears the cache when another person signs in. A component of its own, so that a change of session re-renders nothing else. */
function ClearCacheOnSwitch({ queries }: { queries: QueryClient }): null {
  const person = useSession()?.user._id
  const before = useRef(person)
  useEffect(() => {
    if (before.current !== undefined && before.current !== person) queries.clear()
    before.current = person
  }, [person, queries])
  return null
}

type Theme = 'light' | 'dark'

const key = 'theme'

function readTheme(): Theme {
  try {
    return localStorage.getItem(key) === 'light' ? 'light' : 'dark'
  } catch {
    return 'dark'
  }
}

/**
 * Keeps `light` or `dark` in localStorage under `theme`, and the class `dark` on the document. theme.js applies a change from another tab.
 */
function openThemeManager(): MantineColorSchemeManager {
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
