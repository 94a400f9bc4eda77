import type { ReactNode } from 'react'
import { Outlet } from 'react-router'

export { CrashScreen as ErrorBoundary } from './crash-screen.tsx'

/** A screen inside its frame: when the screen breaks, the frame stays. */
export default function ScreenFrame(): ReactNode {
  return <Outlet />
}
