import { Button } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { Link } from 'react-router'
import { billingCalls } from '#contract/billing.ts'
import { planOf } from '#contract/plans.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { Notice } from '#web/ui/notice.tsx'
import { bannerTexts } from './banner-texts.ts'
import { type Banner, bannersOn } from './banners.ts'
import styles from './billing.module.css'
import { useDay } from './use-day.ts'

const words = bannerTexts
/** Milliseconds between two looks. */
const seldom = 60_000
/** Where this browser remembers what was put away. */
const storage = 'duely-plan-notices'

/** What is to be known of the plan above a screen. Nothing is said where it cannot be found out: the screen says that the server is away. */
export function PlanBanners({ path }: { path: string }): ReactNode {
  const subscription = useApiQuery(billingCalls.subscription, {}, { refetchInterval: seldom })
  const reminders = useApiQuery(reminderCalls.status, {}, { enabled: subscription.data?.checkout != null })
  const [away, setAway] = useState(readAway)
  const day = useDay()
  const { refetch } = subscription
  const limited = subscription.data?.usage.invoicesPerMonth != null
  // An invoice that was created on the last screen counts on this one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another screen is the reason to look.
  useEffect(() => {
    if (limited) void refetch()
  }, [path, limited, refetch])
  if (!subscription.data) return null
  const about = { subscription: subscription.data, path, remindersActive: reminders.data?.isActive ?? null, now: new Date(), day }
  const putAway = (key: string) => {
    const after = [...away, key].slice(-20)
    localStorage.setItem(storage, JSON.stringify(after))
    setAway(after)
  }
  return bannersOn(about)
    .filter(({ key, dismissible }) => !dismissible || !away.includes(key))
    .map((banner) => (
      <Notice key={banner.key} tone={banner.tone} title={banner.title} action={<Actions banner={banner} onDismiss={putAway} />}>
        {banner.text}
      </Notice>
    ))
}

function Actions({ banner, onDismiss }: { banner: Banner; onDismiss: (key: string) => void }): ReactNode {
  const { action, dismissible, key, title } = banner
  return (
    <div className={styles.actions}>
      {action === 'current' && (
        <Button component={Link} to="/dashboard/profile?tab=subscription" variant="default">
          {words.look}
        </Button>
      )}
      {action !== null && action !== 'current' && (
        <Button component={Link} to={`/pricing?plan=${action}`} reloadDocument variant="default">
          {words.choose(planOf(action).title)}
        </Button>
      )}
      {dismissible && (
        <Button variant="subtle" color="gray" aria-label={words.dismissOne(title)} onClick={() => onDismiss(key)}>
          {words.dismiss}
        </Button>
      )}
    </div>
  )
}

function readAway(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(storage) ?? '[]')
    return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string') : []
  } catch {
    return []
  }
}
