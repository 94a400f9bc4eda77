import { type ReactNode, useEffect } from 'react'
import { Outlet, useLocation } from 'react-router'
import { toast } from '#web/ui/toast.tsx'
import { takeSaid } from './arrival.ts'
import { PlanBanners } from './plan-banners.tsx'

/** Around every screen of the dashboard: what is to be known of the plan stands above it. */
export default function PlanFrame(): ReactNode {
  const { pathname } = useLocation()
  useEffect(() => {
    const said = takeSaid()
    if (said !== null) toast('good', said)
  }, [])
  return (
    <>
      <PlanBanners path={pathname} />
      <Outlet />
    </>
  )
}
