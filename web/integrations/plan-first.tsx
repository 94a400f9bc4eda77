import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { screens, withQuery } from '#contract/screens.ts'
import { Notice } from '#web/ui/notice.tsx'
import { texts } from './texts.ts'
import { useLackOfApiAccess } from './use-api-access.ts'

const words = texts.plan

/** Says that webhooks and API keys need another plan, before anybody runs into it. */
export function PlanFirst(): ReactNode {
  const lack = useLackOfApiAccess()
  if (!lack) return null
  const { here, lifts } = lack
  return (
    <Notice
      tone="info"
      title={words.title(lifts.title)}
      action={
        // The pricing page is a document of its own.
        <Button component="a" href={withQuery(screens.pricing, { plan: lifts.name })} variant="default">
          {words.choose(lifts.title)}
        </Button>
      }
    >
      {words.text(here.title, lifts.title)}
    </Notice>
  )
}
