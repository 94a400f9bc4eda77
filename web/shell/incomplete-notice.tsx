import type { ReactNode } from 'react'
import styles from './incomplete-notice.module.css'
import notice from './offline-notice.module.css'
import { texts } from './texts.ts'

/** Under this name the script of a page finds it (`web/entry.server.tsx`). */
export const incompleteId = 'incomplete'

/** Hidden in every page, and shown where what makes the page alive did not arrive: then nothing else can say so. */
export function IncompleteNotice(): ReactNode {
  return (
    <div id={incompleteId} role="alert" className={styles.place} hidden>
      <div className={notice.notice}>
        <div>
          <strong>{texts.incomplete.title}</strong>
          {texts.incomplete.text}
        </div>
      </div>
    </div>
  )
}
