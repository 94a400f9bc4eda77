import type { ReactNode } from 'react'
import { PageMeta } from '#web/platform/page-meta.tsx'
import look from './plain-page.module.css'

interface PlainPageProps {
  words: { title: string; description: string; lead: string }
  path: string
  /** A further sentence of the lead. */
  more?: ReactNode
  children: ReactNode
}

/** The frame of a public page: a heading, a sentence, and what there is to say. */
export function PlainPage({ words, path, more, children }: PlainPageProps): ReactNode {
  return (
    <main id="content" className={look.page}>
      <PageMeta title={`${words.title} · Duely`} description={words.description} path={path} />
      <h1 className={look.title}>{words.title}</h1>
      <p className={look.lead}>
        {words.lead} {more}
      </p>
      {children}
    </main>
  )
}
