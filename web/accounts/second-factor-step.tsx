import { TextInput, type TextInputProps } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import styles from './entry-page.module.css'
import { texts } from './texts.ts'

const words = texts.signIn.factor

interface SecondFactorStepProps {
  /** Whose password was right. */
  email: string
  /** Value, error and change of the field. */
  field: Pick<TextInputProps, 'value' | 'error' | 'onChange'>
  /** The other kind of code is to be entered: what was typed and said of this one is over. */
  onOther: () => void
  onBack: () => void
}

/** The second step of signing in: what the authenticator shows, or a recovery code. */
export function SecondFactorStep({ email, field, onOther, onBack }: SecondFactorStepProps): ReactNode {
  const [kind, setKind] = useState<'totp' | 'recovery'>('totp')
  const { label, hint, other } = words[kind]
  return (
    <>
      <p className={styles.lead}>
        {words.whose} <strong>{email}</strong>
      </p>
      <TextInput
        key={kind}
        label={label}
        description={hint}
        autoComplete="one-time-code"
        autoCapitalize="characters"
        spellCheck={false}
        inputMode={kind === 'totp' ? 'numeric' : 'text'}
        autoFocus
        required
        {...field}
      />
      <div className={styles.asides}>
        <button
          type="button"
          className={styles.aside}
          onClick={() => {
            setKind(kind === 'totp' ? 'recovery' : 'totp')
            onOther()
          }}
        >
          {other}
        </button>
        <button type="button" className={styles.aside} onClick={onBack}>
          {words.back}
        </button>
      </div>
    </>
  )
}
