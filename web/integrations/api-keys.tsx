import { Button } from '@mantine/core'
import { IconKey, IconPlus } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { billingCalls } from '#contract/billing.ts'
import { type ApiKey, integrationCalls } from '#contract/integrations.ts'
import { planOf, planThatLifts } from '#contract/plans.ts'
import { useRead } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { dateIn, showDate, showMoment } from '#web/ui/dates.ts'
import { Notice } from '#web/ui/notice.tsx'
import { Panel } from '#web/ui/panel.tsx'
import { Pill } from '#web/ui/pill.tsx'
import { ApiKeyDialog } from './api-key-dialog.tsx'
import look from './connections.module.css'
import { RevokeDialog } from './revoke-dialog.tsx'
import { ShowAll } from './show-all.tsx'
import { texts } from './texts.ts'
import { useRemovalFocus } from './use-removal-focus.ts'
import { useZone } from './use-zone.ts'

const words = texts.keys
/** So many milliseconds before its end a key is marked. */
const soon = 7 * 86_400_000

/** The keys for programs of one's own. A plan without them says so before anybody runs into it. */
export function ApiKeys(): ReactNode {
  const keys = useRead(integrationCalls.keys)
  const subscription = useRead(billingCalls.subscription)
  const [adding, setAdding] = useState(false)
  const [asked, setAsked] = useState<ApiKey | null>(null)
  const { around, expect } = useRemovalFocus(keys.data?.length)
  const entitled = subscription.data?.entitlements
  const lacking = entitled !== undefined && !entitled.abilities.includes('apiAccess')
  return (
    <Panel
      title={words.title}
      aside={
        !lacking && (
          <Button variant="default" leftSection={<IconPlus size={18} aria-hidden />} onClick={() => setAdding(true)}>
            {words.add}
          </Button>
        )
      }
    >
      <div ref={around} tabIndex={-1} className={look.around}>
        <p className={look.lead}>{words.text}</p>
        {lacking && <PlanFirst here={planOf(entitled.plan).title} any={(keys.data?.length ?? 0) > 0} />}
        <QueryView
          query={keys}
          loading={words.loading}
          error={words.failed}
          empty={lacking ? <span /> : <p className={look.none}>{words.none}</p>}
        >
          {(list) => (
            <ShowAll list={list}>
              {(shown) => (
                <ul className={look.list}>
                  {shown.map((key) => (
                    <Key key={key._id} apiKey={key} onRevoke={() => setAsked(key)} />
                  ))}
                </ul>
              )}
            </ShowAll>
          )}
        </QueryView>
        <p className={look.links}>
          <a href="/docs" className={look.link}>
            {words.reference}
          </a>
        </p>
      </div>
      <ApiKeyDialog opened={adding} onClose={() => setAdding(false)} />
      <RevokeDialog asked={asked} onExpect={expect} onClose={() => setAsked(null)} />
    </Panel>
  )
}

function PlanFirst({ here, any }: { here: string; any: boolean }): ReactNode {
  const plan = planThatLifts('apiAccess')
  return (
    <Notice
      tone="info"
      title={words.plan.title(plan.title)}
      action={
        // The pricing page is a document of its own.
        <Button component="a" href={`/pricing?plan=${plan.name}`} variant="default">
          {words.plan.choose(plan.title)}
        </Button>
      }
    >
      {words.plan.text(here, plan.title)} {any && words.plan.kept(plan.title)}
    </Notice>
  )
}

function Key({ apiKey, onRevoke }: { apiKey: ApiKey; onRevoke: () => void }): ReactNode {
  const { name, ending, scopes, createdAt, expiresAt, lastUsedAt } = apiKey
  const zone = useZone()
  const now = new Date()
  const day = (instant: string) => showDate(dateIn(zone, new Date(instant)))
  const left = expiresAt === null ? null : new Date(expiresAt).getTime() - now.getTime()
  const facts = [
    scopes.includes('write') ? words.readWrite : words.readOnly,
    words.created(day(createdAt)),
    expiresAt === null ? words.noEnd : words.expires(day(expiresAt)),
    lastUsedAt === null ? texts.never : texts.used(showMoment(zone, new Date(lastUsedAt), now)),
  ]
  return (
    <li className={look.item}>
      <IconKey size={22} stroke={1.6} aria-hidden className={look.icon} />
      <div className={look.what}>
        <div className={look.name}>
          {name} <code className={look.ending}>{words.ending(ending)}</code>
          {left !== null && left <= 0 && <Pill tone="overdue">{words.expired}</Pill>}
          {left !== null && left > 0 && left < soon && <Pill tone="unpaid">{words.soon}</Pill>}
        </div>
        <div className={look.quiet}>{facts.join(' · ')}</div>
      </div>
      <Button variant="default" aria-label={words.revokeOne(name)} onClick={onRevoke}>
        {words.revoke}
      </Button>
    </li>
  )
}
