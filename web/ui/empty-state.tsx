import type { ReactNode } from 'react'
import styles from './empty-state.module.css'

interface EmptyStateProps {
  icon?: ReactNode
  title?: string
  /** h1 where it is the whole page. */
  heading?: 'h1' | 'h2'
  text?: string
  /** A second sentence, on a line of its own. */
  more?: string
  /** What to do next: a button or a link. */
  action?: ReactNode
}

/** Nothing to show: why, and what to do next. */
export function EmptyState({ icon, title, heading: Heading = 'h2', text, more, action }: EmptyStateProps): ReactNode {
  return (
    <div className={styles.empty}>
      {icon !== undefined && (
        <span className={styles.icon} aria-hidden>
          {icon}
        </span>
      )}
      {title !== undefined && <Heading className={styles.title}>{title}</Heading>}
      {text !== undefined && <p className={styles.text}>{text}</p>}
      {more !== undefined && <p className={styles.text}>{more}</p>}
      {action !== undefined && <div className={styles.action}>{action}</div>}
    </div>
  )
}
