import type { ReactNode } from 'react'
import { PageHeader } from '#web/ui/panel.tsx'
import { ApiKeys } from './api-keys.tsx'
import { Applications } from './applications.tsx'
import { PlanFirst } from './plan-first.tsx'
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
