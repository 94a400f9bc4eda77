import '@mantine/core/styles/ScrollArea.layer.css'
import { ScrollArea } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './scroll-list.module.css'

/** A long list in a frame of its own; its children are the `<li>`. */
export function ScrollList({ label, children }: { label: string; children: ReactNode }): ReactNode {
  return (
    <ScrollArea.Autosize
      className={styles.frame ?? ''}
      mah="min(320px, 40vh)"
      type="auto"
      // What scrolls must be reachable by keyboard.
      viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': label }}
    >
      <ul className={styles.list}>{children}</ul>
    </ScrollArea.Autosize>
  )
}
