import { useDebouncedValue } from '@mantine/hooks'
import { type ReactNode, useEffect, useState } from 'react'
import { accountCalls, type PasswordHint as Hint } from '#contract/accounts.ts'
import styles from '#web/accounts/entry/entry.module.css'
import { send } from '#web/platform/send.ts'
import { PasswordField } from '#web/ui/fields.tsx'
import { texts } from './texts.ts'

const strengthTexts = texts.strength
const bars = { weak: 1, fair: 2, strong: 3 }

/** The strength of a new password, once typing pauses. The server checks it: the list of common passwords is too long for a browser. */
export function PasswordHint({ password }: { password: string }): ReactNode {
  const [settled] = useDebouncedValue(password, 350)
  const [found, setFound] = useState<{ of: string; hint: Hint } | null>(null)
  useEffect(() => {
    if (settled === '' || settled.length > 1024) return
    let current = true
    send(accountCalls.hintAtPassword, { body: { password: settled } }).then(
      (hint) => current && setFound({ of: settled, hint }),
      () => undefined,
    )
    return () => {
      current = false
    }
  }, [settled])
  const hint = password !== '' && found?.of === password ? found.hint : null
  return (
    <div className={styles.hint} data-typed={password !== '' || undefined} data-strength={hint?.strength} role="status">
      {hint && (
        <>
          <div className={styles.hintHead}>
            <span className={styles.bars} aria-hidden>
              {[1, 2, 3].map((nth) => (
                <i key={nth} data-on={nth <= bars[hint.strength] || undefined} />
              ))}
            </span>
            <span>{strengthTexts[hint.strength]}</span>
          </div>
          {hint.warning !== null && <div className={styles.hintWarning}>{hint.warning}</div>}
        </>
      )}
    </div>
  )
}

interface TypedTwice {
  newPassword: string
  confirmPassword: string
}

/** Errors of a change of password, per field; `shortest` is the server's minimum. */
export function newPasswordProblems(typed: TypedTwice & { currentPassword: string }, shortest: number): Record<string, string> {
  return {
    ...(typed.currentPassword === '' ? { currentPassword: texts.profile.password.currentMissing } : {}),
    ...typedTwice(typed, shortest),
  }
}

/** Errors of a new password and its repetition, per field. */
export function typedTwice(typed: TypedTwice, shortest: number): Record<string, string> {
  const { password } = texts.profile
  return {
    ...(typed.newPassword.length < shortest ? { newPassword: password.tooShort(shortest) } : {}),
    ...(typed.newPassword === typed.confirmPassword ? {} : { confirmPassword: password.mismatch }),
  }
}

interface NewPasswordFieldsProps {
  form: { getInputProps: (field: keyof TypedTwice) => object; getValues: () => TypedTwice }
  shortest: number
  autoFocus?: boolean
}

/** A new password with its strength, and its repetition. */
export function NewPasswordFields({ form, shortest, autoFocus = false }: NewPasswordFieldsProps): ReactNode {
  const { password } = texts.profile
  return (
    <>
      <div>
        <PasswordField
          label={password.next}
          description={password.nextHint(shortest)}
          autoComplete="new-password"
          required
          data-autofocus={autoFocus || undefined}
          {...form.getInputProps('newPassword')}
        />
        <PasswordHint password={form.getValues().newPassword} />
      </div>
      <PasswordField label={password.again} autoComplete="new-password" required {...form.getInputProps('confirmPassword')} />
    </>
  )
}
