import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { pageNonce } from '#web/platform/nonce.ts'
import { openQueries } from '#web/platform/query.ts'
import { useSession } from '#web/platform/session.ts'
import { openThemeManager } from '#web/platform/theme.ts'
import { mantineTheme, mantineVariables } from '#web/ui/mantine-theme.ts'

const themeManager = openThemeManager()

/** What the screens of the product stand on and the public pages do without: the components, the answers that are kept, the messages. */
export function Library({ children }: { children: ReactNode }): ReactNode {
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
      <Notifications position="bottom-right" limit={4} autoClose={5_000} />
    </MantineProvider>
  )
}
