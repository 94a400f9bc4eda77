import type { ReactNode } from 'react'
import { billingCalls, type Subscription } from '#contract/billing.ts'
import { planOf } from '#contract/plans.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './billing.module.css'
import { texts } from './texts.ts'
import { useDay } from './use-day.ts'

const words = texts.free

interface FreeDialogProps {
  opened: boolean
  subscription: Subscription
  onDone: () => void
  onCancel: () => void
}

/** Says what is lost by switching to Free, and asks. */
export function FreeDialog({ opened, subscription, onDone, onCancel }: FreeDialogProps): ReactNode {
  const day = useDay()
  const { title } = planOf(subscription.plan)
  const { cancelAtPeriodEnd, endsIfCancelled, newUntil } = subscription
  const invoices = planOf('free').invoicesPerMonth ?? 0
  const activate = useApiMutation(billingCalls.activateFree, {
    invalidates: [billingCalls.subscription],
    onSuccess: onDone,
    onError: (error) => toast('bad', words.failed(errorMessage(error))),
  })
  return (
    <ConfirmDialog
      opened={opened}
      title={words.title}
      confirm={words.confirm}
      confirmBusy={words.busy}
      cancel={words.keep(title)}
      busy={activate.isPending}
      tone="danger"
      onConfirm={() => activate.mutate({})}
      onCancel={() => {
        activate.reset()
        onCancel()
      }}
    >
      <div className={styles.asked}>
        <p>{endsIfCancelled === null ? words.lostPlain(title) : words.lost(title, day(endsIfCancelled))}</p>
        {endsIfCancelled !== null && !cancelAtPeriodEnd && <p>{words.instead}</p>}
        <p>{newUntil === null ? words.stays(invoices) : words.staysInTrial(invoices, day(newUntil))}</p>
      </div>
      <FormError message={activate.isError ? words.failed(errorMessage(activate.error)) : null} />
    </ConfirmDialog>
  )
}
