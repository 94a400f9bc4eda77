import { Button, Group, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { isTestKey, type PaymentSettings, paymentSettingsCalls, type RazorpayConnected } from '#contract/payment-settings.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { noProof, ProofField, proofIn, useProof } from '#web/platform/proof.tsx'
import { invalidate, useApiMutation } from '#web/platform/query.ts'
import { BusyButton, CopyButton, openLater } from '#web/ui/buttons.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { PasswordField } from '#web/ui/fields.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './pay.module.css'
import { texts } from './texts.ts'

const t = texts.razorpay

interface RazorpayDialogProps {
  opened: boolean
  connection: PaymentSettings['razorpay']
  onClose: () => void
}

/** Connects Razorpay, or other keys, or disconnects it; shows the webhook's secret once. */
export function RazorpayDialog({ opened, connection, onClose }: RazorpayDialogProps): ReactNode {
  const [made, setMade] = useState<RazorpayConnected | null>(null)
  const [removing, setRemoving] = useState(false)
  // The secret is shown once: a click outside the dialog must not lose it.
  const stays = made !== null
  return (
    <Dialog
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={() => {
        setMade(null)
        setRemoving(false)
      }}
      title={made ? t.webhook : connection === null ? t.connect : removing ? t.disconnect : t.change}
      size={520}
      closeOnClickOutside={!stays}
      closeOnEscape={!stays}
      withCloseButton={!stays}
    >
      {made ? (
        <Webhook made={made} onClose={onClose} />
      ) : removing ? (
        <Disconnect onDone={onClose} onBack={() => setRemoving(false)} />
      ) : (
        <Keys connection={connection} onMade={setMade} onRemove={() => setRemoving(true)} onClose={onClose} />
      )}
    </Dialog>
  )
}

interface KeysProps {
  connection: PaymentSettings['razorpay']
  onMade: (made: RazorpayConnected) => void
  onRemove: () => void
  onClose: () => void
}

function Keys({ connection, onMade, onRemove, onClose }: KeysProps): ReactNode {
  const queries = useQueryClient()
  const proof = useProof()
  const state = useContractForm({
    call: paymentSettingsCalls.connectRazorpay,
    initialValues: { keyId: connection?.keyId ?? '', keySecret: '', ...noProof },
    toInput: ({ currentPassword, code, ...keys }) => ({ body: { ...keys, ...proofIn(proof, { currentPassword, code }) } }),
    onSuccess: (made) => {
      onMade(made)
      // After the secret is on screen: the card may wait, it must not.
      void invalidate(queries, [paymentSettingsCalls.read])
    },
  })
  const { form } = state
  return (
    <ContractForm
      state={state}
      submit={t.save}
      busy={t.saving}
      actions={
        <>
          {connection !== null && (
            <Button variant="default" onClick={onRemove}>
              {t.disconnect}
            </Button>
          )}
          <Button variant="default" onClick={onClose}>
            {texts.cancel}
          </Button>
        </>
      }
    >
      <div className={styles.fields}>
        <p className={styles.hint}>{t.where}</p>
        <TextInput
          label={t.keyId}
          placeholder={t.keyIdExample}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          required
          data-autofocus
          {...form.getInputProps('keyId')}
        />
        <PasswordField label={t.keySecret} description={t.keySecretHint} autoComplete="off" required {...form.getInputProps('keySecret')} />
        <ProofField proof={proof} hint={texts.proofHint} of={(field) => form.getInputProps(field)} />
      </div>
    </ContractForm>
  )
}

function Webhook({ made, onClose }: { made: RazorpayConnected; onClose: () => void }): ReactNode {
  const values = [
    [t.webhookUrl, made.webhookUrl],
    [t.webhookSecret, made.webhookSecret],
  ] as const
  return (
    <>
      <p className={styles.text}>{isTestKey(made.keyId) ? t.connectedTest : t.connected}</p>
      <p className={styles.text}>{t.webhookHow}</p>
      {values.map(([label, value]) => (
        <div key={label} className={styles.once}>
          <div className={styles.name}>{label}</div>
          <code>{value}</code>
          <CopyButton text={value} what={label} />
        </div>
      ))}
      <Group justify="flex-end" mt={24}>
        <Button onClick={onClose}>{t.kept}</Button>
      </Group>
    </>
  )
}

function Disconnect({ onDone, onBack }: { onDone: () => void; onBack: () => void }): ReactNode {
  const proof = useProof()
  const state = useContractForm({
    call: paymentSettingsCalls.disconnectRazorpay,
    initialValues: noProof,
    toInput: (values) => ({ body: proofIn(proof, values) }),
    update: (cache, reply) => cache.write(paymentSettingsCalls.read, reply),
    onSuccess: () => {
      toast('good', t.disconnected)
      onDone()
    },
  })
  return (
    <ContractForm
      state={state}
      submit={t.disconnect}
      busy={t.disconnecting}
      tone="danger"
      actions={
        <Button variant="default" onClick={onBack}>
          {texts.cancel}
        </Button>
      }
    >
      <p className={styles.text}>{t.disconnectText}</p>
      <ProofField proof={proof} hint={texts.proofHint} autofocus of={(field) => state.form.getInputProps(field)} />
    </ContractForm>
  )
}

/** Opens a payment link of the test mode in another tab. */
export function TryButton(): ReactNode {
  const start = useApiMutation(paymentSettingsCalls.tryRazorpay, {
    onError: (error) => toast('bad', errorMessage(error)),
  })
  return (
    <BusyButton
      variant="default"
      busy={start.isPending}
      busyText={t.trying}
      onClick={() => void openLater(async () => (await start.mutateAsync({})).url)}
    >
      {t.try}
    </BusyButton>
  )
}
