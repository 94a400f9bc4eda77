import { IconCheck, IconClock } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Plan } from '#contract/plans.ts'
import styles from './plan-features.module.css'
import { texts } from './texts.ts'

interface PlanFeaturesProps {
  plan: Plan
  label?: string
  className?: string | undefined
  /** Further items of the list. */
  children?: ReactNode
}

/** What a plan holds; what it only promises says so. */
export function PlanFeatures({ plan, label, className, children }: PlanFeaturesProps): ReactNode {
  return (
    <ul className={className === undefined ? styles.features : `${styles.features} ${className}`} aria-label={label}>
      {plan.features.map(({ text, coming }) => (
        <li key={text} data-coming={coming || undefined}>
          {coming ? <IconClock size={18} aria-hidden /> : <IconCheck size={18} aria-hidden />}
          <span>
            {text} {coming && <em className={styles.coming}>{texts.coming}</em>}
          </span>
        </li>
      ))}
      {children}
    </ul>
  )
}
