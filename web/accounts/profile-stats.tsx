import { Skeleton } from '@mantine/core'
import { IconCoinRupee, IconCrown, IconFileInvoice, IconMail } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { billingCalls } from '#contract/billing.ts'
import { formatRupees } from '#contract/money.ts'
import { planOf } from '#contract/plans.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { TryAgain } from '#web/platform/query-view.tsx'
import { Notice } from '#web/ui/notice.tsx'
import styles from './profile.module.css'
import { texts } from './texts.ts'

const words = texts.profile.stats

/** Four figures about the account. */
export function ProfileStats(): ReactNode {
  const stats = useApiQuery(accountCalls.stats)
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
          {words.failed(errorMessage(why))}
        </Notice>
      )}
      <dl className={styles.stats} aria-label={words.label} aria-busy={waiting}>
        <Stat icon={<IconFileInvoice />} label={words.invoices} waiting={waiting}>
          {data?.totalInvoices.toLocaleString('en-IN')}
        </Stat>
        <Stat icon={<IconCoinRupee />} label={words.revenue} waiting={waiting}>
          {data && formatRupees(data.totalRevenue)}
        </Stat>
        <Stat icon={<IconMail />} label={words.mail} waiting={waiting}>
          {data && (data.hasMailConfig ? words.active : words.none)}
        </Stat>
        <Stat icon={<IconCrown />} label={words.plan} waiting={subscription.isPending}>
          {subscription.data && planOf(subscription.data.plan).title}
        </Stat>
      </dl>
    </>
  )
}

interface StatProps {
  icon: ReactNode
  label: string
  waiting: boolean
  /** undefined where it could not be found out. */
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
      <dd className={styles.figure}>{waiting ? <Skeleton height={24} width="60%" my={5} /> : (children ?? words.unknown)}</dd>
    </div>
  )
}
