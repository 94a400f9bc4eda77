import type { ReactNode } from 'react'
import type { SenderPause } from '#contract/mail.ts'
import { Notice } from '#web/ui/notice.tsx'
import { GmailButton } from './gmail-button.tsx'
import { gmailTexts } from './gmail-texts.ts'
import styles from './mail.module.css'

/** Google took the permission back, or the person did: nothing leaves until Gmail is connected again. */
export function GmailPause({ pause }: { pause: SenderPause }): ReactNode {
  return (
    <Notice tone="bad" title={gmailTexts.paused.title} action={<GmailButton kind="again" />}>
      {pause.message !== '' && <p className={styles.words}>{pause.message}</p>}
      <p className={styles.words}>{gmailTexts.paused.todo}</p>
    </Notice>
  )
}
