import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { useRead } from '#web/platform/query.ts'
import { Notice } from '#web/ui/notice.tsx'
import { Panel } from '#web/ui/panel.tsx'
import { Pill } from '#web/ui/pill.tsx'
import look from './profile.module.css'
import { texts } from './texts.ts'

const words = texts.profile.plan

/** The one plan that a server without payments has. */
export const currentPlan = 'Free'

/** Which plan this account is on, and the way to the others. */
export function ProfileSubscription(): ReactNode {
  const server = useRead(accountCalls.server, {}, { fresh: Number.POSITIVE_INFINITY })
  return (
    <Panel title={words.title}>
      <dl className={look.facts}>
        <dt>{words.plan}</dt>
        <dd>{currentPlan}</dd>
        <dt>{words.status}</dt>
        <dd>
          <Pill tone="paid">{words.active}</Pill>
        </dd>
      </dl>
      {server.data?.payments === false && <Notice tone="info">{words.unlimited}</Notice>}
      <Button component={Link} to="/pricing" variant="default">
        {words.upgrade}
      </Button>
    </Panel>
  )
}
