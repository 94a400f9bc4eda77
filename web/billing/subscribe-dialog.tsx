import { Button } from '@mantine/core'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { billingCalls, type Quote, type Subscription } from '#contract/billing.ts'
import { formatRupees } from '#contract/money.ts'
import { formatPrice, type Plan, periodWord, planOf, yearlySaving } from '#contract/plans.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { PlanFeatures } from '#web/ui/plain.tsx'
import styles from './billing.module.css'
import { useCheckoutScript } from './checkout-script.ts'
import { OptionRow } from './option-row.tsx'
import { texts } from './texts.ts'
import { type Choice, useCheckout } from './use-checkout.ts'

const words = texts.subscribe
/** Milliseconds between two looks at what it costs: what is left of a plan melts, and a trial ends while the dialog is open. */
const seldom = 60_000

interface SubscribeDialogProps {
  plan: Plan & { name: 'pro' | 'enterprise' }
  subscription: Subscription
  onPaid: (said: string) => void
  onError: (message: string) => void
  /** Something was paid, and the server could not confirm it at once. */
  onUnconfirmed: () => void
  /** The plan may have changed: it is read anew. */
  onChange: () => Promise<Subscription | undefined>
  onClose: () => void
}

/** Buys a plan that does not run: for how long, once or again and again, what is to pay, and then the provider's checkout. */
export function SubscribeDialog({ plan, subscription, onClose, ...heard }: SubscribeDialogProps): ReactNode {
  const [choice, setChoice] = useState<Choice>({ billingPeriod: 'monthly', paymentType: 'onetime' })
  const { billingPeriod, paymentType } = choice
  const script = useCheckoutScript(subscription.checkout?.scriptUrl ?? null)
  const checkout = useCheckout({ plan, subscription, ...heard })
  const { stage, problem } = checkout
  const quote = useApiQuery(
    billingCalls.quote,
    { query: { plan: plan.name, ...choice } },
    { refetchInterval: stage === 'idle' ? seldom : false },
  )
  const dialog = useRef<HTMLDivElement>(null)
  const confirming = subscription.notices.some(({ kind }) => kind === 'confirming')
  const busy = stage !== 'idle'
  const saving = formatPrice(yearlySaving(plan))

  // The provider's window lies over the dialog: while it is open, it is what people work with, and must be within reach of a screen reader.
  const paying = stage === 'paying'
  useEffect(() => {
    dialog.current?.querySelector('[role="dialog"]')?.setAttribute('aria-modal', String(!paying))
  }, [paying])

  const choose = (changed: Partial<Choice>) => {
    setChoice({ ...choice, ...changed })
    checkout.forget()
  }
  return (
    <Dialog
      ref={dialog}
      opened
      onClose={busy ? () => undefined : onClose}
      closeOnEscape={!busy}
      closeOnClickOutside={!busy}
      trapFocus={!paying}
      lockScroll={!paying}
      title={words.title(plan.title)}
      size={480}
      yOffset={16}
    >
      <div className={styles.dialog}>
        <OptionRow
          label={words.period}
          value={billingPeriod}
          disabled={busy}
          begins
          options={[
            { value: 'monthly', text: words.periods.monthly },
            { value: 'yearly', text: words.periods.yearly, extra: words.save(saving) },
          ]}
          hint={billingPeriod === 'yearly' ? words.saveHint(saving) : null}
          onChange={(value) => choose({ billingPeriod: value })}
        />
        <OptionRow
          label={words.type}
          value={paymentType}
          disabled={busy}
          options={[
            { value: 'onetime', text: words.types.onetime },
            { value: 'subscription', text: words.types.subscription },
          ]}
          hint={words.typeHints[paymentType]}
          onChange={(value) => choose({ paymentType: value })}
        />
        <div className={styles.bill}>
          <p className={styles.price}>
            <strong>{formatPrice(plan.price[billingPeriod])}</strong> <span>{words.per[billingPeriod]}</span>
          </p>
          {quote.data && <Sum quote={quote.data} replaced={subscription.plan} />}
        </div>
        <PlanFeatures plan={plan} label={texts.subscribe.features} />
        <div className={styles.foot}>
          {quote.isError && !quote.data && (
            <Notice tone="bad" action={<TryAgain busy={quote.isFetching} onClick={() => void quote.refetch()} />}>
              {words.quoteFailed(errorMessage(quote.error))}
            </Notice>
          )}
          {script.state === 'failed' && (
            <Notice tone="bad" action={<TryAgain busy={false} onClick={script.again} />}>
              {words.scriptFailed(hostOf(subscription))}
            </Notice>
          )}
          {problem !== null && <Notice tone="bad">{problem}</Notice>}
          {confirming && problem === null && !busy && <Notice tone="info">{words.confirming}</Notice>}
          <div className={styles.buttons}>
            <Button variant="default" onClick={onClose} disabled={busy}>
              {words.close}
            </Button>
            {quote.data && script.state === 'ready' ? (
              <BusyButton busy={busy} busyText={words.processing} disabled={confirming && !busy} onClick={() => void checkout.pay(choice)}>
                {labelOf(plan, choice, quote.data)}
              </BusyButton>
            ) : (
              <Button disabled>{script.state === 'failed' || quote.isError ? labelOf(plan, choice, null) : words.loading}</Button>
            )}
          </div>
        </div>
        <p className={styles.footer}>{words.footer}</p>
      </div>
    </Dialog>
  )
}

/** What changing over costs, where that is not simply the price. */
function Sum({ quote, replaced }: { quote: Quote; replaced: Subscription['plan'] }): ReactNode {
  const { price, credit, dueNow, paymentType, message } = quote
  return (
    <>
      {credit > 0 && paymentType === 'onetime' && (
        <dl className={styles.sum}>
          <dt>{planOf(quote.plan).title}</dt>
          <dd>{formatRupees(price)}</dd>
          <dt>{words.credit(planOf(quote.replaces ?? replaced).title)}</dt>
          <dd>−{formatRupees(credit)}</dd>
          <dt>{words.dueNow}</dt>
          <dd>{formatRupees(dueNow)}</dd>
        </dl>
      )}
      {message !== '' && <p className={styles.message}>{message}</p>}
    </>
  )
}

function TryAgain({ busy, onClick }: { busy: boolean; onClick: () => void }): ReactNode {
  return (
    <BusyButton variant="default" busy={busy} busyText={words.trying} onClick={onClick}>
      {words.again}
    </BusyButton>
  )
}

/** The price of the catalogue stands on the button; what is really paid, where something is left of another plan. */
function labelOf(plan: Plan, { billingPeriod, paymentType }: Choice, quote: Quote | null): string {
  const price = formatPrice(plan.price[billingPeriod])
  if (paymentType === 'subscription') return words.subscribe(price, periodWord[billingPeriod])
  if (quote && quote.credit > 0) return words.payRest(formatPrice(Math.round(quote.dueNow * 100)))
  return words.payOnce(price, periodWord[billingPeriod])
}

function hostOf({ checkout }: Subscription): string {
  return checkout ? new URL(checkout.scriptUrl).host : ''
}
