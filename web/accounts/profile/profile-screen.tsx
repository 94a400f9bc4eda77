import { Button, Loader, Skeleton } from '@mantine/core'
import { IconCoinRupee, IconCrown, IconFileInvoice, IconMail, IconUserOff } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Outlet } from 'react-router'
import { accountCalls, type Profile } from '#contract/accounts.ts'
import { billingCalls } from '#contract/billing.ts'
import { formatSums } from '#contract/money.ts'
import { texts } from '#web/accounts/texts.ts'
import { useCurrency } from '#web/platform/account.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { TryAgain } from '#web/platform/query-view.tsx'
import { dateIn, showDate } from '#web/ui/dates.ts'
import { Notice } from '#web/ui/notice.tsx'
import { PageHeader, Panel } from '#web/ui/panel.tsx'
import { EmptyState, initialOf } from '#web/ui/plain.tsx'
import { UrlTabs } from '#web/ui/url-tabs.tsx'
import { ProfileDetails } from './details.tsx'
import { GoogleLinkReturn } from './google.tsx'
import { ProfilePreferences } from './preferences.tsx'
import styles from './profile.module.css'
import { ProfileSecurity } from './security.tsx'

const t = texts.profile

/** /dashboard/profile */
export default function ProfileScreen(): ReactNode {
  const profile = useApiQuery(accountCalls.profile)
  return (
    <>
      <PageHeader title={t.title} subtitle={t.subtitle} />
      {profile.data ? (
        <Found profile={profile.data} />
      ) : profile.isError ? (
        <Missing message={errorMessage(profile.error)} />
      ) : (
        <ProfileSkeleton />
      )}
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
        label={t.tabs.label}
        tabs={[
          { value: 'profile', label: t.tabs.profile, content: <ProfileDetails profile={profile} /> },
          { value: 'security', label: t.tabs.security, content: <ProfileSecurity profile={profile} /> },
          { value: 'subscription', label: t.tabs.subscription, content: <Outlet /> },
          { value: 'preferences', label: t.tabs.preferences, content: <ProfilePreferences profile={profile} /> },
        ]}
      />
    </>
  )
}

function Missing({ message }: { message: string }): ReactNode {
  const { title, text, retry } = t.missing
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

function ProfileSkeleton(): ReactNode {
  return (
    <div role="status">
      <div className={styles.coming}>
        <Loader size={28} />
        <p>{t.loading}</p>
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

function ProfileHead({ profile }: { profile: Profile }): ReactNode {
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

const statTexts = texts.profile.stats

function ProfileStats(): ReactNode {
  const stats = useApiQuery(accountCalls.stats)
  const currency = useCurrency()
  const subscription = useApiQuery(billingCalls.subscription)
  const { data } = stats
  const waiting = stats.isPending
  const failed = [stats, subscription].filter(({ isError }) => isError)
  const why = failed[0]?.error
  return (
    <>
      {why && (
        <Notice
          tone="bad"
          action={
            <TryAgain
              busy={failed.some(({ isFetching }) => isFetching)}
              onRetry={() => {
                for (const { refetch } of failed) void refetch()
              }}
            />
          }
        >
          {statTexts.failed(errorMessage(why))}
        </Notice>
      )}
      <dl className={styles.stats} aria-label={statTexts.label} aria-busy={waiting}>
        <Stat icon={<IconFileInvoice />} label={statTexts.invoices} waiting={waiting}>
          {data?.totalInvoices.toLocaleString('en-IN')}
        </Stat>
        <Stat icon={<IconCoinRupee />} label={statTexts.revenue} waiting={waiting}>
          {data && formatSums(data.revenueByCurrency, currency)}
        </Stat>
        <Stat icon={<IconMail />} label={statTexts.mail} waiting={waiting}>
          {data && (data.hasMailConfig ? statTexts.active : statTexts.none)}
        </Stat>
        <Stat icon={<IconCrown />} label={statTexts.plan} waiting={subscription.isPending}>
          {subscription.data?.state.replace(/(\d+) (days?) left/, '$1\u00a0$2\u00a0left')}
        </Stat>
      </dl>
    </>
  )
}

interface StatProps {
  icon: ReactNode
  label: string
  waiting: boolean
  /** undefined if it failed to load. */
  children: string | undefined
}

function Stat({ icon, label, waiting, children }: StatProps): ReactNode {
  return (
    <div className={styles.stat}>
      <dt className={styles.statName}>
        <span aria-hidden className={styles.statIcon}>
          {icon}
        </span>
        {label}
      </dt>
      <dd className={styles.figure}>{waiting ? <Skeleton height={24} width="60%" my={5} /> : (children ?? statTexts.unknown)}</dd>
    </div>
  )
}
