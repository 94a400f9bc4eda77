import type { ReactNode } from 'react'
import styles from './page-header.module.css'

interface PageHeaderProps {
  title: string
  subtitle?: string
  /** The one thing to do on this screen. */
  action?: ReactNode
}

/** The head of a screen: what it is, in one line what it is for, and its main button. Also names the browser's tab. */
export function PageHeader({ title, subtitle, action }: PageHeaderProps): ReactNode {
  return (
    <div className={styles.header}>
      <title>{`${title} · Duely`}</title>
      <div className={styles.words}>
        <h1 className={styles.title}>{title}</h1>
        {subtitle !== undefined && <p className={styles.subtitle}>{subtitle}</p>}
      </div>
      {action}
    </div>
  )
}
