import { type ReactNode, useEffect, useState } from 'react'
import { Outlet, useLocation } from 'react-router'
import { billingCalls } from '#contract/billing.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { usePublished } from '#web/platform/attention.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { toast } from '#web/ui/toast.tsx'
import { planItems, takeFlashMessage, useDay } from './banners.tsx'

/** Milliseconds between two polls. */
const pollInterval = 60_000
/** The key of the dismissed items in local storage. */
const storageKey = 'duely-plan-notices'

/** Around every screen of the dashboard: adds the plan's items to the bell and to the dashboard's line. */
export default function PlanFrame(): ReactNode {
  const { pathname } = useLocation()
  useEffect(() => {
    const message = takeFlashMessage()
    if (message !== null) toast('good', message)
  }, [])
  usePlanItems(pathname)
  return <Outlet />
}

/** Nothing while the plan cannot be loaded, because the screen itself shows that the server is unreachable. */
function usePlanItems(path: string): void {
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
  const dismiss = (key: string) => {
    const after = [...dismissed, key].slice(-20)
    localStorage.setItem(storageKey, JSON.stringify(after))
    setDismissed(after)
  }
  const items = subscription.data
    ? planItems({ subscription: subscription.data, remindersActive: reminders.data?.isActive ?? null, day })
    : []
  usePublished(
    'plan',
    items
      .filter(({ key, dismissible }) => !dismissible || !dismissed.includes(key))
      .map(({ dismissible, ...item }) => ({ ...item, dismiss: dismissible ? async () => dismiss(item.key) : null })),
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
