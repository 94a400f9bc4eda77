import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { integrationCalls, type Webhook } from '#contract/integrations.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { capitalized, dateIn, showDate, showMoment } from '#web/ui/dates.ts'
import { FormError, Notice } from '#web/ui/notice.tsx'
import { FactList, Panel } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './connections.module.css'
import { HookState } from './hook-state.tsx'
import { SubscribeButton } from './subscribe-button.tsx'
import { texts } from './texts.ts'
import { useTestEvent } from './use-test-event.tsx'
import { useZone } from './use-zone.ts'
import { WebhookDialog } from './webhook-dialog.tsx'
import { WebhookRemoveDialog } from './webhook-remove-dialog.tsx'
import { WebhookSecretDialog } from './webhook-secret-dialog.tsx'

const words = texts.webhook

/** One webhook: what keeps it from being called, everything about it but its secret, and what can be done with it. */
export function WebhookCard({ webhook, onRemoved }: { webhook: Webhook; onRemoved: () => void }): ReactNode {
  const { _id, kind, pausedBecause, failures } = webhook
  const [open, setOpen] = useState<'none' | 'change' | 'secret' | 'remove'>('none')
  const close = () => setOpen('none')
  const test = useTestEvent(_id)
  const change = useApiMutation(integrationCalls.changeWebhook, {
    invalidates: [integrationCalls.webhooks, integrationCalls.webhookDeliveries],
    onSuccess: (_reply, { body }) => toast('good', body.paused ? words.pauseDone : words.resumed),
  })
  const own = kind === 'webhook'
  const paused = pausedBecause !== null
  return (
    <>
      {pausedBecause !== null && (
        <Notice
          tone={pausedBecause === 'failing' ? 'bad' : 'warn'}
          title={words.paused[pausedBecause].title}
          action={pausedBecause === 'zapier_unsubscribed' ? <SubscribeButton /> : undefined}
        >
          {words.paused[pausedBecause].text}
        </Notice>
      )}
      {!paused && failures > 0 && <Notice tone="warn">{words.failing(failures)}</Notice>}
      <Panel>
        <Facts webhook={webhook} />
        {!own && <p className={styles.small}>{words.zapier}</p>}
        <div className={styles.actions}>
          {test.button}
          {own && (
            <Button variant="default" onClick={() => setOpen('change')}>
              {words.change}
            </Button>
          )}
          {pausedBecause !== 'zapier_unsubscribed' && (
            <BusyButton
              variant="default"
              busy={change.isPending}
              busyText={paused ? words.resuming : words.pausing}
              onClick={() => change.mutate({ params: { id: _id }, body: { paused: !paused } })}
            >
              {paused ? words.resume : words.pause}
            </BusyButton>
          )}
          {own && (
            <Button variant="default" onClick={() => setOpen('secret')}>
              {words.replace.open}
            </Button>
          )}
          <Button variant="default" className={styles.danger ?? ''} onClick={() => setOpen('remove')}>
            {words.remove.open}
          </Button>
        </div>
        <FormError message={change.isError ? words.changeFailed(errorMessage(change.error)) : null} />
        {test.outcome}
      </Panel>
      <WebhookDialog opened={open === 'change'} webhook={webhook} onClose={close} />
      <WebhookSecretDialog opened={open === 'secret'} id={_id} onClose={close} />
      <WebhookRemoveDialog opened={open === 'remove'} webhook={webhook} onRemoved={onRemoved} onClose={close} />
    </>
  )
}

function Facts({ webhook }: { webhook: Webhook }): ReactNode {
  const { url, events, createdAt, lastDeliveredAt } = webhook
  const zone = useZone()
  return (
    <FactList stacks>
      <dt>{words.address}</dt>
      <dd>
        <span className={styles.url} title={url}>
          {url}
        </span>
      </dd>
      <dt>{words.state}</dt>
      <dd>
        <HookState webhook={webhook} />
      </dd>
      <dt>{words.events}</dt>
      <dd>{events.map((event) => texts.events.names[event]).join(', ')}</dd>
      <dt>{words.added}</dt>
      <dd data-quiet>{showDate(dateIn(zone, new Date(createdAt)))}</dd>
      <dt>{words.last}</dt>
      <dd data-quiet>{lastDeliveredAt === null ? words.never : capitalized(showMoment(zone, new Date(lastDeliveredAt), new Date()))}</dd>
    </FactList>
  )
}
