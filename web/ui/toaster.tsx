import { notificationsStore } from '@mantine/notifications'
import { type ComponentType, type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'

const load = async () => (await import('./toasts.tsx')).Toasts

/** Where messages appear. Its code is fetched at the first touch of the page: nothing is said before somebody does something. */
export function Toaster(): ReactNode {
  const [Toasts, setToasts] = useState<ComponentType | null>(null)
  const said = useSyncExternalStore(
    (changed) => notificationsStore.subscribe(changed),
    () => notificationsStore.getState().notifications.length,
    () => 0,
  )
  useEffect(() => {
    if (Toasts) return
    // Where it cannot be fetched, the next message tries again.
    const fetchIt = () => {
      load().then(
        (loaded) => setToasts(() => loaded),
        () => undefined,
      )
    }
    if (said > 0) fetchIt()
    const events = ['pointerdown', 'keydown'] as const
    for (const event of events) window.addEventListener(event, fetchIt, { once: true })
    return () => {
      for (const event of events) window.removeEventListener(event, fetchIt)
    }
  }, [Toasts, said])
  return Toasts && <Toasts />
}
