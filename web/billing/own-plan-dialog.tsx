import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { Subscription, SubscriptionStatus } from '#contract/billing.ts'
import { formatPrice, periodWord, planOf } from '#contract/plans.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { Pill } from '#web/ui/panel.tsx'
import { PlanFeatures } from '#web/ui/plain.tsx'
import styles from './billing.module.css'
import { CancelDialog } from './cancel-dialog.tsx'
import { texts } from './texts.ts'
import { useDay } from './use-day.ts'

/** What is said of the next charge. */
const nextOf = { active: 'next', trialing: 'first', past_due: 'due' } as const satisfies Record<SubscriptionStatus, keyof typeof texts.own>

/** The same dialog for the plan that runs: what it costs, until when, and the way out of it. */
export function OwnPlanDialog({ subscription, onClose }: { subscription: Subscription; onClose: () => void }): ReactNode {
  const [asking, setAsking] = useState(false)
  const day = useDay()
  const plan = planOf(subscription.plan)
  const { amount, billingPeriod, status, currentPeriodEnd, cancelAtPeriodEnd } = subscription
  return (
    <Dialog opened onClose={onClose} title={texts.subscribe.title(plan.title)} size={480}>
      <div className={styles.dialog}>
        <p className={styles.own}>
          {texts.own.runs(plan.title)} <Pill tone={status === 'past_due' ? 'overdue' : 'paid'}>{texts.tab.statuses[status]}</Pill>
        </p>
        {billingPeriod !== null && (
          <div className={styles.bill}>
            <p className={styles.price}>
              <strong>{formatPrice(amount)}</strong> <span>{texts.subscribe.per[billingPeriod]}</span>
            </p>
            {currentPeriodEnd !== null && (
              <p className={styles.message}>
                {cancelAtPeriodEnd
                  ? texts.own.ends(plan.title, day(currentPeriodEnd))
                  : texts.own[nextOf[status]](formatPrice(amount), periodWord[billingPeriod], day(currentPeriodEnd))}
              </p>
            )}
          </div>
        )}
        <PlanFeatures plan={plan} label={texts.subscribe.features} />
        <div className={styles.foot}>
          <div className={styles.buttons}>
            <Button variant="default" onClick={onClose} data-autofocus>
              {texts.subscribe.close}
            </Button>
            {!cancelAtPeriodEnd && (
              <Button color="coral" onClick={() => setAsking(true)}>
                {texts.cancel.button}
              </Button>
            )}
          </div>
        </div>
        <p className={styles.footer}>{texts.subscribe.footer}</p>
      </div>
      <CancelDialog opened={asking} subscription={subscription} onDone={onClose} onCancel={() => setAsking(false)} />
    </Dialog>
  )
}
