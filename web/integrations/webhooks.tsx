import { Button } from '@mantine/core'
import { IconBolt, IconChevronRight, IconPlus, IconWebhook } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import type { Webhook } from '#contract/integrations.ts'
import { screens } from '#contract/screens.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { capitalized, showMoment } from '#web/ui/dates.ts'
import { Panel, Pill } from '#web/ui/panel.tsx'
import styles from './connections.module.css'
import { useMissingApiAccess, useWebhooks, useZone } from './hooks.ts'
import { ShowAll, WebhookState } from './list-parts.tsx'
import { texts } from './texts.ts'
import { WebhookDialog } from './webhook-dialog.tsx'

const t = texts.webhooks

export function Webhooks(): ReactNode {
  const webhooks = useWebhooks()
  const lack = useMissingApiAccess()
  const [adding, setAdding] = useState(false)
  return (
    <Panel
      title={t.title}
      aside={
        !lack && (
          <Button variant="default" leftSection={<IconPlus size={18} aria-hidden />} onClick={() => setAdding(true)}>
            {t.add}
          </Button>
        )
      }
    >
      <p className={styles.lead}>{t.text}</p>
      <QueryView
        query={webhooks}
        loading={t.loading}
        error={t.failed}
        empty={<p className={styles.none}>{lack ? t.lacking(lack.lifts.title) : t.none}</p>}
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
  const { _id, kind, url, events, failures, lastDeliveredAt, skipped } = webhook
  const zone = useZone()
  const Icon = kind === 'zapier' ? IconBolt : IconWebhook
  const facts = [
    lastDeliveredAt === null ? t.nothing : t.delivered(showMoment(zone, new Date(lastDeliveredAt), new Date())),
    ...(failures > 0 ? [t.failing(failures)] : []),
    ...(skipped > 0 ? [t.skipped(skipped)] : []),
  ]
  return (
    <li className={styles.linked}>
      <Icon size={22} stroke={1.6} aria-hidden className={styles.icon} />
      <div className={styles.what}>
        <div className={styles.name}>
          <Link to={screens.webhook(_id)} className={styles.address} aria-label={t.open(url)} title={url}>
            {url}
          </Link>
          {kind === 'zapier' && <Pill tone="quiet">{t.by.zapier}</Pill>}
          <WebhookState webhook={webhook} />
        </div>
        <div className={styles.quiet}>{events.map((event) => texts.events.names[event]).join(', ')}</div>
        <div className={styles.quiet}>{capitalized(facts.join(' · '))}</div>
      </div>
      <IconChevronRight size={20} aria-hidden className={styles.icon} />
    </li>
  )
}
