import { Button } from '@mantine/core'
import { IconApps, IconBolt, IconSend2 } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { type Connection, integrationCalls } from '#contract/integrations.ts'
import { zapierCalls } from '#contract/zapier.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { capitalized, dateIn, showDate, showMoment } from '#web/ui/dates.ts'
import { Panel, Pill } from '#web/ui/panel.tsx'
import styles from './connections.module.css'
import { useRemoval, useZapierChanges, useZone } from './hooks.ts'
import { SubscribeButton } from './list-parts.tsx'
import { texts } from './texts.ts'

const t = texts.applications

export function Applications(): ReactNode {
  const connections = useApiQuery(integrationCalls.connections)
  useZapierChanges()
  const { around, remove } = useRemoval<Connection>({
    call: integrationCalls.disconnect,
    invalidates: [integrationCalls.connections, integrationCalls.webhooks, zapierCalls.subscription],
    length: connections.data?.length,
    texts: {
      question: t.question,
      consequence: ({ own }) => (own ? t.ownConsequence : t.consequence),
      action: t.disconnect,
      busy: t.disconnecting,
      done: t.disconnected,
      failed: t.disconnectFailed,
    },
  })
  return (
    <Panel title={t.title}>
      <div ref={around} tabIndex={-1} className={styles.around}>
        <p className={styles.lead}>{t.text}</p>
        <QueryView query={connections} loading={t.loading} error={t.failed} empty={null}>
          {(list) => (
            <>
              <ul className={styles.list}>
                {list.map((connection) => (
                  <Application key={connection._id} connection={connection} onDisconnect={() => remove(connection)} />
                ))}
              </ul>
              {list.every(({ own }) => own) && <NoneYet title={list.length === 0 ? t.none.title : t.none.other} />}
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
      <p>{zapier.data?.available === false ? t.none.unavailable : t.none.text}</p>
    </div>
  )
}

function Application({ connection, onDisconnect }: { connection: Connection; onDisconnect: () => void }): ReactNode {
  const { name, own, paused, scopes, since, lastUsedAt } = connection
  const zone = useZone()
  const Icon = own ? IconSend2 : name === 'Zapier' ? IconBolt : IconApps
  const facts = [
    ...(own ? [t.own] : []),
    t.since(showDate(dateIn(zone, new Date(since)))),
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
          {name} {paused && <Pill tone="unpaid">{t.paused}</Pill>}
        </div>
        <div className={styles.quiet}>{capitalized(facts.join(' · '))}</div>
        {paused && (
          <div className={styles.paused}>
            <p>{t.pausedText}</p>
            <SubscribeButton />
          </div>
        )}
      </div>
      <Button variant="default" aria-label={t.disconnectOne(name)} onClick={onDisconnect}>
        {t.disconnect}
      </Button>
    </li>
  )
}
