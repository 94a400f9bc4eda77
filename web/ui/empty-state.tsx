import type { ReactNode } from 'react'
import look from './empty-state.module.css'

interface EmptyStateProps {
  icon?: ReactNode
  title?: string
  text?: string
  /** What to do next: a button or a link. */
  action?: ReactNode
}

/** Nothing to show: why, and what to do next. */
export function EmptyState({ icon, title, text, action }: EmptyStateProps): ReactNode {
  return (
    <div className={look.empty}>
      {icon !== undefined && (
        <span className={look.icon} aria-hidden>
          {icon}
        </span>
      )}
      {title !== undefined && <h2 className={look.title}>{title}</h2>}
      {text !== undefined && <p className={look.text}>{text}</p>}
      {action !== undefined && <div className={look.action}>{action}</div>}
    </div>
  )
}
