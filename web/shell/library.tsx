import { MantineProvider } from '@mantine/core'
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { pageNonce } from '#web/platform/nonce.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { openQueries } from '#web/platform/query.ts'
import { useSession } from '#web/platform/session.ts'
import { openThemeManager } from '#web/platform/theme.ts'
import { ConfirmHost } from '#web/ui/confirm.tsx'
import { mantineTheme, mantineVariables } from '#web/ui/mantine-theme.ts'
import { Toaster } from '#web/ui/toaster.tsx'

const themeManager = openThemeManager()

/** What the screens of the product stand on and the public pages do without: the components, the answers that are kept, the messages. */
export function Library({ children }: { children: ReactNode }): ReactNode {
  return (
    <Components>
      {children}
      <Toaster />
      <ConfirmHost errorMessage={errorMessage} />
    </Components>
  )
}

/** The same without the messages, for a second part of a page: they are shown once. */
export function Components({ children }: { children: ReactNode }): ReactNode {
  const [queries] = useState(openQueries)
  return (
    <MantineProvider
      theme={mantineTheme}
      cssVariablesResolver={mantineVariables}
      defaultColorScheme="dark"
      colorSchemeManager={themeManager}
      getStyleNonce={pageNonce}
    >
      <QueryClientProvider client={queries}>
        <OfOnePerson queries={queries} />
        {children}
      </QueryClientProvider>
    </MantineProvider>
  )
}

/** What one person read is never shown to the next. By itself, so that nothing else is drawn anew once it is known who is here. */
function OfOnePerson({ queries }: { queries: QueryClient }): null {
  const person = useSession()?.user._id
  const before = useRef(person)
  useEffect(() => {
    if (before.current !== undefined && before.current !== person) queries.clear()
    before.current = person
  }, [person, queries])
  return null
}
