import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Switch.layer.css'
import { Switch } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './reminders.module.css'

interface SettingSwitchProps {
  label: string
  description: string
  on: boolean
  busy?: boolean
  onChange: (on: boolean) => void
}

export function SettingSwitch({ label, description, on, busy = false, onChange }: SettingSwitchProps): ReactNode {
  return (
    <Switch
      size="md"
      label={label}
      description={description}
      checked={on}
      aria-busy={busy}
      classNames={{
        track: styles.switchTrack ?? '',
        label: styles.switchLabel ?? '',
        description: styles.switchHint ?? '',
        body: styles.switchBody ?? '',
      }}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
  )
}
