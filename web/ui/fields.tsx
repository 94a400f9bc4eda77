import '@mantine/core/styles/PasswordInput.layer.css'
import { ActionIcon, NativeSelect, PasswordInput, type PasswordInputProps, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconCalendar } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { currencyCodes } from '#contract/currency-codes.ts'
import { readDate } from '#contract/dates.ts'
import controls from './controls.module.css'
import styles from './controls.module.css'
import { showDate } from './dates.ts'
import { texts } from './texts.ts'

/** A password field with a toggle that shows the password. */
export function PasswordField(props: PasswordInputProps): ReactNode {
  const [visible, { toggle }] = useDisclosure(false)
  return (
    <PasswordInput
      rightSectionWidth={44}
      {...props}
      classNames={{ visibilityToggle: controls.eye ?? '' }}
      visible={visible}
      onVisibilityChange={toggle}
      visibilityToggleButtonProps={{ 'aria-label': visible ? texts.password.hide : texts.password.show, tabIndex: 0 }}
    />
  )
}

/** Every currency for a select, such as `EUR, Euro`; those in use come first. `chosen`: shown by its code alone, for a narrow field. */
export function currencyChoices(used: string[], chosen?: string): { group: string; items: { value: string; label: string }[] }[] {
  const names = new Intl.DisplayNames('en', { type: 'currency' })
  const label = (code: string) => ({ value: code, label: code === chosen ? code : `${code}, ${names.of(code)}` })
  const others = currencyCodes.filter((code) => !used.includes(code))
  return [
    { group: texts.currencies.used, items: used.map(label) },
    { group: texts.currencies.others, items: others.map(label) },
  ]
}

/** `German (Deutsch)` for `de`. */
export function languageName(tag: string): string {
  const named = (inLanguage: string) => {
    try {
      return new Intl.DisplayNames(inLanguage, { type: 'language' }).of(tag) ?? tag
    } catch {
      return tag
    }
  }
  const [name, own] = [named('en'), named(tag)]
  return name === own ? name : `${name} (${own})`
}

interface LanguageFieldProps {
  label: string
  description?: string
  /** Those to choose from. */
  known: string[]
  /** What '' stands for; without it one has to be chosen. */
  inherited?: string
  /** Further choices. */
  more?: { value: string; label: string }[]
  value?: string
  disabled?: boolean
  error?: ReactNode
  onChange: (value: string) => void
}

/** A language of emails. */
export function LanguageField({ known, inherited, more = [], value = '', onChange, ...field }: LanguageFieldProps): ReactNode {
  const all = value === '' || known.includes(value) || more.some((one) => one.value === value) ? known : [...known, value]
  return (
    <NativeSelect
      {...field}
      data={[
        ...(inherited === undefined ? [] : [{ value: '', label: inherited }]),
        ...all.map((tag) => ({ value: tag, label: languageName(tag) })),
        ...more,
      ]}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

interface DateFieldProps {
  label: string
  description?: string
  error?: ReactNode
  required?: boolean
  /** `YYYY-MM-DD`, or '' for none. Text that is no date is passed on as typed. */
  value?: string
  onChange: (value: string) => void
  onBlur?: () => void
}

/** A date, typed and shown as day/month/year in every browser locale, or picked in the browser's calendar. Accepts `2026-03-31` too. */
export function DateField({ label, description, error, required, value = '', onChange, onBlur }: DateFieldProps): ReactNode {
  const picker = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState(show(value))
  useEffect(() => setTyped((before) => (readDate(before) === value || before === value ? before : show(value))), [value])
  const openPicker = () => {
    try {
      picker.current?.showPicker()
    } catch {
      // Not every browser opens its picker from a script.
      picker.current?.focus()
    }
  }
  return (
    <div className={styles.date}>
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

function show(value: string): string {
  return readDate(value) ? showDate(value) : value
}
