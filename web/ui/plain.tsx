import { IconCheck } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Plan } from '#contract/plans.ts'
import styles from './plain.module.css'

interface EmptyStateProps {
  icon?: ReactNode
  title?: string
  /** h1 where this is the whole page. */
  heading?: 'h1' | 'h2'
  text?: string
  /** A second paragraph. */
  more?: string
  /** The next step: a button or a link. */
  action?: ReactNode
}

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

interface PlanFeaturesProps {
  plan: Plan
  label?: string
  className?: string | undefined
  children?: ReactNode
}

export function PlanFeatures({ plan, label, className, children }: PlanFeaturesProps): ReactNode {
  return (
    <ul className={className === undefined ? styles.features : `${styles.features} ${className}`} aria-label={label}>
      {plan.features.map((text) => (
        <li key={text}>
          <IconCheck size={18} aria-hidden />
          <span>{text}</span>
        </li>
      ))}
      {children}
    </ul>
  )
}

/** The first letter of a name, upper-cased, by code points; '?' for an empty name. */
export function initialOf(name: string): string {
  return ([...name.trim()][0] ?? '?').toLocaleUpperCase('en')
}

/** Text that never breaks inside a reference such as INV-0001. */
export function NoWrap({ text }: { text: string }): ReactNode {
  const found = /[^\s-]{1,12}-\d{1,12}\.?/.exec(text)
  if (found === null) return text
  const [reference] = found
  return (
    <>
      {text.slice(0, found.index)}
      <span style={{ whiteSpace: 'nowrap' }}>{reference}</span>
      <NoWrap text={text.slice(found.index + reference.length)} />
    </>
  )
}
