import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import { Checkbox } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { QuietSettings } from '#contract/quiet-days.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { useApiQuery } from '#web/platform/query.ts'
import styles from './sequences.module.css'
import { sequenceTexts } from './texts.ts'

const texts = sequenceTexts.quiet

/** The quiet days that are saved together with a sequence, and the fields that choose them. */
export interface QuietTicks {
  settings: Partial<Pick<QuietSettings, 'quietWeekends' | 'quietHolidays'>>
  fields: ReactNode
}

/** Weekends and public holidays, ticked in advance where an account leaves Every day for the first time; `leaves`: for a sequence of its own. */
export function useQuietTicks(leaves: boolean): QuietTicks {
  const stored = useApiQuery(reminderCalls.settings).data
  const [settings, setSettings] = useState({ quietWeekends: true, quietHolidays: true })
  if (!leaves || stored?.sequence !== 'every_day' || stored.quietChosen) return { settings: {}, fields: null }
  const tick = (name: keyof typeof settings) => (
    <Checkbox
      label={texts[name]}
      checked={settings[name]}
      onChange={({ currentTarget }) => setSettings({ ...settings, [name]: currentTarget.checked })}
    />
  )
  const fields = (
    <fieldset className={styles.ticks}>
      <legend>{texts.title}</legend>
      {tick('quietWeekends')}
      {tick('quietHolidays')}
    </fieldset>
  )
  return { settings, fields }
}
