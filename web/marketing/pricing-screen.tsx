import { type ReactNode, useCallback, useState } from 'react'
import { Outlet } from 'react-router'
import { type PlanName, plans } from '#contract/plans.ts'
import { pageMeta } from '#web/platform/page-meta.tsx'
import { useSession } from '#web/platform/session.ts'
import { PlainPage } from './plain-page.tsx'
import { type OnPlace, PlanCardView } from './plan-card.tsx'
import styles from './pricing.module.css'
import { texts } from './texts.ts'

/** /pricing */
export default function PricingScreen(): ReactNode {
  const { pricing } = texts
  const session = useSession()
  const [places, setPlaces] = useState<ReadonlyMap<PlanName, HTMLElement>>(new Map())
  const keepPlace = useCallback<OnPlace>((name, place) => {
    setPlaces((before) => {
      const after = new Map(before)
      if (place) after.set(name, place)
      else after.delete(name)
      return after
    })
  }, [])
  return (
    <PlainPage
      words={pricing}
      path="/pricing"
      more={
        <span className={styles.trial} data-payments={pageMeta('payments')}>
          {pricing.trial}
        </span>
      }
    >
      <p className={styles.unlimited} data-payments={pageMeta('payments')}>
        <strong>{pricing.unlimited.title}</strong> {pricing.unlimited.text}
      </p>
      {session && pageMeta('payments') === 'on' && <Outlet context={places} />}
      <div className={styles.plans}>
        {plans.map((plan) => (
          <PlanCardView key={plan.name} plan={plan} onPlace={keepPlace} />
        ))}
      </div>
      <ul className={styles.notes}>
        {pricing.notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </PlainPage>
  )
}
