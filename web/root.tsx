import '#web/ui/fonts/fonts.css'
import '#web/ui/global.css'
import { type ReactNode, useEffect } from 'react'
import { Links, Meta, Outlet, Scripts, ScrollRestoration } from 'react-router'
import { pageMeta, pageNonce } from '#web/platform/page-meta.tsx'
import { readSession } from '#web/platform/session.ts'
import { IncompleteNotice } from '#web/shell/screen-frame.tsx'
import headings from '#web/ui/fonts/bricolage-grotesque-latin.woff2?url'
import words from '#web/ui/fonts/inter-latin.woff2?url'

export { ErrorBoundary } from '#web/shell/screen-frame.tsx'
export { StartingScreen as HydrateFallback } from '#web/shell/site-frame.tsx'

/** The fonts that every page uses. */
const preloadedFonts = [words, headings]

/** The document around every page. theme.js sets the theme on <html> before the first paint, so React must not touch it. */
export function Layout({ children }: { children: ReactNode }): ReactNode {
  const nonce = pageNonce()
  return (
    <html lang="en" className="dark" data-mantine-color-scheme="dark" data-session="out" suppressHydrationWarning>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <script src="/theme.js" nonce={nonce} suppressHydrationWarning />
        {preloadedFonts.map((font) => (
          <link key={font} rel="preload" as="font" type="font/woff2" href={font} crossOrigin="anonymous" fetchPriority="low" />
        ))}
        <link rel="icon" href="/icon.svg" type="image/svg+xml" />
        <link rel="apple-touch-icon" href="/apple-touch-icon.png" />
        <link rel="manifest" href="/site.webmanifest" />
        <meta name="duely:address" content={pageMeta('address')} />
        <meta name="duely:support" content={pageMeta('support')} />
        <meta name="duely:terms" content={pageMeta('terms')} />
        <meta name="duely:payments" content={pageMeta('payments')} />
        <meta name="duely:checkout" content={pageMeta('checkout')} />
        <Meta />
        <Links nonce={nonce} />
      </head>
      <body>
        {children}
        <IncompleteNotice />
        <ScrollRestoration nonce={nonce} />
        <Scripts nonce={nonce} />
      </body>
    </html>
  )
}

export default function Root(): ReactNode {
  useEffect(() => {
    // Loaded only for people who are signed in.
    if (readSession()) void import('#web/platform/refresh.ts').then(({ refreshOnLoad }) => refreshOnLoad()).catch(() => undefined)
  }, [])
  return <Outlet />
}
