import { IconAlertCircle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import styles from './form-error.module.css'

/** What went wrong with a form as a whole, under its button; read aloud when it appears. */
export function FormError({ message }: { message: string | null }): ReactNode {
  return (
    <div role="alert" className={styles.slot}>
      {message !== null && (
        <p className={styles.message}>
          <IconAlertCircle size={18} aria-hidden />
          <span>{message}</span>
        </p>
      )}
    </div>
  )
}
