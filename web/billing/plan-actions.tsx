import { IconCheck } from '@tabler/icons-react'
import { type ReactNode, useEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import { useNavigate, useSearchParams } from 'react-router'
import { billingCalls, type Subscription } from '#contract/billing.ts'
import { type Plan, type PlanName, paidPlanNames, planOf, plans } from '#contract/plans.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { Notice } from '#web/ui/notice.tsx'
import button from '#web/ui/plain.module.css'
import { toast } from '#web/ui/toast.tsx'
import { sayOnArrival } from './arrival.ts'
import { bannerTexts } from './banner-texts.ts'
import styles from './billing.module.css'
import { FreeDialog } from './free-dialog.tsx'
import { useOwnDocument } from './own-document.ts'
import { OwnPlanDialog } from './own-plan-dialog.tsx'
import { SubscribeDialog } from './subscribe-dialog.tsx'
import { texts } from './texts.ts'

const words = texts.cards
/** Milliseconds between two looks while a payment is being confirmed, and otherwise. */
const whileConfirming = 3_000
const usually = 60_000

/** The buttons of the cards, and what they open. Which dialog is open stands in the address: `?plan=pro`. */
export function PlanActions({ places }: { places: ReadonlyMap<PlanName, HTMLElement> }): ReactNode {
  const [waiting, setWaiting] = useState(false)
  const subscription = useApiQuery(billingCalls.subscription, {}, { refetchInterval: waiting ? whileConfirming : usually })
  const { data } = subscription
  const confirming = data?.notices.some(({ kind }) => kind === 'confirming') ?? false
  if (confirming !== waiting) setWaiting(confirming)
  const [address, setAddress] = useSearchParams()
  const asked = paidPlanNames.find((name) => name === address.get('plan')) ?? null
  const here = useOwnDocument(asked !== null && data?.checkout !== null)

  const open = (name: PlanName) => setAddress({ plan: name }, { preventScrollReset: true })
  const close = () => setAddress({}, { replace: true, preventScrollReset: true })
  return (
    <>
      {subscription.isError && (
        <Notice
          tone="bad"
          action={
            <BusyButton
              variant="default"
              busy={subscription.isFetching}
              busyText={words.trying}
              onClick={() => void subscription.refetch()}
            >
              {words.again}
            </BusyButton>
          }
        >
          {words.failed(errorMessage(subscription.error))}
        </Notice>
      )}
      {data?.notices
        .filter(({ kind }) => kind === 'confirming' || kind === 'past_due')
        .map((notice) => (
          <Notice key={notice.kind} tone={notice.kind === 'past_due' ? 'bad' : 'info'} title={bannerTexts.titles[notice.kind]}>
            {notice.message}
          </Notice>
        ))}
      {plans.map((plan) => {
        const place = places.get(plan.name)
        return place
          ? createPortal(
              <Action plan={plan} subscription={data} failed={subscription.isError} onOpen={() => open(plan.name)} />,
              place,
              plan.name,
            )
          : null
      })}
      {data && here && asked !== null && (
        <Asked key={asked} name={asked} subscription={data} onChange={async () => (await subscription.refetch()).data} onClose={close} />
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
  const [leaving, setLeaving] = useState(false)
  const navigate = useNavigate()
  const kind = plan.popular ? button.filled : button.quiet
  const label = plan.name === 'free' ? words.free : words.paid(plan.title)
  if (!subscription)
    return (
      <button type="button" className={`${button.quiet} ${styles.idle}`} disabled>
        {failed ? label : words.loading}
      </button>
    )
  if (subscription.plan === plan.name)
    return (
      <div className={styles.current}>
        <button type="button" className={button.held} disabled>
          <IconCheck size={18} aria-hidden />
          {words.current}
        </button>
        {plan.name !== 'free' && (
          <button type="button" className={button.bare} aria-label={words.manageWhat(plan.title)} onClick={onOpen}>
            {words.manage}
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
  return (
    <>
      <button type="button" className={kind} onClick={() => setLeaving(true)}>
        {label}
      </button>
      <FreeDialog
        opened={leaving}
        subscription={subscription}
        onDone={() => {
          sayOnArrival(texts.free.done)
          void navigate('/dashboard')
        }}
        onCancel={() => setLeaving(false)}
      />
    </>
  )
}

interface AskedProps {
  name: 'pro' | 'enterprise'
  subscription: Subscription
  onChange: () => Promise<Subscription | undefined>
  onClose: () => void
}

/** The dialog of a plan: about the one that runs, or to buy it; which of the two is settled when it opens. */
function Asked({ name, subscription, onChange, onClose }: AskedProps): ReactNode {
  const runs = subscription.plan === name
  const [own] = useState(runs)
  const [unconfirmed, setUnconfirmed] = useState(false)
  // What could not be confirmed at once has been meanwhile.
  useEffect(() => {
    if (!runs || !unconfirmed) return
    toast('good', texts.subscribe.paid)
    onClose()
  }, [runs, unconfirmed, onClose])
  if (own) return <OwnPlanDialog subscription={subscription} onClose={onClose} />
  return (
    <SubscribeDialog
      plan={{ ...planOf(name), name }}
      subscription={subscription}
      onPaid={(said) => {
        toast('good', said)
        onClose()
      }}
      onError={(message) => toast('bad', message)}
      onUnconfirmed={() => setUnconfirmed(true)}
      onChange={onChange}
      onClose={onClose}
    />
  )
}
