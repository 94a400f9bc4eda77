import { type ComponentProps, lazy, type ReactNode, Suspense } from 'react'

const Loaded = lazy(() =>
  import('./plan-changes.tsx').then(
    (plan) => ({ default: plan.ChangesBeside }),
    // Without it the form works as ever.
    () => ({ default: () => null }),
  ),
)

/** What a change would do in the next days, beside the fields that hold it; its code is loaded on first use. */
export function ChangesAhead(props: ComponentProps<typeof Loaded>): ReactNode {
  return (
    <Suspense>
      <Loaded {...props} />
    </Suspense>
  )
}
