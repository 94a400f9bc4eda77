import type { ReactNode } from 'react'
import type { Profile } from '#contract/accounts.ts'
import { dateIn, showDate } from '#web/ui/dates.ts'
import { initialOf } from '#web/ui/initial.ts'
import { Panel } from '#web/ui/panel.tsx'
import look from './profile.module.css'
import { texts } from './texts.ts'

/** Who this is, and since when. */
export function ProfileHead({ profile }: { profile: Profile }): ReactNode {
  const { displayName, email, createdAt, timezone } = profile
  return (
    <Panel>
      <div className={look.person}>
        <span className={look.circle} aria-hidden>
          {initialOf(displayName)}
        </span>
        <div className={look.words}>
          <h2 className={look.name}>{displayName}</h2>
          <div className={look.email}>{email}</div>
          <div className={look.quiet}>{texts.profile.memberSince(showDate(dateIn(timezone, new Date(createdAt))))}</div>
        </div>
      </div>
    </Panel>
  )
}
