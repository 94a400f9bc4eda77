import type { ReactNode } from 'react'
import styles from './entry-page.module.css'

/** The card that a page of its own stands in: signing in, signing up and whatever leads back in. */
export function EntryCard({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <main id="content" className={styles.page}>
      <div className={styles.card}>
        <div className={styles.line} aria-hidden>
          <i />
          <i />
          <i />
        </div>
        <h1 className={styles.title}>{title}</h1>
        {children}
      </div>
    </main>
  )
}
