import { Button } from '@mantine/core'
import { IconArrowLeft, IconWebhookOff } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import { integrationCalls, type Webhook, type WebhookDelivery } from '#contract/integrations.ts'
import { screens } from '#contract/screens.ts'
import { Allowed } from '#web/platform/account.tsx'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { noProof, ProofField, proofIn, useProof } from '#web/platform/proof.tsx'
import { invalidate, useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { BusyButton } from '#web/ui/buttons.tsx'
import { confirm } from '#web/ui/confirm.tsx'
import { capitalized, dateIn, showComing, showDate, showMoment } from '#web/ui/dates.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { FormError, Notice } from '#web/ui/notice.tsx'
import { FactList, PageHeader, Panel, Pill, type PillTone } from '#web/ui/panel.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import { toast } from '#web/ui/toast.tsx'
import { ShowAll, SubscribeButton, useWebhooks, useZapierChanges, useZone, WebhookState } from './connection-parts.tsx'
import styles from './connections.module.css'
import { texts } from './texts.ts'
import { SecretOnce, WebhookDialog } from './webhook-dialog.tsx'

const t = texts.webhook

/** /dashboard/connections/webhooks/{id} */
export default function WebhookScreen(): ReactNode {
  const { id = '' } = useParams()
  const webhooks = useWebhooks()
  useZapierChanges()
  const found = webhooks.data?.find(({ _id }) => _id === id)
  return (
    <>
      <PageHeader
        title={found?.kind === 'zapier' ? t.zap : t.title}
        action={
          <Button component={Link} to={screens.connections} variant="default" leftSection={<IconArrowLeft size={18} aria-hidden />}>
            {t.back}
          </Button>
        }
      />
      <QueryView query={webhooks} loading={texts.webhooks.loading} error={texts.webhooks.failed} empty={null}>
        {() => <Found key={id} webhook={found} />}
      </QueryView>
    </>
  )
}

function Found({ webhook }: { webhook: Webhook | undefined }): ReactNode {
  // A webhook that was just removed stays on screen until the navigation.
  const [last, setLast] = useState(webhook)
  const [removed, setRemoved] = useState(false)
  if (webhook && webhook !== last) setLast(webhook)
  const shown = webhook ?? (removed ? last : undefined)
  if (!shown)
    return (
      <EmptyState
        icon={<IconWebhookOff />}
        title={t.gone.title}
        text={t.gone.text}
        action={
          <Button component={Link} to={screens.connections}>
            {t.gone.back}
          </Button>
        }
      />
    )
  return (
    <>
      <WebhookCard webhook={shown} onRemoved={() => setRemoved(true)} />
      {!removed && <DeliveryLog webhook={shown} />}
    </>
  )
}

function WebhookCard({ webhook, onRemoved }: { webhook: Webhook; onRemoved: () => void }): ReactNode {
  const { _id, kind, pausedBecause, failures, skipped, lastSkippedAt } = webhook
  const [changing, setChanging] = useState(false)
  const [replacing, setReplacing] = useState(false)
  const navigate = useNavigate()
  const queries = useQueryClient()
  const remove = useApiMutation(integrationCalls.removeWebhook, {
    onSuccess: () => {
      toast('good', t.remove.done)
      onRemoved()
      void invalidate(queries, [integrationCalls.webhooks])
      // Replaces this address, which no longer exists.
      void navigate(screens.connections, { replace: true })
    },
  })
  const askToRemove = () =>
    void confirm({
      title: t.remove.title,
      body: (
        <>
          <p className={styles.flush}>{t.remove.text}</p>
          {kind === 'zapier' && <p className={styles.small}>{t.remove.zap}</p>}
        </>
      ),
      tone: 'danger',
      action: t.remove.open,
      busy: t.remove.busy,
      failed: t.remove.failed,
      onConfirm: () => remove.mutateAsync({ params: { id: _id } }),
    })
  const unverified = pausedBecause === 'unverified'
  const test = useTestEvent(_id, unverified)
  const zone = useZone()
  const change = useApiMutation(integrationCalls.changeWebhook, {
    invalidates: [integrationCalls.webhooks, integrationCalls.webhookDeliveries],
    update: (cache, changed) =>
      cache.update(integrationCalls.webhooks, (list) => list.map((one) => (one._id === changed._id ? changed : one))),
    onSuccess: (_reply, { body }) => toast('good', body.paused ? t.pauseDone : t.resumed),
  })
  const own = kind === 'webhook'
  const paused = pausedBecause !== null && !unverified
  const handedOver = pausedBecause === 'handed_over'
  return (
    <>
      {pausedBecause !== null && (
        <Notice
          tone={pausedBecause === 'failing' ? 'bad' : 'warn'}
          title={t.paused[pausedBecause].title}
          action={pausedBecause === 'zapier_unsubscribed' ? <SubscribeButton /> : handedOver ? <OpenTeam /> : undefined}
        >
          {t.paused[pausedBecause].text}
        </Notice>
      )}
      {skipped > 0 && lastSkippedAt !== null && (
        <Notice tone="warn">{t.skipped(skipped, showMoment(zone, new Date(lastSkippedAt), new Date()))}</Notice>
      )}
      {!paused && failures > 0 && <Notice tone="warn">{t.failing(failures)}</Notice>}
      <Panel>
        <Facts webhook={webhook} />
        {!own && <p className={styles.small}>{t.zapier}</p>}
        <Allowed by="admin" says>
          <div className={styles.actions}>
            {!handedOver && test.button}
            {own && !handedOver && (
              <Button variant="default" onClick={() => setChanging(true)}>
                {t.change}
              </Button>
            )}
            {pausedBecause !== 'zapier_unsubscribed' && !handedOver && (
              <BusyButton
                variant="default"
                busy={change.isPending}
                busyText={paused ? t.resuming : t.pausing}
                onClick={() => change.mutate({ params: { id: _id }, body: { paused: !paused } })}
              >
                {paused ? t.resume : t.pause}
              </BusyButton>
            )}
            {own && !handedOver && (
              <Button variant="default" onClick={() => setReplacing(true)}>
                {t.replace.open}
              </Button>
            )}
            <Button variant="default" className={styles.danger ?? ''} onClick={askToRemove}>
              {t.remove.open}
            </Button>
          </div>
        </Allowed>
        <FormError message={change.isError ? t.changeFailed(errorMessage(change.error)) : null} />
        {test.outcome}
      </Panel>
      <WebhookDialog opened={changing} webhook={webhook} onClose={() => setChanging(false)} />
      <ReplaceSecret opened={replacing} id={_id} onClose={() => setReplacing(false)} />
    </>
  )
}

function OpenTeam(): ReactNode {
  return (
    <Button component={Link} to={screens.team} variant="default">
      {texts.openTeam}
    </Button>
  )
}

function Facts({ webhook }: { webhook: Webhook }): ReactNode {
  const { url, events, createdAt, lastDeliveredAt } = webhook
  const zone = useZone()
  return (
    <FactList stacks>
      <dt>{t.address}</dt>
      <dd>
        <span className={styles.url} title={url}>
          {url}
        </span>
      </dd>
      <dt>{t.state}</dt>
      <dd>
        <WebhookState webhook={webhook} />
      </dd>
      <dt>{t.events}</dt>
      <dd>{events.map((event) => texts.events.names[event]).join(', ')}</dd>
      <dt>{t.added}</dt>
      <dd data-quiet>{showDate(dateIn(zone, new Date(createdAt)))}</dd>
      <dt>{t.last}</dt>
      <dd data-quiet>{lastDeliveredAt === null ? t.never : capitalized(showMoment(zone, new Date(lastDeliveredAt), new Date()))}</dd>
    </FactList>
  )
}

/** Asks for the password, then shows the new secret once. */
function ReplaceSecret({ opened, id, onClose }: { opened: boolean; id: string; onClose: () => void }): ReactNode {
  const proof = useProof()
  const [secret, setSecret] = useState<string | null>(null)
  const state = useContractForm({
    call: integrationCalls.replaceSecret,
    initialValues: noProof,
    toInput: (given) => ({ params: { id }, body: proofIn(proof, given) }),
    onSuccess: (made) => setSecret(made.secret),
  })
  const stays = secret !== null
  return (
    <Dialog
      opened={opened}
      onClose={state.busy ? () => undefined : onClose}
      onExitTransitionEnd={() => {
        setSecret(null)
        state.reset()
      }}
      title={stays ? texts.webhooks.secret.title : t.replace.title}
      size={520}
      closeOnClickOutside={!stays}
      closeOnEscape={!stays}
      withCloseButton={!stays}
    >
      {stays ? (
        <SecretOnce secret={secret} onClose={onClose} />
      ) : (
        <ContractForm
          state={state}
          submit={t.replace.open}
          busy={t.replace.busy}
          tone="danger"
          actions={
            <Button variant="default" onClick={onClose} disabled={state.busy}>
              {texts.cancel}
            </Button>
          }
        >
          <div className={styles.fields}>
            <p className={styles.flush}>{t.replace.text}</p>
            <ProofField proof={proof} hint={t.replace.proofHint} autofocus of={(field) => state.form.getInputProps(field)} />
          </div>
        </ContractForm>
      )}
    </Dialog>
  )
}

/** A button that sends a test event, or the challenge to a URL that is not verified, and the receiver's answer. */
function useTestEvent(id: string, unverified: boolean): { button: ReactNode; outcome: ReactNode } {
  const send = useApiMutation(integrationCalls.testWebhook, {
    invalidates: [integrationCalls.webhookDeliveries, integrationCalls.webhooks],
  })
  const button = (
    <BusyButton
      variant="default"
      busy={send.isPending}
      busyText={unverified ? t.verifying : t.testing}
      onClick={() => send.mutate({ params: { id } })}
    >
      {unverified ? t.verify : t.test}
    </BusyButton>
  )
  const outcome = (
    <>
      {send.isSuccess && <Outcome delivery={send.data} />}
      <FormError message={send.isError ? t.testNotSent(errorMessage(send.error)) : null} />
    </>
  )
  return { button, outcome }
}

function Outcome({ delivery }: { delivery: WebhookDelivery }): ReactNode {
  const taken = delivery.state === 'delivered'
  const [good, bad] = delivery.event === 'challenge' ? [t.verified, t.notVerified] : [t.tested, t.testFailed]
  return (
    <div className={styles.outcome}>
      <Notice tone={taken ? 'good' : 'bad'} title={taken ? good : bad}>
        <ReceiverAnswer {...delivery} />
      </Notice>
    </div>
  )
}

const logTexts = texts.log
/** Milliseconds between refetches, while a delivery is pending and otherwise. */
const often = 3_000
const seldom = 20_000

const tones = { delivered: 'paid', waiting: 'unpaid', failed: 'overdue' } satisfies Record<WebhookDelivery['state'], PillTone>

function DeliveryLog({ webhook }: { webhook: Webhook }): ReactNode {
  const [moving, setMoving] = useState(false)
  const log = useApiQuery(integrationCalls.webhookDeliveries, { params: { id: webhook._id } }, { refetchInterval: moving ? often : seldom })
  const waits = log.data?.some(({ state, nextTryAt }) => state === 'waiting' && nextTryAt !== null) ?? false
  if (waits !== moving) setMoving(waits)
  return (
    <Panel title={logTexts.title}>
      <QueryView query={log} loading={logTexts.loading} error={logTexts.failed} empty={<p className={styles.none}>{logTexts.none}</p>}>
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
    onSuccess: (again) =>
      toast(again.state === 'delivered' ? 'good' : 'bad', again.state === 'delivered' ? logTexts.taken : logTexts.notTaken),
  })
  const name = event === 'test' || event === 'challenge' ? texts.events[event] : texts.events.names[event]
  const when = showMoment(zone, new Date(lastTriedAt ?? createdAt), now)
  const facts = [
    capitalized(when),
    ...(attempt > 0 ? [logTexts.attempts(attempt)] : []),
    ...(nextTryAt !== null ? [logTexts.next(showComing(zone, new Date(nextTryAt), now))] : []),
    ...(state === 'waiting' && nextTryAt === null && webhook.pausedBecause !== null ? [logTexts.held] : []),
  ]
  return (
    <li className={styles.entry}>
      <div className={styles.what}>
        <div className={styles.name}>
          {name} <Pill tone={tones[state]}>{state === 'waiting' && attempt > 0 ? logTexts.retrying : logTexts.states[state]}</Pill>
        </div>
        <div className={styles.when}>{facts.join(' · ')}</div>
        {attempt > 0 && (
          <p className={styles.said}>
            <ReceiverAnswer {...delivery} />
          </p>
        )}
        <div className={styles.id}>{logTexts.event(eventId)}</div>
        <FormError message={resend.isError ? logTexts.againFailed(errorMessage(resend.error)) : null} />
      </div>
      <Allowed by="admin">
        <BusyButton
          variant="default"
          busy={resend.isPending}
          busyText={logTexts.sending}
          aria-label={resend.isPending ? undefined : logTexts.againOne(name, when)}
          onClick={() => resend.mutate({ params: { id: webhook._id, deliveryId: _id } })}
        >
          {logTexts.again}
        </BusyButton>
      </Allowed>
    </li>
  )
}

/** The result of the last attempt: the receiver's own words, or a sentence of ours if it sent none. */
function ReceiverAnswer({ status, words: said }: Pick<WebhookDelivery, 'status' | 'words'>): ReactNode {
  if (status === null) return said
  // For a redirect Duely's own sentence explains what to do.
  if (status >= 300 && status < 400) return `${logTexts.answered(status)} ${said ?? ''}`
  if (said === null || said === '') return logTexts.saidNothing(status)
  return (
    <>
      {logTexts.said(status)} <q>{said}</q>
    </>
  )
}
