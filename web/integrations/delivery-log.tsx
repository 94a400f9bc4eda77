import { type ReactNode, useState } from 'react'
import { integrationCalls, type Webhook, type WebhookDelivery } from '#contract/integrations.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { BusyButton } from '#web/ui/buttons.tsx'
import { capitalized, showComing, showMoment } from '#web/ui/dates.ts'
import { FormError } from '#web/ui/notice.tsx'
import { Panel, Pill, type PillTone } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './connections.module.css'
import { useZone } from './hooks.ts'
import { ShowAll } from './list-parts.tsx'
import { texts } from './texts.ts'

const t = texts.log
/** Milliseconds between refetches, while a delivery is pending and otherwise. */
const often = 3_000
const seldom = 20_000

const tones = { delivered: 'paid', waiting: 'unpaid', failed: 'overdue' } satisfies Record<WebhookDelivery['state'], PillTone>

export function DeliveryLog({ webhook }: { webhook: Webhook }): ReactNode {
  const [moving, setMoving] = useState(false)
  const log = useApiQuery(integrationCalls.webhookDeliveries, { params: { id: webhook._id } }, { refetchInterval: moving ? often : seldom })
  const waits = log.data?.some(({ state, nextTryAt }) => state === 'waiting' && nextTryAt !== null) ?? false
  if (waits !== moving) setMoving(waits)
  return (
    <Panel title={t.title}>
      <QueryView query={log} loading={t.loading} error={t.failed} empty={<p className={styles.none}>{t.none}</p>}>
        {(list) => (
          <ShowAll list={list}>
            {(shown) => (
              <ul className={styles.list}>
                {shown.map((delivery) => (
                  <Entry key={delivery._id} delivery={delivery} webhook={webhook} />
                ))}
              </ul>
            )}
          </ShowAll>
        )}
      </QueryView>
    </Panel>
  )
}

function Entry({ delivery, webhook }: { delivery: WebhookDelivery; webhook: Webhook }): ReactNode {
  const { _id, event, eventId, state, attempt, createdAt, lastTriedAt, nextTryAt } = delivery
  const zone = useZone()
  const now = new Date()
  const resend = useApiMutation(integrationCalls.resend, {
    invalidates: [integrationCalls.webhookDeliveries, integrationCalls.webhooks],
    onSuccess: (again) => toast(again.state === 'delivered' ? 'good' : 'bad', again.state === 'delivered' ? t.taken : t.notTaken),
  })
  const name = event === 'test' || event === 'challenge' ? texts.events[event] : texts.events.names[event]
  const when = showMoment(zone, new Date(lastTriedAt ?? createdAt), now)
  const facts = [
    capitalized(when),
    ...(attempt > 0 ? [t.attempts(attempt)] : []),
    ...(nextTryAt !== null ? [t.next(showComing(zone, new Date(nextTryAt), now))] : []),
    ...(state === 'waiting' && nextTryAt === null && webhook.pausedBecause !== null ? [t.held] : []),
  ]
  return (
    <li className={styles.entry}>
      <div className={styles.what}>
        <div className={styles.name}>
          {name} <Pill tone={tones[state]}>{state === 'waiting' && attempt > 0 ? t.retrying : t.states[state]}</Pill>
        </div>
        <div className={styles.when}>{facts.join(' · ')}</div>
        {attempt > 0 && (
          <p className={styles.said}>
            <ReceiverAnswer {...delivery} />
          </p>
        )}
        <div className={styles.id}>{t.event(eventId)}</div>
        <FormError message={resend.isError ? t.againFailed(errorMessage(resend.error)) : null} />
      </div>
      <BusyButton
        variant="default"
        busy={resend.isPending}
        busyText={t.sending}
        aria-label={resend.isPending ? undefined : t.againOne(name, when)}
        onClick={() => resend.mutate({ params: { id: webhook._id, deliveryId: _id } })}
      >
        {t.again}
      </BusyButton>
    </li>
  )
}

/** The result of the last attempt: the receiver's own words, or a sentence of ours if it sent none. */
export function ReceiverAnswer({ status, words: said }: Pick<WebhookDelivery, 'status' | 'words'>): ReactNode {
  if (status === null) return said
  // For a redirect Duely's own sentence explains what to do.
  if (status >= 300 && status < 400) return `${t.answered(status)} ${said ?? ''}`
  if (said === null || said === '') return t.saidNothing(status)
  return (
    <>
      {t.said(status)} <q>{said}</q>
    </>
  )
}
