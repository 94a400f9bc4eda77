import type { ReactNode } from 'react'
import look from './entry-page.module.css'

/** The card that a page of its own stands in: signing in, signing up and whatever leads back in. */
export function EntryCard({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <main id="content" className={look.page}>
      <div className={look.card}>
        <div className={look.line} aria-hidden>
          <i />
          <i />
          <i />
        </div>
        <h1 className={look.title}>{title}</h1>
        {children}
      </div>
    </main>
  )
}
