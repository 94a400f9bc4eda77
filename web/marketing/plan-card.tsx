import { IconCheck, IconX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { formatPrice, type Plan, yearlySaving } from '#contract/plans.ts'
import { filled } from '#web/platform/page-facts.tsx'
import { useSession } from '#web/platform/session.ts'
import button from '#web/ui/plain-button.module.css'
import look from './pricing.module.css'
import { texts } from './texts.ts'

const words = texts.pricing

/** One plan: what it costs, what is in it, what is not, and the way to it. */
export function PlanCardView({ plan }: { plan: Plan }): ReactNode {
  const { title, description, price, features, limitations, popular } = plan
  return (
    <section className={look.plan} data-popular={popular || undefined} aria-label={title}>
      <div className={look.head}>
        <h2 className={look.name}>{title}</h2>
        {popular && <span className={look.popular}>{words.popular}</span>}
      </div>
      <p className={look.description}>{description}</p>
      <p className={look.price}>
        <strong>{formatPrice(price.monthly)}</strong> {price.monthly === 0 ? words.forever : words.perMonth}
      </p>
      <p className={look.year}>{price.yearly > 0 && words.year(formatPrice(price.yearly), formatPrice(yearlySaving(plan)))}</p>
      <Action plan={plan} />
      <ul className={look.features}>
        {features.map(({ text, coming }) => (
          <li key={text} data-coming={coming || undefined}>
            <IconCheck size={18} aria-hidden />
            <span>
              {text} {coming && <em className={look.coming}>{words.coming}</em>}
            </span>
          </li>
        ))}
        {limitations.map((text) => (
          <li key={text} className={look.missing}>
            <IconX size={18} aria-hidden />
            <span>
              <span className={look.unseen}>{words.notIncluded} </span>
              <s>{text}</s>
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** A stranger goes to sign in. Who is signed in is on Free and has all the rest too, as long as nothing can be bought here. */
function Action({ plan }: { plan: Plan }): ReactNode {
  const session = useSession()
  if (!session)
    return (
      <Link to="/signin" className={plan.popular ? button.filled : button.quiet}>
        {plan.cardText}
      </Link>
    )
  if (plan.name === 'free')
    return (
      <button type="button" className={`${button.quiet} ${look.current}`} disabled>
        {words.current}
      </button>
    )
  return filled('payments') === 'off' ? <p className={look.included}>{words.unlimited.included}</p> : null
}
