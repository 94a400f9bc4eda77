import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Switch.layer.css'
import { Switch } from '@mantine/core'
import type { ReactNode } from 'react'
import { tagOfVersion } from '#contract/call.ts'
import { type ReminderSettings, reminderCalls } from '#contract/reminders.ts'
import { useSaveOnTop } from '#web/platform/conflict.tsx'
import { send, sendMatching } from '#web/platform/send.ts'
import styles from './reminders.module.css'
import { texts } from './texts.ts'

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

type SettingName = keyof typeof texts.settings.names

/** Saves settings that others may change meanwhile. */
export function useSaveSettings() {
  return useSaveOnTop<ReminderSettings, SettingName>({
    fields: texts.settings.names,
    read: () => send(reminderCalls.settings),
    write: (body, known) => sendMatching(reminderCalls.changeSettings, { body }, tagOfVersion(known)),
    shown: (field, of) => texts.settings.shown(of[field]),
  })
}
