import type { ReactNode } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { PasswordField } from '#web/ui/fields.tsx'
import { toast } from '#web/ui/toast.tsx'
import { newPasswordProblems } from './new-password.ts'
import { PasswordHint } from './password-hint.tsx'
import styles from './profile.module.css'
import { brief } from './profile-toast.tsx'
import { texts } from './texts.ts'
import { useServer } from './use-server.ts'

const words = texts.profile.password

/** A new password, typed twice, with the one that counts now. */
export function PasswordForm({ email }: { email: string }): ReactNode {
  const shortest = useServer()?.passwordMinLength ?? 6
  const state = useContractForm({
    call: accountCalls.changePassword,
    initialValues: { currentPassword: '', newPassword: '', confirmPassword: '' },
    toInput: ({ currentPassword, newPassword }) => ({ body: { currentPassword, newPassword } }),
    check: (values) => newPasswordProblems(values, shortest),
    invalidates: [accountCalls.sessions, accountCalls.audit],
    onSuccess: () => {
      state.reset()
      toast('good', words.done)
    },
    onError: (error) => toast('bad', brief(words.failed(errorMessage(error)))),
  })
  const { form } = state
  return (
    <ContractForm state={state} submit={words.submit} busy={words.busy}>
      <div className={styles.column}>
        {/* Tells a password manager whose password this is. */}
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <PasswordField label={words.current} autoComplete="current-password" required {...form.getInputProps('currentPassword')} />
        <div>
          <PasswordField
            label={words.next}
            description={words.nextHint(shortest)}
            autoComplete="new-password"
            required
            {...form.getInputProps('newPassword')}
          />
          <PasswordHint password={form.getValues().newPassword} />
        </div>
        <PasswordField label={words.again} autoComplete="new-password" required {...form.getInputProps('confirmPassword')} />
      </div>
      <p className={styles.note}>{words.others}</p>
    </ContractForm>
  )
}
