import type { ReactNode } from 'react'
import styles from './panel.module.css'

interface PanelProps {
  title?: string
  /** Beside the title: a pill or a button. */
  aside?: ReactNode
  children: ReactNode
}

/** A framed section of a screen. */
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
  /** The screen's main action. */
  action?: ReactNode
  /** Below the title, in place of a subtitle. */
  children?: ReactNode
}

/** The head of a screen: title, one line on its purpose, main action. Also sets the tab's title. */
export function PageHeader({ title, subtitle, action, children }: PageHeaderProps): ReactNode {
  return (
    <div className={styles.header}>
      <title>{`${title} · Duely`}</title>
      <div className={styles.pageWords}>
        <h1 className={styles.pageTitle}>{title}</h1>
        {subtitle !== undefined && <p className={styles.subtitle}>{subtitle}</p>}
        {children}
      </div>
      {action}
    </div>
  )
}

/** `<dt>` and `<dd>` pairs. `stacks`: values are long, so they go below their names on a phone. */
export function FactList({ stacks = false, children }: { stacks?: boolean; children: ReactNode }): ReactNode {
  return (
    <dl className={styles.facts} data-stacks={stacks || undefined}>
      {children}
    </dl>
  )
}

export type PillTone = 'paid' | 'unpaid' | 'overdue' | 'quiet'

/** A status: colour and word, never colour alone. */
export function Pill({ tone, children }: { tone: PillTone; children: ReactNode }): ReactNode {
  return (
    <span className={styles.pill} data-tone={tone}>
      {children}
    </span>
  )
}
