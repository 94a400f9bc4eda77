import { Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import { accountCalls, type Profile } from '#contract/accounts.ts'
import { useRead } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { dateIn, showDate } from '#web/ui/dates.ts'
import { PageHeader } from '#web/ui/page-header.tsx'
import { Panel } from '#web/ui/panel.tsx'
import look from './profile.module.css'
import { ScheduleForm } from './schedule-form.tsx'
import { texts } from './texts.ts'

/** /dashboard/profile */
export default function ProfileScreen(): ReactNode {
  const profile = useRead(accountCalls.profile)
  const words = texts.profile
  return (
    <>
      <PageHeader title={words.title} subtitle={words.subtitle} />
      <QueryView
        query={profile}
        loading={words.loading}
        skeleton={<Skeleton height={116} mb={20} radius={14} />}
        error={words.failed}
        empty={null}
      >
        {(found) => (
          <>
            <Person profile={found} />
            <Panel title={words.reminders}>
              <ScheduleForm profile={found} />
            </Panel>
            <p className={look.later}>{words.later}</p>
          </>
        )}
      </QueryView>
    </>
  )
}

function Person({ profile }: { profile: Profile }): ReactNode {
  const { displayName, email, createdAt, timezone } = profile
  return (
    <Panel>
      <div className={look.person}>
        <span className={look.circle} aria-hidden>
          {[...displayName.trim()][0]?.toLocaleUpperCase('en')}
        </span>
        <div className={look.words}>
          <h2 className={look.name}>{displayName}</h2>
          <div className={look.email}>{email}</div>
          <div className={look.since}>{texts.profile.memberSince(showDate(dateIn(timezone, new Date(createdAt))))}</div>
        </div>
      </div>
    </Panel>
  )
}
