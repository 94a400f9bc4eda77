import { ActionIcon, TextInput } from '@mantine/core'
import { IconCalendar } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import styles from './date-field.module.css'
import { showDate } from './dates.ts'
import { texts } from './texts.ts'

interface DateFieldProps {
  label: string
  description?: string
  error?: ReactNode
  required?: boolean
  /** `YYYY-MM-DD`, or '' where none is chosen. What cannot be read as a date arrives as it was typed. */
  value?: string
  onChange: (value: string) => void
  onBlur?: () => void
}

/**
 * A date of the calendar, typed and shown day/month/year whatever the browser's language, or picked in the browser's own calendar.
 * `2026-03-31` is understood too.
 */
export function DateField({ label, description, error, required, value = '', onChange, onBlur }: DateFieldProps): ReactNode {
  const picker = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState(show(value))
  useEffect(() => setTyped((before) => (readDate(before) === value || before === value ? before : show(value))), [value])
  const openPicker = () => {
    try {
      picker.current?.showPicker()
    } catch {
      // Not every browser opens it for a script; the field can be typed in all the same.
      picker.current?.focus()
    }
  }
  return (
    <div className={styles.field}>
      <TextInput
        label={label}
        description={description}
        error={error}
        required={required ?? false}
        placeholder={texts.dates.shape}
        inputMode="numeric"
        autoComplete="off"
        maxLength={24}
        value={typed}
        onChange={(event) => {
          const text = event.currentTarget.value
          setTyped(text)
          onChange(readDate(text) ?? text.trim())
        }}
        onBlur={() => {
          const read = readDate(typed)
          if (read) setTyped(showDate(read))
          onBlur?.()
        }}
        rightSectionWidth={44}
        rightSection={
          <ActionIcon aria-label={texts.dates.open} onClick={openPicker}>
            <IconCalendar size={19} stroke={1.7} />
          </ActionIcon>
        }
      />
      <input
        ref={picker}
        type="date"
        className={styles.picker}
        tabIndex={-1}
        aria-hidden
        value={readDate(value) ?? ''}
        onChange={(event) => {
          setTyped(show(event.currentTarget.value))
          onChange(event.currentTarget.value)
        }}
      />
    </div>
  )
}

/** `31/3/2026`, `31.03.2026`, `31-03-26` or `2026-03-31` as `2026-03-31`; null where the calendar has no such day. */
export function readDate(text: string): string | null {
  const iso = /^\s*(\d{4})-(\d{1,2})-(\d{1,2})\s*$/.exec(text)
  const spoken = /^\s*(\d{1,2})[/.\- ](\d{1,2})[/.\- ](\d{4}|\d{2})\s*$/.exec(text)
  const [year, month, day] = iso ? [iso[1], iso[2], iso[3]] : spoken ? [spoken[3], spoken[2], spoken[1]] : []
  if (!year || !month || !day) return null
  const date = `${year.length === 2 ? `20${year}` : year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  const instant = new Date(`${date}T00:00:00Z`)
  return !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(date) ? date : null
}

function show(value: string): string {
  return readDate(value) ? showDate(value) : value
}
