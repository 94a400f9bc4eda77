import type { ReactNode } from 'react'
import { plans } from '#contract/plans.ts'
import { filled } from '#web/platform/page-facts.tsx'
import { PlainPage } from './plain-page.tsx'
import { PlanCardView } from './plan-card.tsx'
import look from './pricing.module.css'
import { texts } from './texts.ts'

/** /pricing */
export default function PricingScreen(): ReactNode {
  const { pricing } = texts
  return (
    <PlainPage words={pricing} path="/pricing">
      <p className={look.unlimited} data-payments={filled('payments')}>
        <strong>{pricing.unlimited.title}</strong> {pricing.unlimited.text}
      </p>
      <div className={look.plans}>
        {plans.map((plan) => (
          <PlanCardView key={plan.name} plan={plan} />
        ))}
      </div>
      <ul className={look.notes}>
        {pricing.notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </PlainPage>
  )
}
