import type { ReactNode } from 'react'
import type { Profile } from '#contract/accounts.ts'
import { dateIn, showDate } from '#web/ui/dates.ts'
import { Panel } from '#web/ui/panel.tsx'
import { initialOf } from '#web/ui/plain.tsx'
import styles from './profile.module.css'
import { texts } from './texts.ts'

/** Principal this is, and since when. */
export function ProfileHead({ profile }: { profile: Profile }): ReactNode {
  const { displayName, email, createdAt, timezone } = profile
  return (
    <Panel>
      <div className={styles.person}>
        <span className={styles.circle} aria-hidden>
          {initialOf(displayName)}
        </span>
        <div className={styles.words}>
          <h2 className={styles.name}>{displayName}</h2>
          <div className={styles.email}>{email}</div>
          <div className={styles.quiet}>{texts.profile.memberSince(showDate(dateIn(timezone, new Date(createdAt))))}</div>
        </div>
      </div>
    </Panel>
  )
}
