import { isValidElement, lazy, type ReactNode, Suspense, useDeferredValue, useEffect, useState } from 'react'
import { Link, Navigate, Outlet, useLocation, useMatches } from 'react-router'
import { screens } from '#contract/screens.ts'
import { useBusiness, useServer, useStoredUser } from '#web/platform/account.tsx'
import { useSession } from '#web/platform/session.ts'
import { Account } from './account.tsx'
import { SidebarActions } from './actions.tsx'
import { AttentionProvider, Bell } from './attention.tsx'
import { Library } from './library.tsx'
import styles from './shell.module.css'
import { Sidebar, SiteFrame } from './site-frame.tsx'
import { texts } from './texts.ts'

const loadDemo = () => import('./demo.tsx')
const Demo = lazy(() =>
  loadDemo().then(
    ({ Demo: loaded }) => ({ default: loaded }),
    () => ({ default: () => null }),
  ),
)

/** The frame of the screens for people who are signed in. */
export default function DashboardLayout(): ReactNode {
  useFocusFallback()
  return (
    <Library>
      <AttentionProvider>
        <SiteFrame account={<Account where={<Where />} bell={<Bell />} />} actions={(close) => <SidebarActions onDone={close} />}>
          <Dashboard />
        </SiteFrame>
      </AttentionProvider>
    </Library>
  )
}

/** Which business this tab is about, and the role there: for someone who has several, or does not own it. In the header, or on a phone below it. */
function Where(): ReactNode {
  const business = useBusiness()
  if (!business || (business.businesses === 1 && business.role === 'owner')) return null
  return (
    <Link to={screens.business} className={styles.where}>
      <span className={styles.whereName}>{business.name}</span>
      <span className={styles.whereRole}>{texts.roles[business.role]}</span>
    </Link>
  )
}

/** Redirects people without a session to /signin, which receives their location. */
function Dashboard(): ReactNode {
  // Deferred, so that hydrating the prerendered page does not block input.
  const session = useDeferredValue(useSession(), undefined)
  const starting = useStarting()
  useStoredUser(session != null)
  const demoMail = useServer()?.demoMail
  const { pathname, search, hash } = useLocation()
  const [wasHere, setWasHere] = useState(false)
  if (session && !wasHere) setWasHere(true)
  if (session === null) return <Navigate to={screens.signIn} replace state={{ from: { pathname, search, hash }, signedOut: wasHere }} />
  return (
    <div className={styles.shell}>
      <Sidebar>{session && <SidebarActions key={session.user._id} />}</Sidebar>
      <main id="content" className={styles.main} tabIndex={-1}>
        <div className={styles.content}>
          {session === undefined && starting}
          {session && demoMail && (
            <Suspense>
              <Demo mail={demoMail} />
            </Suspense>
          )}
          {session && (
            <div className={styles.wherePhone}>
              <Where />
            </div>
          )}
          {session && <Outlet key={session.user._id} />}
        </div>
      </main>
    </div>
  )
}

/** The prerendered skeleton of a screen, from its route handle. */
function useStarting(): ReactNode {
  const handle: unknown = useMatches().at(-1)?.handle
  return typeof handle === 'object' && handle !== null && 'starting' in handle && isValidElement(handle.starting) ? handle.starting : null
}

/** In ms: a closing dialog returns the focus within this time. */
const moment = 60

/**
 * When the focused element is removed (a deleted card, a dialog whose opener has gone), focuses the page content: keyboard and screen
 * reader users would otherwise restart at the top.
 */
function useFocusFallback(): void {
  useEffect(() => {
    let last: Element | null = null
    let timer = 0
    const nothing = () => document.activeElement === null || document.activeElement === document.body
    const came = (event: FocusEvent) => {
      last = event.target instanceof Element ? event.target : null
    }
    // A press beside all controls releases the focus on purpose.
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
