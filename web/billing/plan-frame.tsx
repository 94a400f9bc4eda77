import { Button } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { Link, Outlet, useLocation } from 'react-router'
import { billingCalls } from '#contract/billing.ts'
import { planOf } from '#contract/plans.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { screens, withQuery } from '#contract/screens.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { Notice } from '#web/ui/notice.tsx'
import { toast } from '#web/ui/toast.tsx'
import { bannerTexts } from './banner-texts.ts'
import { type Banner, bannersOn, useDay } from './banners.ts'
import styles from './billing.module.css'
import { takeFlashMessage } from './flash-message.ts'

/** Milliseconds between two polls. */
const pollInterval = 60_000
/** The key of the dismissed banners in local storage. */
const storageKey = 'duely-plan-notices'

/** Around every screen of the dashboard: banners about the plan. */
export default function PlanFrame(): ReactNode {
  const { pathname } = useLocation()
  useEffect(() => {
    const message = takeFlashMessage()
    if (message !== null) toast('good', message)
  }, [])
  return (
    <>
      <PlanBanners path={pathname} />
      <Outlet />
    </>
  )
}

/** Renders nothing when the plan cannot be loaded, because the screen itself shows that the server is unreachable. */
function PlanBanners({ path }: { path: string }): ReactNode {
  const subscription = useApiQuery(billingCalls.subscription, {}, { refetchInterval: pollInterval })
  const reminders = useApiQuery(reminderCalls.status, {}, { enabled: subscription.data?.checkout != null })
  const [dismissed, setDismissed] = useState(readDismissed)
  const day = useDay()
  const { refetch } = subscription
  const limited = subscription.data?.usage.invoicesPerMonth != null
  // An invoice created on the last screen changes the usage.
  // biome-ignore lint/correctness/useExhaustiveDependencies: must refetch when the screen changes.
  useEffect(() => {
    if (limited) void refetch()
  }, [path, limited, refetch])
  if (!subscription.data) return null
  const context = { subscription: subscription.data, path, remindersActive: reminders.data?.isActive ?? null, now: new Date(), day }
  const dismiss = (key: string) => {
    const after = [...dismissed, key].slice(-20)
    localStorage.setItem(storageKey, JSON.stringify(after))
    setDismissed(after)
  }
  return bannersOn(context)
    .filter(({ key, dismissible }) => !dismissible || !dismissed.includes(key))
    .map((banner) => (
      <Notice key={banner.key} tone={banner.tone} title={banner.title} action={<Actions banner={banner} onDismiss={dismiss} />}>
        {banner.text}
      </Notice>
    ))
}

function Actions({ banner, onDismiss }: { banner: Banner; onDismiss: (key: string) => void }): ReactNode {
  const { action, dismissible, key, title } = banner
  return (
    <div className={styles.actions}>
      {action === 'current' && (
        <Button component={Link} to={withQuery(screens.profile, { tab: 'subscription' })} variant="default">
          {bannerTexts.viewPlan}
        </Button>
      )}
      {action !== null && action !== 'current' && (
        <Button component={Link} to={withQuery(screens.pricing, { plan: action })} reloadDocument variant="default">
          {bannerTexts.choose(planOf(action).title)}
        </Button>
      )}
      {dismissible && (
        <Button variant="subtle" color="gray" aria-label={bannerTexts.dismissOne(title)} onClick={() => onDismiss(key)}>
          {bannerTexts.dismiss}
        </Button>
      )}
    </div>
  )
}

function readDismissed(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]')
    return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string') : []
  } catch {
    return []
  }
}
