import { Button } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { type ReactNode, useEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import { useNavigate, useSearchParams } from 'react-router'
import { billingCalls, type Subscription, type SubscriptionStatus } from '#contract/billing.ts'
import { type BillingPeriod, formatPrice, type Plan, type PlanName, paidPlanNames, periodWord, planOf, plans } from '#contract/plans.ts'
import { screens } from '#contract/screens.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { TryAgain } from '#web/ui/buttons.tsx'
import { confirm } from '#web/ui/confirm.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { Pill } from '#web/ui/panel.tsx'
import button from '#web/ui/plain.module.css'
import { PlanFeatures } from '#web/ui/plain.tsx'
import { toast } from '#web/ui/toast.tsx'
import { isOpen, setFlashMessage, UrgentNotices, useDay } from './banners.tsx'
import styles from './billing.module.css'
import { useCancelPlan } from './cancel-plan.tsx'
import { purchaseMark, useCheckoutPage } from './checkout.ts'
import { SubscribeDialog } from './subscribe-dialog.tsx'
import { texts } from './texts.ts'

const t = texts.cards
/** Milliseconds between two polls. */
const whileConfirming = 3_000
const usually = 60_000

/** The buttons of the plan cards and their dialogs. The address holds which dialog is open: `?plan=pro`, with `&renew` to buy the current plan again. */
export function PlanActions({ slots }: { slots: ReadonlyMap<PlanName, HTMLElement> }): ReactNode {
  const [waiting, setWaiting] = useState(false)
  const subscription = useApiQuery(billingCalls.subscription, {}, { refetchInterval: waiting ? whileConfirming : usually })
  const { data } = subscription
  const confirming = data?.notices.some(({ kind }) => kind === 'confirming') ?? false
  if (confirming !== waiting) setWaiting(confirming)
  const [address, setAddress] = useSearchParams()
  const opened = paidPlanNames.find((name) => name === address.get('plan')) ?? null
  const renews = address.has('renew')
  const ready = useCheckoutPage(opened !== null && data?.checkout !== null)

  const open = (name: PlanName, more: { renew?: '' } = {}) => setAddress({ plan: name, ...more }, { preventScrollReset: true })
  const close = () => setAddress({}, { replace: true, preventScrollReset: true })
  return (
    <>
      {subscription.isError && (
        <Notice tone="bad" action={<TryAgain busy={subscription.isFetching} onRetry={() => void subscription.refetch()} />}>
          {t.failed(errorMessage(subscription.error))}
        </Notice>
      )}
      {data && <UrgentNotices notices={data.notices} />}
      {data && (
        <p className={styles.yours}>
          {t.yours} <strong>{data.state}</strong>
        </p>
      )}
      {plans.map((plan) => {
        const slot = slots.get(plan.name)
        return slot
          ? createPortal(
              <Action plan={plan} subscription={data} failed={subscription.isError} onOpen={() => open(plan.name)} />,
              slot,
              plan.name,
            )
          : null
      })}
      {data && ready && opened !== null && (
        <PlanDialog
          key={`${opened} ${renews}`}
          name={opened}
          renews={renews && isOpen(data.renewableFrom)}
          subscription={data}
          onChange={async () => (await subscription.refetch()).data}
          onRenew={() => open(opened, { renew: '' })}
          onClose={close}
        />
      )}
    </>
  )
}

interface ActionProps {
  plan: Plan
  subscription: Subscription | undefined
  failed: boolean
  onOpen: () => void
}

function Action({ plan, subscription, failed, onOpen }: ActionProps): ReactNode {
  const kind = plan.popular ? button.filled : button.quiet
  // Until its 14 days are over a new account starts no trial, whatever it has bought since.
  const isNew = subscription?.newUntil != null
  const label = plan.name === 'free' ? t.free : isNew ? t.choose(plan.title) : t.paid(plan.title)
  if (!subscription)
    return (
      <button type="button" className={`${button.quiet} ${styles.idle}`} disabled>
        {failed ? label : t.loading}
      </button>
    )
  if (subscription.entitlements.by === 'trial' && plan.name === 'free')
    return (
      <button type="button" className={button.held} disabled>
        {t.afterTrial}
      </button>
    )
  if (subscription.plan === plan.name)
    return (
      <div className={styles.current}>
        <button type="button" className={button.held} disabled>
          <IconCheck size={18} aria-hidden />
          {t.current}
        </button>
        {plan.name !== 'free' && (
          <button type="button" className={button.bare} aria-label={t.manageWhat(plan.title)} onClick={onOpen}>
            {t.manage}
          </button>
        )}
      </div>
    )
  if (plan.name !== 'free')
    return (
      <button type="button" className={kind} onClick={onOpen}>
        {label}
      </button>
    )
  return <FreeButton className={kind} label={label} subscription={subscription} />
}

function FreeButton({
  className,
  label,
  subscription,
}: {
  className: string | undefined
  label: string
  subscription: Subscription
}): ReactNode {
  const navigate = useNavigate()
  const day = useDay()
  const { title } = planOf(subscription.plan)
  const { cancelAtPeriodEnd, endsIfCancelled, newUntil } = subscription
  const invoices = planOf('free').invoicesPerMonth ?? 0
  const activate = useApiMutation(billingCalls.activateFree, {
    invalidates: [billingCalls.subscription],
    onError: (error) => toast('bad', texts.free.failed(errorMessage(error))),
  })
  const ask = async () => {
    const switched = await confirm({
      title: texts.free.title,
      body: (
        <div className={styles.asked}>
          <p>{endsIfCancelled === null ? texts.free.lostPlain(title) : texts.free.lost(title, day(endsIfCancelled))}</p>
          {endsIfCancelled !== null && !cancelAtPeriodEnd && <p>{texts.free.instead}</p>}
          <p>{newUntil === null ? texts.free.stays(invoices) : texts.free.staysInTrial(invoices, day(newUntil))}</p>
        </div>
      ),
      tone: 'danger',
      action: texts.free.confirm,
      busy: texts.free.busy,
      cancel: texts.free.keep(title),
      onConfirm: () => activate.mutateAsync({}),
      failed: texts.free.failed,
    })
    if (!switched) return
    setFlashMessage(texts.free.done)
    void navigate(screens.dashboard)
  }
  return (
    <button type="button" className={className} onClick={() => void ask()}>
      {label}
    </button>
  )
}

interface PlanDialogProps {
  name: 'pro' | 'enterprise'
  /** To buy the current plan again, to begin when it ends. */
  renews: boolean
  subscription: Subscription
  onChange: () => Promise<Subscription | undefined>
  onRenew: () => void
  onClose: () => void
}

/** Manages the current plan, or buys another one. Which of the two must not change while the dialog is open. */
function PlanDialog({ name, renews, subscription, onChange, onRenew, onClose }: PlanDialogProps): ReactNode {
  const [own] = useState(subscription.plan === name && !renews)
  const [before] = useState(purchaseMark(subscription))
  const bought = subscription.plan === name && purchaseMark(subscription) !== before
  const [unconfirmed, setUnconfirmed] = useState(false)
  // The payment was confirmed after the checkout had closed.
  useEffect(() => {
    if (!bought || !unconfirmed) return
    toast('good', texts.subscribe.paid)
    onClose()
  }, [bought, unconfirmed, onClose])
  if (own) return <OwnPlanDialog subscription={subscription} onRenew={onRenew} onClose={onClose} />
  return (
    <SubscribeDialog
      plan={{ ...planOf(name), name }}
      subscription={subscription}
      onPaid={(message) => {
        toast('good', message)
        onClose()
      }}
      onError={(message) => toast('bad', message)}
      onUnconfirmed={() => setUnconfirmed(true)}
      onChange={onChange}
      onClose={onClose}
    />
  )
}

const nextPayment = { active: 'next', trialing: 'first', past_due: 'due' } as const satisfies Record<
  SubscriptionStatus,
  keyof typeof texts.own
>

interface OwnPlanDialogProps {
  subscription: Subscription
  onRenew: () => void
  onClose: () => void
}

function OwnPlanDialog({ subscription, onRenew, onClose }: OwnPlanDialogProps): ReactNode {
  const cancel = useCancelPlan(subscription)
  const day = useDay()
  const plan = planOf(subscription.plan)
  const { state, amount, billingPeriod, paymentType, status, currentPeriodEnd, cancelAtPeriodEnd } = subscription
  const renewable = isOpen(subscription.renewableFrom)
  return (
    <Dialog opened onClose={onClose} title={texts.subscribe.title(plan.title)} size={renewable ? 540 : 480}>
      <div className={styles.dialog}>
        <p className={styles.own}>
          <strong>{state}</strong> <Pill tone={status === 'past_due' ? 'overdue' : 'paid'}>{texts.tab.statuses[status]}</Pill>
        </p>
        {billingPeriod !== null && (
          <div className={styles.bill}>
            <p className={styles.price}>
              <strong>{formatPrice(amount)}</strong>{' '}
              <span>{paymentType === 'onetime' ? texts.own.paidOnce[billingPeriod] : texts.subscribe.per[billingPeriod]}</span>
            </p>
            {currentPeriodEnd !== null && <p className={styles.message}>{ending(subscription, billingPeriod, currentPeriodEnd, day)}</p>}
          </div>
        )}
        <PlanFeatures plan={plan} label={texts.subscribe.features} />
        <div className={styles.foot}>
          <div className={styles.buttons}>
            <Button variant="default" onClick={onClose} data-autofocus>
              {texts.subscribe.close}
            </Button>
            {!cancelAtPeriodEnd && (
              <Button color="coral" onClick={async () => (await cancel()) && onClose()}>
                {texts.cancel.button}
              </Button>
            )}
            {renewable && <Button onClick={onRenew}>{texts.own.renew(plan.title)}</Button>}
          </div>
        </div>
        <p className={styles.footer}>{texts.subscribe.footer}</p>
      </div>
    </Dialog>
  )
}

/** When the current plan ends, or is charged next. */
function ending(
  { plan, amount, status, cancelAtPeriodEnd, renewableFrom }: Subscription,
  period: BillingPeriod,
  end: string,
  day: (instant: string) => string,
): string {
  if (renewableFrom !== null) return isOpen(renewableFrom) ? texts.own.once(day(end)) : texts.own.onceFrom(day(end), day(renewableFrom))
  if (cancelAtPeriodEnd) return texts.own.ends(planOf(plan).title, day(end))
  return texts.own[nextPayment[status]](formatPrice(amount), periodWord[period], day(end))
}
