import { IconCheck, IconX } from '@tabler/icons-react'
import { type ReactNode, useCallback, useState } from 'react'
import { Link, Outlet } from 'react-router'
import { formatPrice, type Plan, type PlanName, plans, yearlySaving } from '#contract/plans.ts'
import { screens } from '#contract/screens.ts'
import { pageMeta } from '#web/platform/page-meta.tsx'
import { useSession } from '#web/platform/session.ts'
import button from '#web/ui/plain.module.css'
import { PlanFeatures } from '#web/ui/plain.tsx'
import styles from './plain-page.module.css'
import { PlainPage } from './plain-page.tsx'
import { texts } from './texts.ts'

const t = texts.pricing

export default function PricingScreen(): ReactNode {
  const session = useSession()
  const [slots, setSlots] = useState<ReadonlyMap<PlanName, HTMLElement>>(new Map())
  const keepSlot = useCallback<OnSlot>((name, slot) => {
    setSlots((before) => {
      const after = new Map(before)
      if (slot) after.set(name, slot)
      else after.delete(name)
      return after
    })
  }, [])
  return (
    <PlainPage
      texts={t}
      path={screens.pricing}
      more={
        <span className={styles.trial} data-payments={pageMeta('payments')}>
          {t.trial}
        </span>
      }
    >
      <p className={styles.unlimited} data-payments={pageMeta('payments')}>
        <strong>{t.unlimited.title}</strong> {t.unlimited.text}
      </p>
      <div className={styles.own} data-payments={pageMeta('payments')}>
        {session && pageMeta('payments') === 'on' && <Outlet context={slots} />}
      </div>
      <div className={styles.plans}>
        {plans.map((plan) => (
          <PlanCard key={plan.name} plan={plan} onSlot={keepSlot} />
        ))}
      </div>
      <ul className={styles.notes}>
        {t.notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </PlainPage>
  )
}

/** Called with the element on a plan’s card that billing renders its button into; null after unmounting. */
type OnSlot = (name: PlanName, slot: HTMLElement | null) => void

function PlanCard({ plan, onSlot }: { plan: Plan; onSlot: OnSlot }): ReactNode {
  const { title, description, price, limitations, popular } = plan
  return (
    <section className={styles.plan} data-popular={popular || undefined} aria-label={title}>
      <div className={styles.head}>
        <h2 className={styles.name}>{title}</h2>
        {popular && <span className={styles.popular}>{t.popular}</span>}
      </div>
      <p className={styles.description}>{description}</p>
      <p className={styles.price}>
        <strong>{formatPrice(price.monthly)}</strong> {price.monthly === 0 ? t.forever : t.perMonth}
      </p>
      <p className={styles.year}>{price.yearly > 0 && t.year(formatPrice(price.yearly), formatPrice(yearlySaving(plan)))}</p>
      <Action plan={plan} onSlot={onSlot} />
      <PlanFeatures plan={plan} className={styles.features}>
        {limitations.map((text) => (
          <li key={text} className={styles.missing}>
            <IconX size={18} aria-hidden />
            <span>
              <span className={styles.unseen}>{t.notIncluded} </span>
              <s>{text}</s>
            </span>
          </li>
        ))}
      </PlanFeatures>
    </section>
  )
}

/** Signed out, the button leads to signing in, and that of Enterprise to the operator where there is an address. Signed in, billing renders its own; where payments are not set up, everyone is on Free with all features. */
function Action({ plan, onSlot }: { plan: Plan; onSlot: OnSlot }): ReactNode {
  const session = useSession()
  const hold = useCallback((slot: HTMLElement | null) => onSlot(plan.name, slot), [plan.name, onSlot])
  if (!session && plan.name === 'enterprise')
    return (
      <>
        <a
          href={pageMeta('support')}
          target="_blank"
          rel="noopener noreferrer"
          className={`${button.quiet} ${styles.sales}`}
          data-support={pageMeta('support')}
        >
          {plan.cardText}
        </a>
        <Link to={screens.signIn} className={`${button.quiet} ${styles.noSales}`} data-support={pageMeta('support')}>
          {t.startEnterprise}
        </Link>
      </>
    )
  if (!session)
    return (
      <Link to={screens.signIn} className={plan.popular ? button.filled : button.quiet}>
        {plan.cardText}
      </Link>
    )
  if (pageMeta('payments') === 'on') return <div ref={hold} className={styles.slot} />
  if (plan.name === 'free')
    return (
      <button type="button" className={button.held} disabled>
        <IconCheck size={18} aria-hidden />
        {t.current}
      </button>
    )
  return (
    <p className={button.held}>
      <IconCheck size={18} aria-hidden />
      {t.unlimited.included}
    </p>
  )
}
