import { useLocation, useNavigate } from 'react-router'

/** Asks for reminders to be triggered: `?trigger` opens the question over whichever screen of the dashboard is open. */
export function useTrigger(): () => void {
  const navigate = useNavigate()
  const { pathname } = useLocation()
  return () => {
    const onDashboard = pathname.startsWith('/dashboard')
    const asked = new URLSearchParams(onDashboard ? window.location.search : '')
    asked.set('trigger', '')
    const search = `?${asked}`
    if (onDashboard) void navigate({ search }, { replace: true, preventScrollReset: true })
    else void navigate({ pathname: '/dashboard', search })
  }
}
