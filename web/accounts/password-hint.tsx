import { useDebouncedValue } from '@mantine/hooks'
import { type ReactNode, useEffect, useState } from 'react'
import { accountCalls, type PasswordHint as Hint } from '#contract/accounts.ts'
import { send } from '#web/platform/send.ts'
import styles from './password-hint.module.css'
import { texts } from './texts.ts'

const words = texts.strength
const bars = { weak: 1, fair: 2, strong: 3 }

/**
 * How well a new password would hold, once typing has paused. The server knows which ones everybody uses; that list is far too long for
 * a browser. A hint and no rule: where none can be had, nothing is shown.
 */
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
          <div className={styles.head}>
            <span className={styles.bars} aria-hidden>
              {[1, 2, 3].map((nth) => (
                <i key={nth} data-on={nth <= bars[hint.strength] || undefined} />
              ))}
            </span>
            <span>{words[hint.strength]}</span>
          </div>
          {hint.warning !== null && <div className={styles.warning}>{hint.warning}</div>}
        </>
      )}
    </div>
  )
}
