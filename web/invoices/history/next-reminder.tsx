import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { holdReasonOf, type InvoiceHistory } from '#contract/reminders.ts'
import { showComing } from '#web/ui/dates.ts'
import styles from './history.module.css'
import { texts } from './texts.ts'

interface NextReminderProps {
  /** Undefined until it is loaded. */
  history: InvoiceHistory | undefined
  zone: string | undefined
  now: Date
}

/** The next reminder in one line, or why there is none and where to change that. */
export function NextReminder({ history, zone, now }: NextReminderProps): ReactNode {
  if (!history) return null
  const { nextAt, reason, mails } = history
  const coming = nextAt === null ? null : showComing(zone, new Date(nextAt), now)
  if (coming !== null && (reason === null || reason === 'paused'))
    return (
      <span className={styles.next}>
        {texts.next} <strong>{reason === 'paused' ? texts.afterPause(coming) : coming}</strong>
      </span>
    )
  if (reason === null) return <span className={styles.next}>{texts.noDate}</span>
  const held = reason === 'open_mail' ? mails.find(({ state }) => state === 'held') : undefined
  if (reason === 'open_mail' && !held && coming !== null && nextAt !== null && new Date(nextAt) > now)
    return <span className={styles.next}>{texts.delayed(coming)}</span>
  const { text, to, link } = held ? texts.held[holdReasonOf(held.reason)] : texts.reasons[reason]
  return (
    <span className={styles.next}>
      {text} {to !== null && <Link to={to}>{link}</Link>}
    </span>
  )
}
