import { IconCheck, IconX } from '@tabler/icons-react'
import { type ReactNode, useCallback } from 'react'
import { Link } from 'react-router'
import { formatPrice, type Plan, type PlanName, yearlySaving } from '#contract/plans.ts'
import { pageMeta } from '#web/platform/page-meta.tsx'
import { useSession } from '#web/platform/session.ts'
import button from '#web/ui/plain.module.css'
import { PlanFeatures } from '#web/ui/plain.tsx'
import styles from './pricing.module.css'
import { texts } from './texts.ts'

const words = texts.pricing

/** Hears of the place on a plan's card where its button goes; null once it is gone. */
export type OnPlace = (name: PlanName, place: HTMLElement | null) => void

/** One plan: what it costs, what is in it, what is not, and the way to it. */
export function PlanCardView({ plan, onPlace }: { plan: Plan; onPlace: OnPlace }): ReactNode {
  const { title, description, price, limitations, popular } = plan
  return (
    <section className={styles.plan} data-popular={popular || undefined} aria-label={title}>
      <div className={styles.head}>
        <h2 className={styles.name}>{title}</h2>
        {popular && <span className={styles.popular}>{words.popular}</span>}
      </div>
      <p className={styles.description}>{description}</p>
      <p className={styles.price}>
        <strong>{formatPrice(price.monthly)}</strong> {price.monthly === 0 ? words.forever : words.perMonth}
      </p>
      <p className={styles.year}>{price.yearly > 0 && words.year(formatPrice(price.yearly), formatPrice(yearlySaving(plan)))}</p>
      <Action plan={plan} onPlace={onPlace} />
      <PlanFeatures plan={plan} className={styles.features}>
        {limitations.map((text) => (
          <li key={text} className={styles.missing}>
            <IconX size={18} aria-hidden />
            <span>
              <span className={styles.unseen}>{words.notIncluded} </span>
              <s>{text}</s>
            </span>
          </li>
        ))}
      </PlanFeatures>
    </section>
  )
}

/**
 * A stranger goes to sign in. Who is signed in finds what billing puts here; where nothing can be bought, they are on Free and have all the
 * rest too.
 */
function Action({ plan, onPlace }: { plan: Plan; onPlace: OnPlace }): ReactNode {
  const session = useSession()
  const hold = useCallback((place: HTMLElement | null) => onPlace(plan.name, place), [plan.name, onPlace])
  if (!session)
    return (
      <Link to="/signin" className={plan.popular ? button.filled : button.quiet}>
        {plan.cardText}
      </Link>
    )
  if (pageMeta('payments') === 'on') return <div ref={hold} className={styles.place} />
  if (plan.name === 'free')
    return (
      <button type="button" className={button.held} disabled>
        <IconCheck size={18} aria-hidden />
        {words.current}
      </button>
    )
  return (
    <p className={button.held}>
      <IconCheck size={18} aria-hidden />
      {words.unlimited.included}
    </p>
  )
}
