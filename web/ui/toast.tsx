import { notifications } from '@mantine/notifications'
import { IconAlertTriangle, IconCheck, IconInfoCircle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { texts } from './texts.ts'

const icons = { good: IconCheck, bad: IconAlertTriangle, info: IconInfoCircle }

/** Says something for five seconds; it can be closed before. Never the only sign that something failed. */
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

/** Takes a toast away before its time. */
export function dismissToast(id: string): void {
  notifications.hide(id)
}
