import { type CSSProperties, type ReactNode, useEffect, useState } from 'react'
import { signed as withSign } from './texts.ts'

interface DayInputProps {
  label: string
  /** Null: none. */
  value: number | null
  /** With a plus or minus. */
  signed?: boolean
  placeholder?: string
  className?: string | undefined
  style?: CSSProperties
  data?: { tone?: string; selected?: boolean; invalid: boolean }
  describedBy?: string
  onFocus?: () => void
  onChange: (value: number) => void
  /** Where it may be empty. */
  onClear?: () => void
}

/** A whole number that is typed. What is no number yet stays in the field and changes nothing. */
export function DayInput(props: DayInputProps): ReactNode {
  const { label, value, signed = false, placeholder, className, style, data, describedBy, onFocus, onChange, onClear } = props
  const [typed, setTyped] = useState(show(value, signed))
  useEffect(() => setTyped((before) => (read(before) === value ? before : show(value, signed))), [value, signed])
  return (
    <input
      type="text"
      inputMode={signed ? 'text' : 'numeric'}
      autoComplete="off"
      maxLength={4}
      aria-label={label}
      aria-invalid={data?.invalid ?? false}
      aria-describedby={describedBy}
      data-tone={data?.tone}
      data-selected={data?.selected || undefined}
      placeholder={placeholder}
      className={className}
      style={style}
      value={typed}
      onFocus={onFocus}
      onBlur={() => setTyped(show(value, signed))}
      onChange={(event) => {
        const text = event.currentTarget.value
        setTyped(text)
        const number = read(text)
        if (number !== null) onChange(number)
        else if (text.trim() === '') onClear?.()
      }}
    />
  )
}

function show(number: number | null, signed: boolean): string {
  return number === null ? '' : signed ? withSign(number) : String(number)
}

function read(text: string): number | null {
  const plain = text.trim().replace(/^[−–]/, '-').replace(/^\+/, '')
  return /^-?\d{1,3}$/.test(plain) ? Number(plain) : null
}
