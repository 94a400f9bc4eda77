import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Switch.layer.css'
import { Switch } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './reminders.module.css'

export const parts = ['next', 'last-runs', 'settings'] as const
export type PartName = (typeof parts)[number]

interface PartProps {
  id: PartName
  title: string
  /** Beside the title. */
  aside?: ReactNode
  children: ReactNode
}

/** One of the three parts of Reminder Control; its heading takes the focus when the screen leads to it. */
export function Part({ id, title, aside, children }: PartProps): ReactNode {
  return (
    <section className={styles.part} data-part={id} aria-labelledby={id}>
      <div className={styles.partHead}>
        <h2 id={id} tabIndex={-1} className={styles.partTitle}>
          {title}
        </h2>
        {aside}
      </div>
      {children}
    </section>
  )
}

/** Scrolls to a part and moves the focus to its heading. */
export function showPart(name: PartName): void {
  const heading = document.getElementById(name)
  heading?.closest('section')?.scrollIntoView({ block: 'start' })
  heading?.focus({ preventScroll: true })
}

interface SettingSwitchProps {
  label: string
  description: string
  on: boolean
  busy?: boolean
  disabled?: boolean
  onChange: (on: boolean) => void
}

export function SettingSwitch({ label, description, on, busy = false, disabled = false, onChange }: SettingSwitchProps): ReactNode {
  return (
    <Switch
      size="md"
      label={label}
      description={description}
      checked={on}
      aria-busy={busy}
      disabled={disabled}
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
