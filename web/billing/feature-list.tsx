import { IconCheck } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Plan } from '#contract/plans.ts'
import look from './billing.module.css'
import { texts } from './texts.ts'

/** What a plan holds; what it only promises says so. */
export function FeatureList({ plan }: { plan: Plan }): ReactNode {
  return (
    <ul className={look.features} aria-label={texts.subscribe.features}>
      {plan.features.map(({ text, coming }) => (
        <li key={text} data-coming={coming || undefined}>
          <IconCheck size={18} aria-hidden />
          <span>
            {text} {coming && <em className={look.coming}>{texts.subscribe.coming}</em>}
          </span>
        </li>
      ))}
    </ul>
  )
}
