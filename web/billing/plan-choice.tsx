import { lazy, type ReactNode, Suspense } from 'react'
import { useOutletContext } from 'react-router'
import type { PlanName } from '#contract/plans.ts'
import { texts } from './texts.ts'

// Only who is signed in, where something is sold, needs it; the page is public.
const PlanActions = lazy(() =>
  import('./plan-actions.tsx').then(
    ({ PlanActions }) => ({ default: PlanActions }),
    () => ({ default: NotLoaded }),
  ),
)

/** /pricing, for who is signed in: what stands on the cards, and the dialog to buy a plan. */
export default function PlanChoice(): ReactNode {
  // The card of each plan leaves a place for its button.
  const places = useOutletContext<ReadonlyMap<PlanName, HTMLElement>>()
  return (
    <Suspense>
      <PlanActions places={places} />
    </Suspense>
  )
}

function NotLoaded(): ReactNode {
  return (
    <p role="alert">
      {texts.cards.notLoaded} <a href="/pricing">{texts.cards.reload}</a>
    </p>
  )
}
