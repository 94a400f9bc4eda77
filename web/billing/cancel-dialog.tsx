import type { ReactNode } from 'react'
import { billingCalls, type Subscription } from '#contract/billing.ts'
import { planOf, planThatLifts } from '#contract/plans.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './billing.module.css'
import { texts } from './texts.ts'
import { useDay } from './use-day.ts'

const words = texts.cancel

interface CancelDialogProps {
  opened: boolean
  subscription: Subscription
  onDone: () => void
  onCancel: () => void
}

/** Asks before the plan is cancelled, and says until when it stays. */
export function CancelDialog({ opened, subscription, onDone, onCancel }: CancelDialogProps): ReactNode {
  const day = useDay()
  const { checkout } = subscription
  const cancel = useApiMutation(billingCalls.cancel, {
    invalidates: [billingCalls.subscription],
    onSuccess: () => {
      toast('good', words.done)
      onDone()
    },
    onError: (error) => toast('bad', errorMessage(error) || words.failed),
  })
  const confirm = () => {
    if (checkout) return cancel.mutate({})
    // Nobody can cancel anything at a provider that is not there.
    toast('info', words.later)
    onCancel()
  }
  return (
    <ConfirmDialog
      opened={opened}
      title={words.title}
      confirm={words.button}
      confirmBusy={words.busy}
      cancel={words.keep}
      busy={cancel.isPending}
      tone="danger"
      onConfirm={confirm}
      onCancel={() => {
        cancel.reset()
        onCancel()
      }}
    >
      <div className={styles.asked}>
        <p>{words.question}</p>
        {whatHappens(subscription, day).map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
      </div>
      <FormError message={cancel.isError ? errorMessage(cancel.error) || words.failed : null} />
    </ConfirmDialog>
  )
}

/** What is over and what stays when the plan is cancelled now. */
function whatHappens({ plan, endsIfCancelled, checkout, newUntil }: Subscription, day: (instant: string) => string): string[] {
  const { title } = planOf(plan)
  if (endsIfCancelled !== null) return checkout ? [words.keepsUntil(title, day(endsIfCancelled))] : []
  const trial = planThatLifts('scheduling').title
  if (newUntil !== null && trial === title) return [words.staysInTrial(title, day(newUntil))]
  return [...(checkout ? [words.atOnce(title)] : []), ...(newUntil === null ? [] : [words.trialGoesOn(trial, day(newUntil))])]
}
