import { IconAlertCircle, IconAlertTriangle, IconCircleCheck, IconInfoCircle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import styles from './controls.module.css'

type Tone = 'info' | 'good' | 'warn' | 'bad'

const icons = { info: IconInfoCircle, good: IconCircleCheck, warn: IconAlertTriangle, bad: IconAlertTriangle }

interface NoticeProps {
  tone: Tone
  title?: string
  children: ReactNode
  /** A button or a link that helps. */
  action?: ReactNode
}

/** A framed message that stays: a warning above a screen, or a failure inside it. */
export function Notice({ tone, title, children, action }: NoticeProps): ReactNode {
  const Icon = icons[tone]
  return (
    <div className={styles.notice} data-tone={tone} role={tone === 'bad' ? 'alert' : 'status'}>
      <Icon size={20} aria-hidden className={styles.noticeIcon} />
      <div className={styles.noticeWords}>
        <div className={styles.noticeText}>
          {title !== undefined && <strong>{title}</strong>}
          <div>{children}</div>
        </div>
        {action !== undefined && <div className={styles.noticeAction}>{action}</div>}
      </div>
    </div>
  )
}

/** The error of a form as a whole, announced when it appears. */
export function FormError({ message }: { message: string | null }): ReactNode {
  return (
    <div role="alert">
      {message !== null && (
        <p className={styles.formError}>
          <IconAlertCircle size={18} aria-hidden />
          <span>{message}</span>
        </p>
      )}
    </div>
  )
}
