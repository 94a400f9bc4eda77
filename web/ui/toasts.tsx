import '@mantine/core/styles/Notification.layer.css'
import '@mantine/notifications/styles.layer.css'
import { useMediaQuery } from '@mantine/hooks'
import { Notifications } from '@mantine/notifications'
import type { ReactNode } from 'react'
import controls from './controls.module.css'

/** On a phone toasts appear at the bottom, near the thumb that presses Undo. */
export function Toasts(): ReactNode {
  const phone = useMediaQuery('(max-width: 47.99em)')
  return (
    <Notifications position={phone ? 'bottom-center' : 'bottom-right'} limit={4} autoClose={5_000} className={controls.messages ?? ''} />
  )
}
