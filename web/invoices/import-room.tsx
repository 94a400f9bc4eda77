import type { ReactNode } from 'react'
import { billingCalls } from '#contract/billing.ts'
import { planThatLifts } from '#contract/plans.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { Notice } from '#web/ui/notice.tsx'
import { importTexts } from './import-texts.ts'

/** Says before an import that the plan has no room for all of it this month. The server decides; it is asked when the import begins. */
export function ImportRoom({ wanted }: { wanted: number }): ReactNode {
  const subscription = useApiQuery(billingCalls.subscription)
  const left = subscription.data?.usage.invoicesLeft ?? null
  if (left === null || wanted <= left) return null
  return <Notice tone="warn">{importTexts.room(left, wanted - left, planThatLifts('invoicesPerMonth').title)}</Notice>
}
