import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { screens, withQuery } from '#contract/screens.ts'
import { Notice } from '#web/ui/notice.tsx'
import { PageHeader } from '#web/ui/panel.tsx'
import { ApiKeys } from './api-keys.tsx'
import { Applications } from './applications.tsx'
import { useMissingApiAccess } from './hooks.ts'
import { texts } from './texts.ts'
import { Webhooks } from './webhooks.tsx'

/** /dashboard/connections */
export default function ConnectionsScreen(): ReactNode {
  return (
    <>
      <PageHeader title={texts.title} subtitle={texts.subtitle} />
      <Applications />
      <PlanFirst />
      <Webhooks />
      <ApiKeys />
    </>
  )
}

const t = texts.plan

/** Explains that webhooks and API keys need another plan. */
function PlanFirst(): ReactNode {
  const lack = useMissingApiAccess()
  if (!lack) return null
  const { state, lifts } = lack
  return (
    <Notice
      tone="info"
      title={t.title(lifts.title)}
      action={
        // The pricing page is a document of its own, with its own security policy.
        <Button component="a" href={withQuery(screens.pricing, { plan: lifts.name })} variant="default">
          {t.choose(lifts.title)}
        </Button>
      }
    >
      {t.text(state, lifts.title)}
    </Notice>
  )
}
