import type { ReactNode } from 'react'
import styles from './fact-list.module.css'

/** What is known of something, name by name: `<dt>` and `<dd>` in turn. `stacks`: one below the other on a phone, where values are long. */
export function FactList({ stacks = false, children }: { stacks?: boolean; children: ReactNode }): ReactNode {
  return (
    <dl className={styles.facts} data-stacks={stacks || undefined}>
      {children}
    </dl>
  )
}
