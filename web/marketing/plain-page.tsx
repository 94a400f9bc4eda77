import type { ReactNode } from 'react'
import look from './plain-page.module.css'

/** The frame of a public page: a heading, a sentence, and what there is to say. */
export function PlainPage({ title, lead, children }: { title: string; lead: string; children: ReactNode }): ReactNode {
  return (
    <main id="content" className={look.page}>
      <title>{`${title} · Duely`}</title>
      <h1 className={look.title}>{title}</h1>
      <p className={look.lead}>{lead}</p>
      {children}
    </main>
  )
}
