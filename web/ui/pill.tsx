import type { ReactNode } from 'react'
import styles from './pill.module.css'

export type PillTone = 'paid' | 'unpaid' | 'overdue' | 'quiet'

/** A status in its colour and always with its word. */
export function Pill({ tone, children }: { tone: PillTone; children: ReactNode }): ReactNode {
  return (
    <span className={styles.pill} data-tone={tone}>
      {children}
    </span>
  )
}
