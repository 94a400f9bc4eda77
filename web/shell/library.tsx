import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { pageNonce } from '#web/platform/nonce.ts'
import { openQueries } from '#web/platform/query.ts'
import { useSession } from '#web/platform/session.ts'
import { openThemeManager } from '#web/platform/theme.ts'
import { mantineTheme, mantineVariables } from '#web/ui/mantine-theme.ts'
import { Toaster } from '#web/ui/toaster.tsx'

const themeManager = openThemeManager()

/** What the screens of the product stand on and the public pages do without: the components, the answers that are kept, the messages. */
export function Library({ children }: { children: ReactNode }): ReactNode {
  return (
    <Components>
      {children}
      <Toaster />
    </Components>
  )
}

/** The same without the messages, for a second part of a page: they are shown once. */
export function Components({ children }: { children: ReactNode }): ReactNode {
  const [queries] = useState(openQueries)
  const session = useSession()
  const person = session?.user._id
  const before = useRef(person)

  // What one person read is never shown to the next.
  useEffect(() => {
    if (before.current !== undefined && before.current !== person) queries.clear()
    before.current = person
  }, [person, queries])

  return (
    <MantineProvider
      theme={mantineTheme}
      cssVariablesResolver={mantineVariables}
      defaultColorScheme="dark"
      colorSchemeManager={themeManager}
      getStyleNonce={pageNonce}
    >
      <QueryClientProvider client={queries}>{children}</QueryClientProvider>
    </MantineProvider>
  )
}
