import { Button, Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { keepUser } from '#web/platform/session.ts'
import { PasswordField } from '#web/ui/fields.tsx'
import { toast } from '#web/ui/toast.tsx'
import { typedTwice } from './new-password.ts'
import { PasswordHint } from './password-hint.tsx'
import styles from './profile.module.css'
import { texts } from './texts.ts'
import { useServer } from './use-server.ts'

const words = texts.security.google.unlink

/** Google has said again who this is: the password that takes its place. */
export function GoogleUnlinkDialog({ code, email, onClose }: { code: string; email: string; onClose: () => void }): ReactNode {
  const shortest = useServer()?.passwordMinLength ?? 6
  const state = useContractForm({
    call: accountCalls.unlinkGoogle,
    initialValues: { newPassword: '', confirmPassword: '' },
    toInput: ({ newPassword }) => ({ body: { code, newPassword } }),
    check: (values) => typedTwice(values, shortest),
    invalidates: [accountCalls.profile, accountCalls.sessions, accountCalls.audit],
    onSuccess: (changed) => {
      keepUser({ _id: changed._id, displayName: changed.displayName, email: changed.email })
      toast('good', words.done)
      onClose()
    },
  })
  const { form } = state
  return (
    <Modal
      opened
      onClose={state.busy ? () => undefined : onClose}
      title={words.choose}
      centered
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': texts.security.close, size: 44, iconSize: 18 }}
    >
      <ContractForm
        state={state}
        submit={words.submit}
        busy={words.busy}
        actions={
          <Button variant="default" onClick={onClose}>
            {texts.security.cancel}
          </Button>
        }
      >
        <div className={styles.column}>
          <p className={styles.flush}>{words.chooseText}</p>
          <input type="email" autoComplete="username" value={email} readOnly hidden />
          <div>
            <PasswordField
              label={texts.profile.password.next}
              description={texts.profile.password.nextHint(shortest)}
              autoComplete="new-password"
              required
              data-autofocus
              {...form.getInputProps('newPassword')}
            />
            <PasswordHint password={form.getValues().newPassword} />
          </div>
          <PasswordField
            label={texts.profile.password.again}
            autoComplete="new-password"
            required
            {...form.getInputProps('confirmPassword')}
          />
        </div>
      </ContractForm>
    </Modal>
  )
}
