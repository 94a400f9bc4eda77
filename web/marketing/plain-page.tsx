import type { ReactNode } from 'react'
import { PageMeta } from '#web/platform/page-meta.tsx'
import styles from './plain-page.module.css'

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
    <main id="content" className={styles.page}>
      <PageMeta title={`${words.title} · Duely`} description={words.description} path={path} />
      <h1 className={styles.title}>{words.title}</h1>
      <p className={styles.lead}>
        {words.lead} {more}
      </p>
      {children}
    </main>
  )
}
