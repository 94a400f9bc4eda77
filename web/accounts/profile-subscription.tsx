import { Button, Skeleton } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { billingCalls, type Subscription } from '#contract/billing.ts'
import { formatRupees, fromMinor } from '#contract/money.ts'
import { periodWord, planOf } from '#contract/plans.ts'
import { inWords } from '#web/platform/problem.ts'
import { useCall, useRead } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { ConfirmDialog } from '#web/ui/confirm-dialog.tsx'
import { dateIn, showDate } from '#web/ui/dates.ts'
import { FormError } from '#web/ui/form-error.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { Panel } from '#web/ui/panel.tsx'
import { Pill } from '#web/ui/pill.tsx'
import { toast } from '#web/ui/toast.tsx'
import look from './profile.module.css'
import { brief } from './profile-toast.tsx'
import { texts } from './texts.ts'

const words = texts.profile.plan

/** Which plan this account is on, what it costs, and the ways to another one and out of it. */
export function ProfileSubscription({ zone }: { zone: string }): ReactNode {
  const subscription = useRead(billingCalls.subscription)
  const server = useRead(accountCalls.server, {}, { fresh: Number.POSITIVE_INFINITY })
  return (
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
            <Facts subscription={found} zone={zone} />
            {server.data?.payments === false && <Notice tone="info">{words.unlimited}</Notice>}
            <div className={look.actions}>
              <Button component={Link} to="/pricing" variant="default">
                {found.plan === 'free' ? words.upgrade : words.change}
              </Button>
              {found.plan !== 'free' && !found.cancelAtPeriodEnd && <CancelButton payments={server.data?.payments !== false} />}
            </div>
          </>
        )}
      </QueryView>
    </Panel>
  )
}

function Facts({ subscription, zone }: { subscription: Subscription; zone: string }): ReactNode {
  const { plan, status, billingPeriod, amount, currentPeriodEnd, cancelAtPeriodEnd } = subscription
  return (
    <dl className={look.facts}>
      <dt>{words.plan}</dt>
      <dd>{planOf(plan).title}</dd>
      <dt>{words.status}</dt>
      <dd>
        <Pill tone={status === 'past_due' ? 'overdue' : 'paid'}>{words.statuses[status]}</Pill>
      </dd>
      {plan !== 'free' && billingPeriod !== null && (
        <>
          <dt>{words.price}</dt>
          <dd>{words.per(formatRupees(fromMinor(amount)), periodWord[billingPeriod])}</dd>
        </>
      )}
      {plan !== 'free' && currentPeriodEnd !== null && (
        <>
          <dt>{cancelAtPeriodEnd ? words.ends : words.renews}</dt>
          <dd>{showDate(dateIn(zone, new Date(currentPeriodEnd)))}</dd>
        </>
      )}
    </dl>
  )
}

function CancelButton({ payments }: { payments: boolean }): ReactNode {
  const [asking, setAsking] = useState(false)
  const cancel = useCall(billingCalls.cancel, {
    refreshes: [billingCalls.subscription],
    onDone: () => {
      setAsking(false)
      toast('good', words.cancelled)
    },
    onProblem: (error) => toast('bad', brief(inWords(error) || words.cancelFailed)),
  })
  const confirm = () => {
    if (payments) return cancel.mutate({})
    // Nobody can cancel anything at a provider that is not there.
    setAsking(false)
    toast('info', words.cancelLater)
  }
  return (
    <>
      <Button variant="default" className={look.danger ?? ''} onClick={() => setAsking(true)}>
        {words.cancel}
      </Button>
      <ConfirmDialog
        opened={asking}
        title={words.cancel}
        confirm={words.cancel}
        confirmBusy={words.cancelling}
        cancel={words.keep}
        busy={cancel.isPending}
        tone="danger"
        onConfirm={confirm}
        onCancel={() => {
          cancel.reset()
          setAsking(false)
        }}
      >
        {words.cancelQuestion}
        <FormError message={cancel.isError ? inWords(cancel.error) : null} />
      </ConfirmDialog>
    </>
  )
}
