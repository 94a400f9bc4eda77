import type { ReactNode } from 'react'
import { PageMeta } from '#web/platform/page-meta.tsx'
import styles from './plain-page.module.css'

interface PlainPageProps {
  texts: { title: string; description: string; lead: string }
  path: string
  /** Appended to the lead. */
  more?: ReactNode
  children: ReactNode
}

export function PlainPage({ texts, path, more, children }: PlainPageProps): ReactNode {
  return (
    <main id="content" className={styles.page}>
      <PageMeta title={`${texts.title} · Duely`} description={texts.description} path={path} />
      <h1 className={styles.title}>{texts.title}</h1>
      <p className={styles.lead}>
        {texts.lead} {more}
      </p>
      {children}
    </main>
  )
}
