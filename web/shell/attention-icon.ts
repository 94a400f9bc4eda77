import {
  IconAlertCircle,
  IconCalendarX,
  IconInfoCircle,
  IconMailExclamation,
  IconMailOff,
  IconPlayerPause,
  IconPlugConnectedX,
  IconSparkles,
} from '@tabler/icons-react'

const icons = {
  mailbox: IconPlugConnectedX,
  address: IconMailOff,
  delivery: IconMailExclamation,
  promise: IconCalendarX,
  approval: IconInfoCircle,
  webhook: IconPlugConnectedX,
  service: IconAlertCircle,
  plan: IconSparkles,
} as const

/** The icon of a cause; a plan that holds something back is paused. */
export function attentionIcon({ kind, tone }: { kind: keyof typeof icons; tone: 'bad' | 'warn' | 'info' }): typeof IconAlertCircle {
  return kind === 'plan' && tone === 'warn' ? IconPlayerPause : icons[kind]
}
