import { notifications, notificationsStore } from '@mantine/notifications'
import { IconAlertTriangle, IconCheck, IconInfoCircle } from '@tabler/icons-react'
import { type ComponentType, type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import styles from './controls.module.css'
import { texts } from './texts.ts'

const icons = { good: IconCheck, bad: IconAlertTriangle, info: IconInfoCircle }

/** Shows a message for five seconds. Must never be the only sign of a failure. */
export function toast(tone: 'good' | 'bad' | 'info', message: ReactNode): string {
  const Icon = icons[tone]
  return notifications.show({
    message,
    icon: <Icon size={18} />,
    autoClose: 5_000,
    withCloseButton: true,
    'data-tone': tone,
    closeButtonProps: { 'aria-label': texts.closeMessage, size: 44, iconSize: 18 },
    role: tone === 'bad' ? 'alert' : 'status',
  })
}

function dismissToast(id: string): void {
  notifications.hide(id)
}

const load = async () => (await import('./toasts.tsx')).Toasts

/** Where toasts appear. Its code is loaded at the first interaction, because no toast can come before. */
export function Toaster(): ReactNode {
  const [Toasts, setToasts] = useState<ComponentType | null>(null)
  const said = useSyncExternalStore(
    (changed) => notificationsStore.subscribe(changed),
    () => notificationsStore.getState().notifications.length,
    () => 0,
  )
  useEffect(() => {
    if (Toasts) return
    // After a failed load, the next toast retries.
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

/** A toast with an Undo button. */
export function undoToast(message: string, undo: () => void, tone: 'good' | 'info' = 'info'): void {
  const shown: { id: string | null } = { id: null }
  const takeBack = () => {
    if (shown.id !== null) dismissToast(shown.id)
    undo()
  }
  shown.id = toast(tone, <Undo message={message} onUndo={takeBack} />)
}

function Undo({ message, onUndo }: { message: string; onUndo: () => void }): ReactNode {
  return (
    <span className={styles.done}>
      {message}
      <button type="button" className={styles.undo} onClick={onUndo}>
        {texts.undo}
      </button>
    </span>
  )
}

/** Clamps a long message for a toast; the page shows all of it. */
export function brief(message: string): ReactNode {
  return <span className={styles.brief}>{message}</span>
}
