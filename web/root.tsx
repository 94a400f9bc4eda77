import '#web/ui/mantine.css'
import '#web/ui/fonts.css'
import '#web/ui/look.css'
import bricolageLatinExt from '@fontsource-variable/bricolage-grotesque/files/bricolage-grotesque-latin-ext-wght-normal.woff2?url'
import bricolageLatin from '@fontsource-variable/bricolage-grotesque/files/bricolage-grotesque-latin-wght-normal.woff2?url'
import interLatin from '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2?url'
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Links, Meta, Outlet, Scripts, ScrollRestoration } from 'react-router'
import { pageNonce } from '#web/platform/nonce.ts'
import { inWords } from '#web/platform/problem.ts'
import { openQueries } from '#web/platform/query.ts'
import { refreshSession } from '#web/platform/refresh.ts'
import { readSession, useSession } from '#web/platform/session.ts'
import { openThemeManager } from '#web/platform/theme.ts'
import { mantineTheme, mantineVariables } from '#web/ui/mantine-theme.ts'

export { CrashScreen as ErrorBoundary } from '#web/shell/crash-screen.tsx'
export { StartingScreen as HydrateFallback } from '#web/shell/starting-screen.tsx'

// What every page shows first. Amounts are set in Bricolage, whose rupee sign is in Latin-ext; Inter's is fetched where a name needs it.
const fonts = [interLatin, bricolageLatin, bricolageLatinExt]
const themeManager = openThemeManager()

/** The document around every page. The theme stands on <html> before the first paint, so React leaves it alone. */
export function Layout({ children }: { children: ReactNode }): ReactNode {
  const nonce = pageNonce()
  return (
    <html lang="en" className="dark" data-mantine-color-scheme="dark" data-session="out" suppressHydrationWarning>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <script src="/theme.js" nonce={nonce} suppressHydrationWarning />
        <link rel="icon" href="/icon.svg" type="image/svg+xml" />
        {fonts.map((font) => (
          <link key={font} rel="preload" href={font} as="font" type="font/woff2" crossOrigin="anonymous" />
        ))}
        <Meta />
        <Links nonce={nonce} />
      </head>
      <body>
        <MantineProvider
          theme={mantineTheme}
          cssVariablesResolver={mantineVariables}
          defaultColorScheme="dark"
          colorSchemeManager={themeManager}
          getStyleNonce={pageNonce}
        >
          {children}
          <Notifications position="bottom-right" limit={4} autoClose={5_000} />
        </MantineProvider>
        <ScrollRestoration nonce={nonce} />
        <Scripts nonce={nonce} />
      </body>
    </html>
  )
}

export default function Root(): ReactNode {
  const [queries] = useState(openQueries)
  const session = useSession()
  const person = session?.user._id
  const before = useRef(person)

  // What one person read is never shown to the next.
  useEffect(() => {
    if (before.current !== undefined && before.current !== person) queries.clear()
    before.current = person
  }, [person, queries])

  useEffect(() => {
    const stored = readSession()
    // Without an answer the stored token is as good as it was; the next call will tell.
    if (stored) refreshSession(stored.accessToken).catch(inWords)
  }, [])

  return (
    <QueryClientProvider client={queries}>
      <Outlet />
    </QueryClientProvider>
  )
}
