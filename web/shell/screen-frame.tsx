import type { ReactNode } from 'react'
import { Outlet, useLocation } from 'react-router'
import { screens } from '#contract/screens.ts'
import { OfflineNotice } from './failure-screens.tsx'

export { CrashScreen as ErrorBoundary } from './failure-screens.tsx'

/** An error boundary per screen, so that the frame survives; on the dashboard also the offline notice. */
export default function ScreenFrame(): ReactNode {
  const { pathname } = useLocation()
  return (
    <>
      {pathname.startsWith(screens.dashboard) && <OfflineNotice />}
      <Outlet />
    </>
  )
}
