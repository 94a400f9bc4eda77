import { Button, Modal, Stack, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { invalidate } from '#web/platform/query.ts'
import { CopyButton } from '#web/ui/buttons.tsx'
import { PasswordField } from '#web/ui/fields.tsx'
import { toast } from '#web/ui/toast.tsx'
import { QrCode } from './qr-code.tsx'
import { RecoveryCodes } from './recovery-codes.tsx'
import styles from './security.module.css'
import { texts } from './texts.ts'

const words = texts.security.twoFactor.setUp

type Step = { at: 'password' } | { at: 'code'; secret: string; uri: string } | { at: 'kept'; codes: string[] }

/** Setting two-factor sign-in up: the password, the authenticator, the recovery codes. */
export function TwoFactorSetUpDialog({ email, onClose }: { email: string; onClose: () => void }): ReactNode {
  const [step, setStep] = useState<Step>({ at: 'password' })
  const titles = { password: words.title, code: words.scan, kept: texts.security.twoFactor.codes.title }
  // The recovery codes are shown this once: a click beside the dialog must not lose them.
  const stays = step.at === 'kept'
  return (
    <Modal
      opened
      onClose={onClose}
      title={titles[step.at]}
      centered
      size={500}
      closeOnClickOutside={!stays}
      closeOnEscape={!stays}
      withCloseButton={!stays}
      closeButtonProps={{ 'aria-label': texts.security.close, size: 44, iconSize: 18 }}
    >
      {step.at === 'password' && <AskPassword email={email} onCancel={onClose} onStarted={(made) => setStep({ at: 'code', ...made })} />}
      {step.at === 'code' && (
        <AskCode secret={step.secret} uri={step.uri} onCancel={onClose} onConfirmed={(codes) => setStep({ at: 'kept', codes })} />
      )}
      {step.at === 'kept' && (
        <RecoveryCodes
          codes={step.codes}
          email={email}
          onClose={() => {
            // Not before: on a phone it would lie over the dialog.
            toast('good', words.done)
            onClose()
          }}
        />
      )}
    </Modal>
  )
}

function AskPassword(props: {
  email: string
  onCancel: () => void
  onStarted: (made: { secret: string; uri: string }) => void
}): ReactNode {
  const { email, onCancel, onStarted } = props
  const state = useContractForm({
    call: accountCalls.startTwoFactor,
    initialValues: { currentPassword: '' },
    toInput: (body) => ({ body }),
    check: ({ currentPassword }) => (currentPassword === '' ? { currentPassword: texts.profile.password.currentMissing } : {}),
    onSuccess: onStarted,
  })
  return (
    <ContractForm state={state} submit={words.next} busy={words.nextBusy} actions={<Cancel onCancel={onCancel} />}>
      <Stack gap={16}>
        <p className={styles.flush}>{words.text}</p>
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <PasswordField
          label={texts.profile.password.current}
          autoComplete="current-password"
          required
          data-autofocus
          {...state.form.getInputProps('currentPassword')}
        />
      </Stack>
    </ContractForm>
  )
}

function AskCode(props: { secret: string; uri: string; onCancel: () => void; onConfirmed: (codes: string[]) => void }): ReactNode {
  const { secret, uri, onCancel, onConfirmed } = props
  const queries = useQueryClient()
  const state = useContractForm({
    call: accountCalls.confirmTwoFactor,
    initialValues: { code: '' },
    toInput: (body) => ({ body }),
    onSuccess: ({ recoveryCodes }) => {
      onConfirmed(recoveryCodes)
      // After the codes are on the screen: the profile that it is on may wait, they may not.
      void invalidate(queries, [accountCalls.profile, accountCalls.audit])
    },
  })
  return (
    <ContractForm state={state} submit={words.confirm} busy={words.confirmBusy} actions={<Cancel onCancel={onCancel} />}>
      <Stack gap={16}>
        <p className={styles.flush}>{words.scanText}</p>
        <QrCode text={uri} label={words.picture} />
        <div>
          <p className={styles.small}>{words.byHand}</p>
          <div className={styles.secret}>
            <code>{secret.match(/.{1,4}/g)?.join(' ')}</code>
            <CopyButton text={secret} />
          </div>
        </div>
        <TextInput
          label={words.code}
          description={words.codeHint}
          autoComplete="one-time-code"
          inputMode="numeric"
          spellCheck={false}
          required
          {...state.form.getInputProps('code')}
        />
      </Stack>
    </ContractForm>
  )
}

function Cancel({ onCancel }: { onCancel: () => void }): ReactNode {
  return (
    <Button variant="default" onClick={onCancel}>
      {texts.security.cancel}
    </Button>
  )
}
