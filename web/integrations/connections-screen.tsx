import { Button } from '@mantine/core'
import { IconApps, IconBolt, IconChevronRight, IconPlus, IconSend2, IconWebhook } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { type Connection, integrationCalls, type Webhook } from '#contract/integrations.ts'
import { screens, withQuery } from '#contract/screens.ts'
import { zapierCalls } from '#contract/zapier.ts'
import { Allowed } from '#web/platform/account.tsx'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { capitalized, dateIn, showDate, showMoment } from '#web/ui/dates.ts'
import { Notice } from '#web/ui/notice.tsx'
import { PageHeader, Panel, Pill } from '#web/ui/panel.tsx'
import { ApiKeys } from './api-keys.tsx'
import {
  ShowAll,
  SubscribeButton,
  useMissingApiAccess,
  useRemoval,
  useWebhooks,
  useZapierChanges,
  useZone,
  WebhookState,
} from './connection-parts.tsx'
import styles from './connections.module.css'
import { texts } from './texts.ts'
import { WebhookDialog } from './webhook-dialog.tsx'

/** /dashboard/connections */
export default function ConnectionsScreen(): ReactNode {
  return (
    <>
      <PageHeader title={texts.title} subtitle={texts.subtitle} />
      <Allowed by="admin">
        <Applications />
        <PlanFirst />
        <Webhooks />
        <ApiKeys />
      </Allowed>
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

const applicationTexts = texts.applications

function Applications(): ReactNode {
  const connections = useApiQuery(integrationCalls.connections)
  useZapierChanges()
  const { around, remove } = useRemoval<Connection>({
    call: integrationCalls.disconnect,
    invalidates: [integrationCalls.connections, integrationCalls.webhooks, zapierCalls.subscription],
    length: connections.data?.length,
    texts: {
      question: applicationTexts.question,
      consequence: ({ own }) => (own ? applicationTexts.ownConsequence : applicationTexts.consequence),
      action: applicationTexts.disconnect,
      busy: applicationTexts.disconnecting,
      done: applicationTexts.disconnected,
      failed: applicationTexts.disconnectFailed,
    },
  })
  return (
    <Panel title={applicationTexts.title}>
      <div ref={around} tabIndex={-1} className={styles.around}>
        <p className={styles.lead}>{applicationTexts.text}</p>
        <QueryView query={connections} loading={applicationTexts.loading} error={applicationTexts.failed} empty={null}>
          {(list) => (
            <>
              <ul className={styles.list}>
                {list.map((connection) => (
                  <Application key={connection._id} connection={connection} onDisconnect={() => remove(connection)} />
                ))}
              </ul>
              {list.every(({ own }) => own) && (
                <NoneYet title={list.length === 0 ? applicationTexts.none.title : applicationTexts.none.other} />
              )}
            </>
          )}
        </QueryView>
      </div>
    </Panel>
  )
}

/** How to connect the first app. Not every server is registered with Zapier. */
function NoneYet({ title }: { title: string }): ReactNode {
  const zapier = useApiQuery(zapierCalls.subscription)
  return (
    <div className={styles.hint}>
      <h3 className={styles.hintTitle}>{title}</h3>
      <p>{zapier.data?.available === false ? applicationTexts.none.unavailable : applicationTexts.none.text}</p>
    </div>
  )
}

function Application({ connection, onDisconnect }: { connection: Connection; onDisconnect: () => void }): ReactNode {
  const { name, own, paused, scopes, since, lastUsedAt } = connection
  const zone = useZone()
  const Icon = own ? IconSend2 : name === 'Zapier' ? IconBolt : IconApps
  const facts = [
    ...(own ? [applicationTexts.own] : []),
    applicationTexts.since(showDate(dateIn(zone, new Date(since)))),
    // Duely's own app has no further facts.
    ...(own
      ? []
      : [lastUsedAt === null ? texts.never : texts.used(showMoment(zone, new Date(lastUsedAt), new Date())), texts.scopes(scopes)]),
  ]
  return (
    <li className={styles.item}>
      <Icon size={22} stroke={1.6} aria-hidden className={styles.icon} />
      <div className={styles.what}>
        <div className={styles.name}>
          {name} {paused && <Pill tone="unpaid">{applicationTexts.paused}</Pill>}
        </div>
        <div className={styles.quiet}>{capitalized(facts.join(' · '))}</div>
        {paused && (
          <div className={styles.paused}>
            <p>{applicationTexts.pausedText}</p>
            <SubscribeButton />
          </div>
        )}
      </div>
      <Button variant="default" aria-label={applicationTexts.disconnectOne(name)} onClick={onDisconnect}>
        {applicationTexts.disconnect}
      </Button>
    </li>
  )
}

const webhookTexts = texts.webhooks

function Webhooks(): ReactNode {
  const webhooks = useWebhooks()
  const lack = useMissingApiAccess()
  const [adding, setAdding] = useState(false)
  return (
    <Panel
      title={webhookTexts.title}
      aside={
        !lack && (
          <Button variant="default" leftSection={<IconPlus size={18} aria-hidden />} onClick={() => setAdding(true)}>
            {webhookTexts.add}
          </Button>
        )
      }
    >
      <p className={styles.lead}>{webhookTexts.text}</p>
      <QueryView
        query={webhooks}
        loading={webhookTexts.loading}
        error={webhookTexts.failed}
        empty={<p className={styles.none}>{lack ? webhookTexts.lacking(lack.lifts.title) : webhookTexts.none}</p>}
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
    lastDeliveredAt === null ? webhookTexts.nothing : webhookTexts.delivered(showMoment(zone, new Date(lastDeliveredAt), new Date())),
    ...(failures > 0 ? [webhookTexts.failing(failures)] : []),
    ...(skipped > 0 ? [webhookTexts.skipped(skipped)] : []),
  ]
  return (
    <li className={styles.linked}>
      <Icon size={22} stroke={1.6} aria-hidden className={styles.icon} />
      <div className={styles.what}>
        <div className={styles.name}>
          <Link to={screens.webhook(_id)} className={styles.address} aria-label={webhookTexts.open(url)} title={url}>
            {url}
          </Link>
          {kind === 'zapier' && <Pill tone="quiet">{webhookTexts.by.zapier}</Pill>}
          <WebhookState webhook={webhook} />
        </div>
        <div className={styles.quiet}>{events.map((event) => texts.events.names[event]).join(', ')}</div>
        <div className={styles.quiet}>{capitalized(facts.join(' · '))}</div>
      </div>
      <IconChevronRight size={20} aria-hidden className={styles.icon} />
    </li>
  )
}
