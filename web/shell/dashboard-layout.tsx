import { Fragment, isValidElement, type ReactNode, useDeferredValue, useState } from 'react'
import { Navigate, Outlet, useLocation, useMatches } from 'react-router'
import { useSession } from '#web/platform/session.ts'
import { Notices } from './notices.tsx'
import styles from './page.module.css'
import { Sidebar } from './sidebar.tsx'
import { SidebarActions } from './sidebar-actions.tsx'

/** The screens for people who are signed in. A stranger is sent to /signin, which gets to know where they wanted to go; so is who was signed in until now. */
export default function DashboardLayout(): ReactNode {
  // Taken over piece by piece: the page that was written at build time stays usable meanwhile.
  const session = useDeferredValue(useSession(), undefined)
  const starting = useStarting()
  const { pathname, search, hash } = useLocation()
  const [wasHere, setWasHere] = useState(false)
  if (session && !wasHere) setWasHere(true)
  if (session === null) return <Navigate to="/signin" replace state={{ from: { pathname, search, hash }, signedOut: wasHere }} />
  return (
    <div className={styles.shell}>
      <Sidebar>{session && <SidebarActions key={session.user._id} />}</Sidebar>
      <main id="content" className={styles.main} tabIndex={-1}>
        <div className={styles.content}>
          {session === undefined && starting}
          {session && (
            <Fragment key={session.user._id}>
              <Notices />
              <Outlet />
            </Fragment>
          )}
        </div>
      </main>
    </div>
  )
}

/** What a screen shows in the page that was written at build time, by its handle. */
function useStarting(): ReactNode {
  const handle: unknown = useMatches().at(-1)?.handle
  return typeof handle === 'object' && handle !== null && 'starting' in handle && isValidElement(handle.starting) ? handle.starting : null
}
