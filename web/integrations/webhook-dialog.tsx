import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import { Button, Checkbox, Group, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { integrationCalls, type Webhook, type WebhookEvent, webhookEvent } from '#contract/integrations.ts'
import { ContractForm, type ContractFormState, useContractForm } from '#web/platform/contract-form.tsx'
import { noProof, ProofField, type ProofValues, proofIn, useProof } from '#web/platform/proof.tsx'
import { invalidate } from '#web/platform/query.ts'
import { CopyButton } from '#web/ui/buttons.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { toast } from '#web/ui/toast.tsx'
import { useArrivalFocus } from './connection-parts.tsx'
import styles from './connections.module.css'
import { texts } from './texts.ts'

const t = texts.webhooks

interface WebhookDialogProps {
  opened: boolean
  /** null adds a webhook. */
  webhook: Webhook | null
  onClose: () => void
}

/** Adds or changes a webhook; shows the secret of a new one. */
export function WebhookDialog({ opened, webhook, onClose }: WebhookDialogProps): ReactNode {
  const [busy, setBusy] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const title = secret !== null ? t.secret.title : webhook ? t.dialog.change : t.dialog.title
  // A secret is shown once: a click outside the dialog must not lose it.
  const stays = secret !== null
  return (
    <Dialog
      opened={opened}
      onClose={busy ? () => undefined : onClose}
      onExitTransitionEnd={() => setSecret(null)}
      title={title}
      size={520}
      closeOnClickOutside={!stays}
      closeOnEscape={!stays}
      withCloseButton={!stays}
    >
      {secret === null ? (
        <WebhookForm webhook={webhook} onBusy={setBusy} onSecret={setSecret} onClose={onClose} />
      ) : (
        <SecretOnce secret={secret} onClose={onClose} />
      )}
    </Dialog>
  )
}

const formTexts = texts.webhooks.dialog

type WebhookValues = ProofValues & { url: string; events: WebhookEvent[] }

interface WebhookFormProps {
  webhook: Webhook | null
  /** The dialog must stay open while this is true. */
  onBusy: (busy: boolean) => void
  onSecret: (secret: string) => void
  onClose: () => void
}

function WebhookForm(props: WebhookFormProps): ReactNode {
  return props.webhook ? <ChangeForm {...props} webhook={props.webhook} /> : <AddForm {...props} />
}

function AddForm({ onBusy, onSecret, onClose }: WebhookFormProps): ReactNode {
  const queries = useQueryClient()
  const proof = useProof()
  const state = useContractForm({
    call: integrationCalls.addWebhook,
    initialValues: { url: '', events: [...webhookEvent.options], ...noProof } as WebhookValues,
    toInput: ({ url, events, ...given }) => ({ body: { url: url.trim(), events, ...proofIn(proof, given) } }),
    onSuccess: ({ secret }) => {
      onSecret(secret)
      // After the secret is on screen: the list may wait, it must not.
      void invalidate(queries, [integrationCalls.webhooks])
    },
  })
  return <Shared state={state} proof={proof} submit={formTexts.submit} busy={formTexts.busy} onBusy={onBusy} onClose={onClose} />
}

function ChangeForm({ webhook, onBusy, onSecret, onClose }: WebhookFormProps & { webhook: Webhook }): ReactNode {
  const proof = useProof()
  const isMoved = (url: string) => url.trim() !== webhook.url
  const state = useContractForm({
    call: integrationCalls.changeWebhook,
    initialValues: { url: webhook.url, events: webhook.events, ...noProof } as WebhookValues,
    toInput: ({ url, events, ...given }) => ({
      params: { id: webhook._id },
      body: { events, ...(isMoved(url) ? { url: url.trim(), ...proofIn(proof, given) } : {}) },
    }),
    invalidates: [integrationCalls.webhooks],
    update: (cache, changed) =>
      cache.update(integrationCalls.webhooks, (list) => list.map((one) => (one._id === changed._id ? changed : one))),
    onSuccess: ({ secret }) => {
      toast('good', formTexts.saved)
      // Another person knows that of before.
      if (secret !== undefined) onSecret(secret)
      else onClose()
    },
  })
  const asked = isMoved(state.form.values.url) ? proof : null
  return <Shared state={state} proof={asked} submit={formTexts.save} busy={formTexts.saving} onBusy={onBusy} onClose={onClose} />
}

interface SharedProps {
  state: ContractFormState<WebhookValues>
  proof: ReturnType<typeof useProof>
  submit: string
  busy: string
  onBusy: (busy: boolean) => void
  onClose: () => void
}

function Shared({ state, proof, submit, busy, onBusy, onClose }: SharedProps): ReactNode {
  const { form, busy: sending } = state
  useEffect(() => {
    onBusy(sending)
    return () => onBusy(false)
  }, [sending, onBusy])
  return (
    <ContractForm
      state={state}
      submit={submit}
      busy={busy}
      actions={
        <Button variant="default" onClick={onClose} disabled={sending}>
          {texts.cancel}
        </Button>
      }
    >
      <div className={styles.fields}>
        <TextInput
          label={formTexts.url}
          description={formTexts.urlHint}
          placeholder={formTexts.urlPlaceholder}
          type="url"
          inputMode="url"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          required
          data-autofocus
          {...form.getInputProps('url')}
        />
        <Checkbox.Group
          label={texts.events.label}
          description={texts.events.hint}
          classNames={{ label: styles.label ?? '', description: styles.description ?? '', error: styles.error ?? '' }}
          {...form.getInputProps('events')}
        >
          {webhookEvent.options.map((event) => (
            <Checkbox
              key={event}
              className={styles.choice ?? ''}
              classNames={{ description: styles.says ?? '' }}
              value={event}
              label={texts.events.names[event]}
              description={texts.events.says[event]}
            />
          ))}
        </Checkbox.Group>
        <ProofField proof={proof} hint={formTexts.proofHint} of={(field) => form.getInputProps(field)} />
      </div>
    </ContractForm>
  )
}

const secretTexts = texts.webhooks.secret

export function SecretOnce({ secret, onClose }: { secret: string; onClose: () => void }): ReactNode {
  const arrived = useArrivalFocus<HTMLParagraphElement>()
  return (
    <>
      <p ref={arrived} tabIndex={-1} className={styles.arrived}>
        {secretTexts.text}
      </p>
      <div className={styles.secret}>
        <code>{secret}</code>
        <CopyButton text={secret} what={secretTexts.label} />
      </div>
      <p className={styles.small}>
        {secretTexts.check} {secretTexts.how}
      </p>
      <Group justify="flex-end" mt={24}>
        <Button onClick={onClose}>{secretTexts.kept}</Button>
      </Group>
    </>
  )
}
