import { Button, Progress, Skeleton } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { billingCalls, type Subscription, type SubscriptionStatus } from '#contract/billing.ts'
import { formatPrice, periodWord, planOf } from '#contract/plans.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { FactList, Panel, Pill } from '#web/ui/panel.tsx'
import { daysUntil } from './banners.ts'
import styles from './billing.module.css'
import { CancelDialog } from './cancel-dialog.tsx'
import { PaymentList } from './payment-list.tsx'
import { texts } from './texts.ts'
import { useDay } from './use-day.ts'

const words = texts.tab

/** What is at the end of what is paid for, where nobody has cancelled. */
const nextOf = { active: 'renews', trialing: 'firstPayment', past_due: 'due' } as const satisfies Record<
  SubscriptionStatus,
  keyof typeof words
>

/** On the profile: the plan, what it costs, how much of it is used, what was paid, and the ways to another one and out of it. */
export default function SubscriptionTab(): ReactNode {
  const subscription = useApiQuery(billingCalls.subscription)
  return (
    <>
      <Panel title={words.title}>
        <QueryView
          query={subscription}
          loading={words.loading}
          skeleton={<Skeleton height={150} radius={14} />}
          error={words.failed}
          empty={null}
        >
          {(found) => (
            <>
              <Facts subscription={found} />
              {!found.checkout && <Notice tone="info">{words.unlimited}</Notice>}
              <Ways subscription={found} />
            </>
          )}
        </QueryView>
      </Panel>
      {subscription.data?.checkout && <PaymentList />}
    </>
  )
}

function Facts({ subscription }: { subscription: Subscription }): ReactNode {
  const day = useDay()
  const { plan, status, billingPeriod, paymentType, amount, currentPeriodEnd, cancelAtPeriodEnd, trialEnd, checkout } = subscription
  const price = billingPeriod && words[paymentType === 'onetime' ? 'once' : 'per'](formatPrice(amount), periodWord[billingPeriod])
  return (
    <div className={styles.facts}>
      <FactList>
        <dt>{words.plan}</dt>
        <dd>{planOf(plan).title}</dd>
        <dt>{words.status}</dt>
        <dd>
          <Pill tone={status === 'past_due' ? 'overdue' : 'paid'}>{words.statuses[status]}</Pill>
        </dd>
        {price !== null && (
          <>
            <dt>{words.price}</dt>
            <dd>{price}</dd>
          </>
        )}
        {plan !== 'free' && currentPeriodEnd !== null && (
          <>
            <dt>{cancelAtPeriodEnd ? words.ends : words[nextOf[status]]}</dt>
            <dd>{day(currentPeriodEnd)}</dd>
          </>
        )}
        {checkout && plan === 'free' && trialEnd !== null && <Trial end={trialEnd} day={day} />}
        {checkout && <Used subscription={subscription} />}
      </FactList>
    </div>
  )
}

function Trial({ end, day }: { end: string; day: (instant: string) => string }): ReactNode {
  const left = daysUntil(end, new Date())
  return (
    <>
      <dt>{words.trial}</dt>
      <dd>{left > 0 ? words.trialLeft(left, day(end)) : words.trialOver(day(end))}</dd>
    </>
  )
}

function Used({ subscription: { usage } }: { subscription: Subscription }): ReactNode {
  const { invoicesCreated: used, invoicesPerMonth: of } = usage
  return (
    <>
      <dt>{words.used}</dt>
      <dd>
        {of === null ? (
          words.usedFree(used)
        ) : (
          <span className={styles.used}>
            {words.usedOf(used, of)}
            <Progress value={Math.min(100, (used / of) * 100)} color={used < of ? 'brand' : 'coral'} aria-label={words.used} />
          </span>
        )}
      </dd>
    </>
  )
}

function Ways({ subscription }: { subscription: Subscription }): ReactNode {
  const [asking, setAsking] = useState(false)
  const { plan, cancelAtPeriodEnd } = subscription
  return (
    <div className={styles.ways}>
      <Button component={Link} to="/pricing" variant="default">
        {plan === 'free' ? words.upgrade : words.change}
      </Button>
      {plan !== 'free' && !cancelAtPeriodEnd && (
        <>
          <Button variant="default" className={styles.danger ?? ''} onClick={() => setAsking(true)}>
            {texts.cancel.button}
          </Button>
          <CancelDialog opened={asking} subscription={subscription} onDone={() => setAsking(false)} onCancel={() => setAsking(false)} />
        </>
      )}
    </div>
  )
}
