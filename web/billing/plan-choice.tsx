import { lazy, type ReactNode, Suspense } from 'react'
import { useOutletContext } from 'react-router'
import type { PlanName } from '#contract/plans.ts'
import { screens } from '#contract/screens.ts'
import { texts } from './texts.ts'

const loadActions = () => import('./plan-actions.tsx')
// Must be lazy: the page is public, and only signed-in users need it.
const PlanActions = lazy(() =>
  loadActions().then(
    ({ PlanActions }) => ({ default: PlanActions }),
    () => ({ default: NotLoaded }),
  ),
)

/** The buttons and dialogs of the pricing page, for signed-in users. */
export default function PlanChoice(): ReactNode {
  // Each plan card has a slot for its button.
  const slots = useOutletContext<ReadonlyMap<PlanName, HTMLElement>>()
  return (
    <Suspense>
      <PlanActions slots={slots} />
    </Suspense>
  )
}

function NotLoaded(): ReactNode {
  return (
    <p role="alert">
      {texts.cards.notLoaded} <a href={screens.pricing}>{texts.cards.reload}</a>
    </p>
  )
}
