import type { ReactNode } from 'react'
import look from './page-header.module.css'

interface PageHeaderProps {
  title: string
  subtitle?: string
  /** The one thing to do on this screen. */
  action?: ReactNode
}

/** The head of a screen: what it is, in one line what it is for, and its main button. Also names the browser's tab. */
export function PageHeader({ title, subtitle, action }: PageHeaderProps): ReactNode {
  return (
    <div className={look.header}>
      <title>{`${title} · Duely`}</title>
      <div className={look.words}>
        <h1 className={look.title}>{title}</h1>
        {subtitle !== undefined && <p className={look.subtitle}>{subtitle}</p>}
      </div>
      {action}
    </div>
  )
}
