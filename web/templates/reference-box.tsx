import type { ReactNode } from 'react'
import { Panel } from '#web/ui/panel.tsx'
import styles from './email-templates.module.css'
import { texts } from './texts.ts'

interface ReferenceBoxProps {
  subject: string
  content: string
  /** The person's own wording is in use, and this is only for comparing. */
  custom: boolean
}

/** The default wording, as it is written. */
export function ReferenceBox({ subject, content, custom }: ReferenceBoxProps): ReactNode {
  return (
    <Panel title={custom ? texts.reference.custom : texts.reference.current}>
      <dl className={styles.wording}>
        <dt>{texts.subject}</dt>
        <dd>{subject}</dd>
        <dt>{texts.content}</dt>
        <dd>{content}</dd>
      </dl>
    </Panel>
  )
}
