import type { ReactNode } from 'react'
import { Outlet, useLocation } from 'react-router'
import { OfflineNotice } from './offline-notice.tsx'

export { CrashScreen as ErrorBoundary } from './crash-screen.tsx'

/** A screen inside its frame: when the screen breaks, the frame stays. Above those of the dashboard stands whether they can be reached at all. */
export default function ScreenFrame(): ReactNode {
  const { pathname } = useLocation()
  return (
    <>
      {pathname.startsWith('/dashboard') && <OfflineNotice />}
      <Outlet />
    </>
  )
}
