import { billingCalls, type Subscription } from '#contract/billing.ts'
import { planOf, planThatLifts } from '#contract/plans.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { confirm } from '#web/ui/confirm.tsx'
import { toast } from '#web/ui/toast.tsx'
import { useDay } from './banners.tsx'
import styles from './billing.module.css'
import { texts } from './texts.ts'

const t = texts.cancel

/** Asks, then cancels the plan. Resolves to true once it is cancelled. */
export function useCancelPlan(subscription: Subscription): () => Promise<boolean> {
  const day = useDay()
  const cancel = useApiMutation(billingCalls.cancel, {
    invalidates: [billingCalls.subscription],
    onSuccess: () => {
      toast('good', t.done)
    },
    onError: (error) => toast('bad', errorMessage(error) || t.failed),
  })
  return () =>
    confirm({
      title: t.title,
      body: (
        <div className={styles.asked}>
          <p>{t.question}</p>
          {consequences(subscription, day).map((sentence) => (
            <p key={sentence}>{sentence}</p>
          ))}
        </div>
      ),
      tone: 'danger',
      action: t.button,
      busy: t.busy,
      cancel: t.keep,
      // Without a payment provider there is no subscription to cancel; the specification fixes the message.
      onConfirm: () => (subscription.checkout ? cancel.mutateAsync({}) : toast('info', t.later)),
      failed: (reason) => reason || t.failed,
    })
}

function consequences({ plan, endsIfCancelled, checkout, newUntil }: Subscription, day: (instant: string) => string): string[] {
  const { title } = planOf(plan)
  if (endsIfCancelled !== null) return checkout ? [t.keepsUntil(title, day(endsIfCancelled))] : []
  const trial = planThatLifts('scheduling').title
  if (newUntil !== null && trial === title) return [t.staysInTrial(title, day(newUntil))]
  return [...(checkout ? [t.endsNow(title)] : []), ...(newUntil === null ? [] : [t.trialContinues(trial, day(newUntil))])]
}
