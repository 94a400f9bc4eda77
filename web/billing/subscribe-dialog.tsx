import { Button } from '@mantine/core'
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { billingCalls, type Quote, type Subscription } from '#contract/billing.ts'
import { formatMoney } from '#contract/money.ts'
import { formatPrice, type Plan, periodWord, planOf, yearlySaving } from '#contract/plans.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { BusyButton, TryAgain } from '#web/ui/buttons.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { PlanFeatures } from '#web/ui/plain.tsx'
import styles from './billing.module.css'
import { type Choice, useCheckout, useCheckoutScript } from './checkout.ts'
import { texts } from './texts.ts'

const t = texts.subscribe
/** Milliseconds between two quotes: a credit shrinks and a trial ends while the dialog is open. */
const quoteInterval = 60_000

interface SubscribeDialogProps {
  plan: Plan & { name: 'pro' | 'enterprise' }
  subscription: Subscription
  onPaid: (message: string) => void
  onError: (message: string) => void
  /** The user paid, and the server could not confirm the payment yet. */
  onUnconfirmed: () => void
  /** Refetches the subscription. */
  onChange: () => Promise<Subscription | undefined>
  onClose: () => void
}

export function SubscribeDialog({ plan, subscription, onClose, ...callbacks }: SubscribeDialogProps): ReactNode {
  const [choice, setChoice] = useState<Choice>({ billingPeriod: 'monthly', paymentType: 'onetime' })
  const { billingPeriod, paymentType } = choice
  const script = useCheckoutScript(subscription.checkout?.scriptUrl ?? null)
  const checkout = useCheckout({ plan, subscription, ...callbacks })
  const { stage, problem } = checkout
  const quote = useApiQuery(
    billingCalls.quote,
    { query: { plan: plan.name, ...choice } },
    { refetchInterval: stage === 'idle' ? quoteInterval : false },
  )
  const dialog = useRef<HTMLDivElement>(null)
  const confirming = subscription.notices.some(({ kind }) => kind === 'confirming')
  const busy = stage !== 'idle'
  const saving = formatPrice(yearlySaving(plan))

  // The provider’s window lies over the dialog and must be reachable by screen readers while it is open.
  const paying = stage === 'paying'
  useEffect(() => {
    dialog.current?.querySelector('[role="dialog"]')?.setAttribute('aria-modal', String(!paying))
  }, [paying])

  const choose = (changed: Partial<Choice>) => {
    setChoice({ ...choice, ...changed })
    checkout.clearProblem()
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
      title={t.title(plan.title)}
      size={480}
      yOffset={16}
    >
      <div className={styles.dialog}>
        <OptionRow
          label={t.period}
          value={billingPeriod}
          disabled={busy}
          autofocus
          options={[
            { value: 'monthly', text: t.periods.monthly },
            { value: 'yearly', text: t.periods.yearly, extra: t.save(saving) },
          ]}
          hint={billingPeriod === 'yearly' ? t.saveHint(saving) : null}
          onChange={(value) => choose({ billingPeriod: value })}
        />
        <OptionRow
          label={t.type}
          value={paymentType}
          disabled={busy}
          options={[
            { value: 'onetime', text: t.types.onetime },
            { value: 'subscription', text: t.types.subscription },
          ]}
          hint={t.typeHints[paymentType]}
          onChange={(value) => choose({ paymentType: value })}
        />
        <div className={styles.bill}>
          <p className={styles.price}>
            <strong>{formatPrice(plan.price[billingPeriod])}</strong> <span>{t.per[billingPeriod]}</span>
          </p>
          {quote.data && <Sum quote={quote.data} replaced={subscription.plan} />}
        </div>
        <PlanFeatures plan={plan} label={t.features} />
        <div className={styles.foot}>
          {quote.isError && !quote.data && (
            <Notice tone="bad" action={<TryAgain busy={quote.isFetching} onRetry={() => void quote.refetch()} />}>
              {t.quoteFailed(errorMessage(quote.error))}
            </Notice>
          )}
          {script.state === 'failed' && (
            <Notice tone="bad" action={<TryAgain busy={false} onRetry={script.retry} />}>
              {t.scriptFailed(hostOf(subscription))}
            </Notice>
          )}
          {problem !== null && <Notice tone="bad">{problem}</Notice>}
          {confirming && problem === null && !busy && <Notice tone="info">{t.confirming}</Notice>}
          <p className={styles.charges} aria-live="polite">
            {quote.data?.charges}
          </p>
          <div className={styles.buttons}>
            <Button variant="default" onClick={onClose} disabled={busy}>
              {t.close}
            </Button>
            {quote.data && script.state === 'ready' ? (
              <BusyButton busy={busy} busyText={t.processing} disabled={confirming && !busy} onClick={() => void checkout.pay(choice)}>
                {payLabel(plan, choice, quote.data)}
              </BusyButton>
            ) : (
              <Button disabled>{script.state === 'failed' || quote.isError ? payLabel(plan, choice, null) : t.loading}</Button>
            )}
          </div>
        </div>
        <p className={styles.footer}>{t.footer}</p>
      </div>
    </Dialog>
  )
}

/** The price minus the credit from the current plan. */
function Sum({ quote, replaced }: { quote: Quote; replaced: Subscription['plan'] }): ReactNode {
  const { price, credit, dueNow, paymentType, message } = quote
  return (
    <>
      {credit > 0 && paymentType === 'onetime' && (
        <dl className={styles.sum}>
          <dt>{planOf(quote.plan).title}</dt>
          <dd>{formatMoney(price, 'INR')}</dd>
          <dt>{t.credit(planOf(quote.replaces ?? replaced).title)}</dt>
          <dd>−{formatMoney(credit, 'INR')}</dd>
          <dt>{t.dueNow}</dt>
          <dd>{formatMoney(dueNow, 'INR')}</dd>
        </dl>
      )}
      {message !== '' && <p className={styles.message}>{message}</p>}
    </>
  )
}

/** The price of the catalogue, which the specification fixes; with a credit, the amount that is really paid. */
function payLabel(plan: Plan, { billingPeriod, paymentType }: Choice, quote: Quote | null): string {
  const price = formatPrice(plan.price[billingPeriod])
  if (paymentType === 'subscription') return t.subscribe(price, periodWord[billingPeriod])
  if (quote && quote.credit > 0) return t.payRest(formatPrice(Math.round(quote.dueNow * 100)))
  return t.payOnce(price, periodWord[billingPeriod])
}

function hostOf({ checkout }: Subscription): string {
  return checkout ? new URL(checkout.scriptUrl).host : ''
}

interface OptionRowProps<V extends string> {
  label: string
  options: { value: V; text: string; extra?: string }[]
  value: V
  disabled: boolean
  hint: string | null
  /** Focused when the dialog opens. */
  autofocus?: boolean
  onChange: (value: V) => void
}

function OptionRow<V extends string>({ label, options, value, disabled, hint, autofocus = false, onChange }: OptionRowProps<V>): ReactNode {
  const name = useId()
  return (
    <fieldset className={styles.choice} disabled={disabled}>
      <legend>{label}</legend>
      <div className={styles.options}>
        {options.map((option) => (
          <label key={option.value} className={styles.option} data-chosen={option.value === value || undefined}>
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
              data-autofocus={(autofocus && option.value === value) || undefined}
            />
            <span>
              {option.text} {option.extra !== undefined && <em className={styles.extra}>{option.extra}</em>}
            </span>
          </label>
        ))}
      </div>
      {hint !== null && (
        <p className={styles.hint} aria-live="polite">
          {hint}
        </p>
      )}
    </fieldset>
  )
}
