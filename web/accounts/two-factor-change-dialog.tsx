import { Button, Modal, Stack, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { PasswordField } from '#web/ui/fields.tsx'
import { toast } from '#web/ui/toast.tsx'
import { RecoveryCodes } from './recovery-codes.tsx'
import styles from './security.module.css'
import { texts } from './texts.ts'

const words = texts.security.twoFactor

interface ChangeProps {
  email: string
  onClose: () => void
}

/** New recovery codes, or the end of two-factor sign-in: either asks for the password and a code. */
export function TwoFactorChangeDialog({ what, email, onClose }: ChangeProps & { what: 'renew' | 'remove' }): ReactNode {
  const [codes, setCodes] = useState<string[] | null>(null)
  return (
    <Modal
      opened
      onClose={onClose}
      title={codes ? words.codes.title : words[what].title}
      centered
      size={500}
      closeOnClickOutside={codes === null}
      closeOnEscape={codes === null}
      withCloseButton={codes === null}
      closeButtonProps={{ 'aria-label': texts.security.close, size: 44, iconSize: 18 }}
    >
      {codes ? (
        <RecoveryCodes codes={codes} email={email} onClose={onClose} />
      ) : what === 'renew' ? (
        <Renew email={email} onClose={onClose} onCodes={setCodes} />
      ) : (
        <Remove email={email} onClose={onClose} />
      )}
    </Modal>
  )
}

const empty = { currentPassword: '', code: '' }
const check = ({ currentPassword }: typeof empty): Record<string, string> =>
  currentPassword === '' ? { currentPassword: texts.profile.password.currentMissing } : {}

function Renew({ email, onClose, onCodes }: ChangeProps & { onCodes: (codes: string[]) => void }): ReactNode {
  const state = useContractForm({
    call: accountCalls.renewRecoveryCodes,
    initialValues: empty,
    toInput: (body) => ({ body }),
    check,
    invalidates: [accountCalls.profile, accountCalls.audit],
    onSuccess: ({ recoveryCodes }) => onCodes(recoveryCodes),
  })
  return (
    <ContractForm state={state} submit={words.renew.submit} busy={words.renew.busy} actions={<Cancel onClose={onClose} />}>
      <Proof state={state} email={email} text={words.renew.text} />
    </ContractForm>
  )
}

function Remove({ email, onClose }: ChangeProps): ReactNode {
  const state = useContractForm({
    call: accountCalls.removeTwoFactor,
    initialValues: empty,
    toInput: (body) => ({ body }),
    check,
    invalidates: [accountCalls.profile, accountCalls.audit],
    onSuccess: () => {
      toast('good', words.remove.done)
      onClose()
    },
  })
  return (
    <ContractForm state={state} tone="danger" submit={words.remove.submit} busy={words.remove.busy} actions={<Cancel onClose={onClose} />}>
      <Proof state={state} email={email} text={words.remove.text} />
    </ContractForm>
  )
}

function Proof(props: {
  state: ReturnType<typeof useContractForm<typeof accountCalls.removeTwoFactor, typeof empty>>
  email: string
  text: string
}) {
  const { form } = props.state
  return (
    <Stack gap={16}>
      <p className={styles.flush}>{props.text}</p>
      <input type="email" autoComplete="username" value={props.email} readOnly hidden />
      <PasswordField
        label={texts.profile.password.current}
        autoComplete="current-password"
        required
        data-autofocus
        {...form.getInputProps('currentPassword')}
      />
      <TextInput
        label={words.proof.code}
        description={words.proof.hint}
        autoComplete="one-time-code"
        spellCheck={false}
        required
        {...form.getInputProps('code')}
      />
    </Stack>
  )
}

function Cancel({ onClose }: { onClose: () => void }): ReactNode {
  return (
    <Button variant="default" onClick={onClose}>
      {texts.security.cancel}
    </Button>
  )
}
