import { type ReactNode, useId } from 'react'
import styles from './billing.module.css'

interface OptionRowProps<V extends string> {
  label: string
  options: { value: V; text: string; extra?: string }[]
  value: V
  disabled: boolean
  /** What the chosen one means. */
  hint: string | null
  /** A dialog begins here. */
  begins?: boolean
  onChange: (value: V) => void
}

/** A choice of two, side by side; arrow keys move between them. */
export function OptionRow<V extends string>({
  label,
  options,
  value,
  disabled,
  hint,
  begins = false,
  onChange,
}: OptionRowProps<V>): ReactNode {
  const name = useId()
  return (
    <fieldset className={styles.choice} disabled={disabled}>
      <legend>{label}</legend>
      <div className={styles.options}>
        {options.map((option) => (
          <label key={option.value} className={styles.option} data-chosen={option.value === value || undefined}>
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
              data-autofocus={(begins && option.value === value) || undefined}
            />
            <span>
              {option.text} {option.extra !== undefined && <em className={styles.extra}>{option.extra}</em>}
            </span>
          </label>
        ))}
      </div>
      {hint !== null && (
        <p className={styles.hint} aria-live="polite">
          {hint}
        </p>
      )}
    </fieldset>
  )
}
