import { Button, Loader, Skeleton } from '@mantine/core'
import { IconUserOff } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Outlet } from 'react-router'
import { accountCalls, type Profile } from '#contract/accounts.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { PageHeader } from '#web/ui/panel.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import { UrlTabs } from '#web/ui/url-tabs.tsx'
import { GoogleLinkReturn } from './google-link-return.tsx'
import styles from './profile.module.css'
import { ProfileDetails } from './profile-details.tsx'
import { ProfileHead } from './profile-head.tsx'
import { ProfilePreferences } from './profile-preferences.tsx'
import { ProfileSecurity } from './profile-security.tsx'
import { ProfileStats } from './profile-stats.tsx'
import { texts } from './texts.ts'

const words = texts.profile

/** /dashboard/profile */
export default function ProfileScreen(): ReactNode {
  const profile = useApiQuery(accountCalls.profile)
  return (
    <>
      <PageHeader title={words.title} subtitle={words.subtitle} />
      {profile.data ? <Found profile={profile.data} /> : profile.isError ? <Missing message={errorMessage(profile.error)} /> : <Coming />}
    </>
  )
}

function Found({ profile }: { profile: Profile }): ReactNode {
  return (
    <>
      <GoogleLinkReturn profile={profile} />
      <ProfileHead profile={profile} />
      <ProfileStats />
      <UrlTabs
        label={words.tabs.label}
        tabs={[
          { value: 'profile', label: words.tabs.profile, content: <ProfileDetails profile={profile} /> },
          { value: 'security', label: words.tabs.security, content: <ProfileSecurity profile={profile} /> },
          { value: 'subscription', label: words.tabs.subscription, content: <Outlet /> },
          { value: 'preferences', label: words.tabs.preferences, content: <ProfilePreferences profile={profile} /> },
        ]}
      />
    </>
  )
}

function Missing({ message }: { message: string }): ReactNode {
  const { title, text, retry } = words.missing
  return (
    <div role="alert">
      <EmptyState
        icon={<IconUserOff />}
        title={title}
        text={text}
        action={
          <>
            <p className={styles.reason}>{message}</p>
            <Button onClick={() => window.location.reload()}>{retry}</Button>
          </>
        }
      />
    </div>
  )
}

function Coming(): ReactNode {
  return (
    <div role="status">
      <div className={styles.coming}>
        <Loader size={28} />
        <p>{words.loading}</p>
      </div>
      <div className={styles.stats} aria-hidden>
        {[1, 2, 3, 4].map((nth) => (
          <Skeleton key={nth} height={94} radius={14} />
        ))}
      </div>
      <Skeleton height={300} radius={14} aria-hidden />
    </div>
  )
}
