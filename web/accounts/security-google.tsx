import { Button, Modal, Stack, TextInput } from '@mantine/core'
import { IconBrandGoogle } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { accountCalls, type Profile } from '#contract/accounts.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import { PasswordField } from '#web/ui/fields.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { Panel, Pill } from '#web/ui/panel.tsx'
import styles from './profile.module.css'
import { texts } from './texts.ts'

const words = texts.security.google

/** Whether one signs in with Google, and the way there. */
export function SecurityGoogle({ profile }: { profile: Profile }): ReactNode {
  const [asking, setAsking] = useState(false)
  const start = useApiMutation(accountCalls.startGoogleUnlink, { onSuccess: ({ url }) => window.location.assign(url) })
  if (profile.googleId !== undefined)
    return (
      <Panel title={words.title} aside={<Pill tone="paid">{words.linked}</Pill>}>
        <p className={styles.text}>{words.linkedText}</p>
        <Button variant="default" onClick={() => setAsking(true)}>
          {words.unlink.open}
        </Button>
        <ConfirmDialog
          opened={asking}
          title={words.unlink.dialog}
          confirm={words.go}
          confirmBusy={words.goBusy}
          busy={start.isPending || start.isSuccess}
          tone="plain"
          onConfirm={() => start.mutate({})}
          onCancel={() => {
            start.reset()
            setAsking(false)
          }}
        >
          <p className={styles.flush}>{words.unlink.consequence}</p>
          <FormError message={start.isError ? errorMessage(start.error) : null} />
        </ConfirmDialog>
      </Panel>
    )
  return (
    <Panel title={words.title} aside={<Pill tone="quiet">{words.notLinked}</Pill>}>
      <p className={styles.text}>{words.text}</p>
      <Button variant="default" leftSection={<IconBrandGoogle size={18} aria-hidden />} onClick={() => setAsking(true)}>
        {words.open}
      </Button>
      <Modal
        opened={asking}
        onClose={() => setAsking(false)}
        title={words.dialog}
        centered
        closeButtonProps={{ 'aria-label': texts.security.close, size: 44, iconSize: 18 }}
      >
        <LinkForm profile={profile} onCancel={() => setAsking(false)} />
      </Modal>
    </Panel>
  )
}

function LinkForm({ profile, onCancel }: { profile: Profile; onCancel: () => void }): ReactNode {
  const asksForCode = profile.twoFactor !== null
  const state = useContractForm({
    call: accountCalls.startGoogleLink,
    initialValues: { currentPassword: '', code: '' },
    toInput: ({ currentPassword, code }) => ({ body: { currentPassword, ...(asksForCode ? { code } : {}) } }),
    check: ({ currentPassword }) => (currentPassword === '' ? { currentPassword: texts.profile.password.currentMissing } : {}),
    onSuccess: ({ url }) => {
      window.location.assign(url)
      // Busy until Google's page is there.
      return new Promise(() => undefined)
    },
  })
  return (
    <ContractForm
      state={state}
      submit={words.go}
      busy={words.goBusy}
      actions={
        <Button variant="default" onClick={onCancel}>
          {texts.security.cancel}
        </Button>
      }
    >
      <Stack gap={16}>
        <p className={styles.flush}>{words.consequence}</p>
        <input type="email" autoComplete="username" value={profile.email} readOnly hidden />
        <PasswordField
          label={texts.profile.password.current}
          autoComplete="current-password"
          required
          data-autofocus
          {...state.form.getInputProps('currentPassword')}
        />
        {asksForCode && (
          <TextInput
            label={texts.security.twoFactor.proof.code}
            description={texts.security.twoFactor.proof.hint}
            autoComplete="one-time-code"
            spellCheck={false}
            required
            {...state.form.getInputProps('code')}
          />
        )}
      </Stack>
    </ContractForm>
  )
}
