import '@mantine/core/styles/Progress.layer.css'
import { Button, Progress, Skeleton } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { billingCalls, type Payment, type Subscription, type SubscriptionStatus } from '#contract/billing.ts'
import { formatMoney } from '#contract/money.ts'
import { formatPrice, periodWord, planOf } from '#contract/plans.ts'
import { screens } from '#contract/screens.ts'
import { Allowed } from '#web/platform/account.tsx'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { FactList, Panel, Pill, type PillTone } from '#web/ui/panel.tsx'
import { isOpen, renewPath, UrgentNotices, useDay } from './banners.tsx'
import styles from './billing.module.css'
import { useCancelPlan } from './cancel-plan.tsx'
import { texts } from './texts.ts'

const t = texts.tab

const periodEndLabel = { active: 'renews', trialing: 'firstPayment', past_due: 'due' } as const satisfies Record<
  SubscriptionStatus,
  keyof typeof t
>

export default function SubscriptionTab(): ReactNode {
  const subscription = useApiQuery(billingCalls.subscription)
  return (
    <>
      <Panel title={t.title}>
        <QueryView query={subscription} loading={t.loading} skeleton={<Skeleton height={150} radius={14} />} error={t.failed} empty={null}>
          {(found) => (
            <>
              <UrgentNotices notices={found.notices} />
              <Facts subscription={found} />
              {!found.checkout && <Notice tone="info">{t.unlimited}</Notice>}
              <Allowed by="owner" says>
                <PlanButtons subscription={found} />
              </Allowed>
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
  const { state, plan, status, billingPeriod, paymentType, amount, currentPeriodEnd, cancelAtPeriodEnd, trialEnd, checkout } = subscription
  const { renewableFrom } = subscription
  const price = billingPeriod && t[paymentType === 'onetime' ? 'once' : 'per'](formatPrice(amount), periodWord[billingPeriod])
  return (
    <div className={styles.facts}>
      <FactList>
        <dt>{t.plan}</dt>
        <dd>{state}</dd>
        <dt>{t.status}</dt>
        <dd>
          <Pill tone={status === 'past_due' ? 'overdue' : 'paid'}>{t.statuses[status]}</Pill>
        </dd>
        {price !== null && (
          <>
            <dt>{t.price}</dt>
            <dd>{price}</dd>
          </>
        )}
        {plan !== 'free' && currentPeriodEnd !== null && (
          <>
            <dt>{cancelAtPeriodEnd || paymentType === 'onetime' ? t.ends : t[periodEndLabel[status]]}</dt>
            <dd>{day(currentPeriodEnd)}</dd>
          </>
        )}
        {renewableFrom !== null && !isOpen(renewableFrom) && (
          <>
            <dt>{t.renewable}</dt>
            <dd>{t.renewableFrom(day(renewableFrom))}</dd>
          </>
        )}
        {checkout && plan === 'free' && trialEnd !== null && <Trial end={trialEnd} day={day} />}
        {checkout && <Used subscription={subscription} />}
      </FactList>
    </div>
  )
}

function Trial({ end, day }: { end: string; day: (instant: string) => string }): ReactNode {
  return (
    <>
      <dt>{t.trial}</dt>
      <dd>{Date.parse(end) > Date.now() ? t.trialLeft(day(end)) : t.trialOver(day(end))}</dd>
    </>
  )
}

function Used({ subscription: { usage } }: { subscription: Subscription }): ReactNode {
  const { invoicesCreated: used, invoicesPerMonth: of } = usage
  return (
    <>
      <dt>{t.used}</dt>
      <dd>
        {of === null ? (
          t.usedFree(used)
        ) : (
          <span className={styles.used}>
            {t.usedOf(used, of)}
            <Progress value={Math.min(100, (used / of) * 100)} color={used < of ? 'brand' : 'coral'} aria-label={t.used} />
          </span>
        )}
      </dd>
    </>
  )
}

function PlanButtons({ subscription }: { subscription: Subscription }): ReactNode {
  const cancel = useCancelPlan(subscription)
  const { plan, cancelAtPeriodEnd, renewableFrom, checkout } = subscription
  return (
    <div className={styles.ways}>
      {checkout && isOpen(renewableFrom) && (
        // The pricing page is a document of its own, with its own security policy.
        <Button component="a" href={renewPath(plan)}>
          {texts.own.renew(planOf(plan).title)}
        </Button>
      )}
      <Button component={Link} to={screens.pricing} variant="default">
        {plan === 'free' ? t.upgrade : t.change}
      </Button>
      {plan !== 'free' && !cancelAtPeriodEnd && (
        <Button variant="default" className={styles.danger ?? ''} onClick={() => void cancel()}>
          {texts.cancel.button}
        </Button>
      )}
    </div>
  )
}

/** Rows shown at first. */
const initialRows = 12

const tones = { captured: 'paid', authorized: 'unpaid', failed: 'overdue', refunded: 'quiet' } satisfies Record<Payment['status'], PillTone>

function PaymentList(): ReactNode {
  const payments = useApiQuery(billingCalls.payments)
  return (
    <Panel title={texts.history.title}>
      <QueryView
        query={payments}
        loading={texts.history.loading}
        skeleton={<Skeleton height={120} radius={14} />}
        error={texts.history.failed}
        empty={<p className={styles.none}>{texts.history.none}</p>}
      >
        {(list) => <Table list={list} />}
      </QueryView>
    </Panel>
  )
}

function Table({ list }: { list: Payment[] }): ReactNode {
  const [all, setAll] = useState(false)
  const day = useDay()
  return (
    <>
      <table className={styles.payments}>
        <thead>
          <tr>
            <th scope="col">{texts.history.date}</th>
            <th scope="col">{texts.history.description}</th>
            <th scope="col">{texts.history.amount}</th>
            <th scope="col">{texts.history.status}</th>
          </tr>
        </thead>
        <tbody>
          {(all ? list : list.slice(0, initialRows)).map((payment) => (
            <Row key={payment._id} payment={payment} date={day(payment.paidAt)} />
          ))}
        </tbody>
      </table>
      {!all && list.length > initialRows && (
        <Button variant="default" onClick={() => setAll(true)}>
          {texts.history.more(list.length)}
        </Button>
      )}
    </>
  )
}

function Row({ payment, date }: { payment: Payment; date: string }): ReactNode {
  const { plan, billingPeriod, amount, refunded, status, reason, paymentId } = payment
  return (
    <tr>
      <td>{date}</td>
      <td>
        {texts.subscribe.description(planOf(plan).title, texts.subscribe.periods[billingPeriod].toLowerCase())}
        <span className={styles.number}>{paymentId}</span>
        {status === 'failed' && reason !== null && <span className={styles.number}>{reason}</span>}
      </td>
      <td className={styles.amount}>
        {formatMoney(amount, 'INR')}
        {refunded > 0 && <span className={styles.number}>{texts.history.refunded(formatMoney(refunded, 'INR'))}</span>}
      </td>
      <td>
        <Pill tone={tones[status]}>{texts.history.statuses[status]}</Pill>
      </td>
    </tr>
  )
}
