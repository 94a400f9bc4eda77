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
      <div className={styles.pageWords}>
        <h1 className={styles.pageTitle}>{title}</h1>
        {subtitle !== undefined && <p className={styles.subtitle}>{subtitle}</p>}
      </div>
      {action}
    </div>
  )
}

/** What is known of something, name by name: `<dt>` and `<dd>` in turn. `stacks`: one below the other on a phone, where values are long. */
export function FactList({ stacks = false, children }: { stacks?: boolean; children: ReactNode }): ReactNode {
  return (
    <dl className={styles.facts} data-stacks={stacks || undefined}>
      {children}
    </dl>
  )
}

export type PillTone = 'paid' | 'unpaid' | 'overdue' | 'quiet'

/** A status in its colour and always with its word. */
export function Pill({ tone, children }: { tone: PillTone; children: ReactNode }): ReactNode {
  return (
    <span className={styles.pill} data-tone={tone}>
      {children}
    </span>
  )
}
