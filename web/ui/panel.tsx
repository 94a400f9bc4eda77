import type { ReactNode } from 'react'
import styles from './panel.module.css'

interface PanelProps {
  title?: string
  /** Beside the title: a pill or a button. */
  aside?: ReactNode
  children: ReactNode
}

/** A framed part of a screen: surface, hairline, radius 14. */
export function Panel({ title, aside, children }: PanelProps): ReactNode {
  return (
    <section className={styles.panel}>
      {(title !== undefined || aside !== undefined) && (
        <div className={styles.head}>
          {title !== undefined && <h2 className={styles.title}>{title}</h2>}
          {aside}
        </div>
      )}
      {children}
    </section>
  )
}
