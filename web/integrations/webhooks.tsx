import { Button } from '@mantine/core'
import { IconBolt, IconChevronRight, IconPlus, IconWebhook } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { integrationCalls, type Webhook } from '#contract/integrations.ts'
import { screens } from '#contract/screens.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { capitalized, showMoment } from '#web/ui/dates.ts'
import { Panel, Pill } from '#web/ui/panel.tsx'
import styles from './connections.module.css'
import { HookState } from './hook-state.tsx'
import { ShowAll } from './show-all.tsx'
import { texts } from './texts.ts'
import { useLackOfApiAccess } from './use-api-access.ts'
import { useZone } from './use-zone.ts'
import { WebhookDialog } from './webhook-dialog.tsx'

const words = texts.webhooks

/** The addresses that are told of what happens. */
export function Webhooks(): ReactNode {
  const webhooks = useApiQuery(integrationCalls.webhooks)
  const lack = useLackOfApiAccess()
  const [adding, setAdding] = useState(false)
  return (
    <Panel
      title={words.title}
      aside={
        !lack && (
          <Button variant="default" leftSection={<IconPlus size={18} aria-hidden />} onClick={() => setAdding(true)}>
            {words.add}
          </Button>
        )
      }
    >
      <p className={styles.lead}>{words.text}</p>
      <QueryView
        query={webhooks}
        loading={words.loading}
        error={words.failed}
        empty={<p className={styles.none}>{lack ? words.lacking(lack.lifts.title) : words.none}</p>}
      >
        {(list) => (
          <ShowAll list={list}>
            {(shown) => (
              <ul className={styles.list}>
                {shown.map((webhook) => (
                  <Row key={webhook._id} webhook={webhook} />
                ))}
              </ul>
            )}
          </ShowAll>
        )}
      </QueryView>
      <WebhookDialog opened={adding} webhook={null} onClose={() => setAdding(false)} />
    </Panel>
  )
}

function Row({ webhook }: { webhook: Webhook }): ReactNode {
  const { _id, kind, url, events, failures, lastDeliveredAt } = webhook
  const zone = useZone()
  const Icon = kind === 'zapier' ? IconBolt : IconWebhook
  const facts = [
    lastDeliveredAt === null ? words.nothing : words.delivered(showMoment(zone, new Date(lastDeliveredAt), new Date())),
    ...(failures > 0 ? [words.failing(failures)] : []),
  ]
  return (
    <li className={styles.linked}>
      <Icon size={22} stroke={1.6} aria-hidden className={styles.icon} />
      <div className={styles.what}>
        <div className={styles.name}>
          <Link to={screens.webhook(_id)} className={styles.address} aria-label={words.open(url)} title={url}>
            {url}
          </Link>
          {kind === 'zapier' && <Pill tone="quiet">{words.by.zapier}</Pill>}
          <HookState webhook={webhook} />
        </div>
        <div className={styles.quiet}>{events.map((event) => texts.events.names[event]).join(', ')}</div>
        <div className={styles.quiet}>{capitalized(facts.join(' · '))}</div>
      </div>
      <IconChevronRight size={20} aria-hidden className={styles.icon} />
    </li>
  )
}
