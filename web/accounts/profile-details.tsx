import { TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { accountCalls, type Profile } from '#contract/accounts.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { keepUser } from '#web/platform/session.ts'
import { PasswordField } from '#web/ui/fields.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { Panel } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import { EmailNotice } from './email-notice.tsx'
import styles from './profile.module.css'
import { brief } from './profile-toast.tsx'
import { texts } from './texts.ts'

const words = texts.profile.details

/** Name and email. A new email asks for the current password; where Google vouches for it, it is not changed here. */
export function ProfileDetails({ profile }: { profile: Profile }): ReactNode {
  const byGoogle = profile.googleId !== undefined
  const changesEmail = (email: string) => !byGoogle && email.trim() !== profile.email
  const state = useContractForm({
    call: accountCalls.changeProfile,
    initialValues: { displayName: profile.displayName, email: profile.email, currentPassword: '' },
    toInput: ({ displayName, email, currentPassword }) => ({
      body: { displayName, ...(changesEmail(email) ? { email, currentPassword } : {}) },
    }),
    check: ({ email, currentPassword }) => (changesEmail(email) && currentPassword === '' ? { currentPassword: words.currentMissing } : {}),
    invalidates: [accountCalls.profile],
    onSuccess: ({ _id, displayName, email, googleId, pendingEmail }, sent) => {
      keepUser({ _id, displayName, email, ...(googleId === undefined ? {} : { googleId }) })
      form.setValues({ displayName, email, currentPassword: '' })
      toast('good', changesEmail(sent.email) && pendingEmail !== null ? words.almost : texts.profile.saved)
    },
    onError: (error) => toast('bad', brief(texts.profile.failed(errorMessage(error)))),
  })
  const { form } = state
  return (
    <Panel title={words.title}>
      {profile.pendingEmail !== null ? (
        <Notice tone="info">{words.pending(profile.pendingEmail)}</Notice>
      ) : (
        <EmailNotice profile={profile} />
      )}
      <ContractForm state={state} submit={texts.profile.save} busy={texts.profile.saving}>
        <div className={styles.fields}>
          <TextInput label={words.name} description={words.nameHint} autoComplete="name" required {...form.getInputProps('displayName')} />
          {byGoogle ? (
            <p className={styles.beside}>{words.google(profile.email)}</p>
          ) : (
            <TextInput
              label={words.email}
              description={words.emailHint}
              type="email"
              autoComplete="username"
              required
              {...form.getInputProps('email')}
            />
          )}
          {changesEmail(form.getValues().email) && (
            <PasswordField
              label={words.current}
              description={words.currentHint}
              autoComplete="current-password"
              required
              {...form.getInputProps('currentPassword')}
            />
          )}
        </div>
      </ContractForm>
    </Panel>
  )
}
