import type { ReactNode } from 'react'
import look from './panel.module.css'

interface PanelProps {
  title?: string
  /** Beside the title: a pill or a button. */
  aside?: ReactNode
  children: ReactNode
}

/** A framed part of a screen: surface, hairline, radius 14. */
export function Panel({ title, aside, children }: PanelProps): ReactNode {
  return (
    <section className={look.panel}>
      {(title !== undefined || aside !== undefined) && (
        <div className={look.head}>
          {title !== undefined && <h2 className={look.title}>{title}</h2>}
          {aside}
        </div>
      )}
      {children}
    </section>
  )
}
