import { TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { accountCalls, type Profile } from '#contract/accounts.ts'
import { texts } from '#web/accounts/texts.ts'
import { ConfirmEmailNotice } from '#web/platform/account.tsx'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { storeUser } from '#web/platform/session.ts'
import { PasswordField } from '#web/ui/fields.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { Panel } from '#web/ui/panel.tsx'
import { brief, toast } from '#web/ui/toast.tsx'
import styles from './profile.module.css'

const detailTexts = texts.profile.details

/** Name and email. A new email asks for the current password; an account linked to Google cannot change it. */
export function ProfileDetails({ profile }: { profile: Profile }): ReactNode {
  const byGoogle = profile.googleId !== undefined
  const changesEmail = (email: string) => !byGoogle && email.trim() !== profile.email
  const state = useContractForm({
    call: accountCalls.changeProfile,
    initialValues: { displayName: profile.displayName, email: profile.email, currentPassword: '' },
    toInput: ({ displayName, email, currentPassword }) => ({
      body: { displayName, ...(changesEmail(email) ? { email, currentPassword } : {}) },
    }),
    check: ({ email, currentPassword }) =>
      changesEmail(email) && currentPassword === '' ? { currentPassword: detailTexts.currentMissing } : {},
    invalidates: [accountCalls.profile],
    update: (cache, changed) => cache.write(accountCalls.profile, changed),
    onSuccess: ({ _id, displayName, email, googleId, pendingEmail }, sent) => {
      storeUser({ _id, displayName, email, ...(googleId === undefined ? {} : { googleId }) })
      form.setValues({ displayName, email, currentPassword: '' })
      toast('good', changesEmail(sent.email) && pendingEmail !== null ? detailTexts.almost : texts.profile.saved)
    },
    onError: (error) => toast('bad', brief(texts.profile.failed(errorMessage(error)))),
  })
  const { form } = state
  return (
    <Panel title={detailTexts.title}>
      {profile.pendingEmail !== null ? <Notice tone="info">{detailTexts.pending(profile.pendingEmail)}</Notice> : <ConfirmEmailNotice />}
      <ContractForm state={state} submit={texts.profile.save} busy={texts.profile.saving}>
        <div className={styles.fields}>
          <TextInput
            label={detailTexts.name}
            description={detailTexts.nameHint}
            autoComplete="name"
            required
            {...form.getInputProps('displayName')}
          />
          {byGoogle ? (
            <p className={styles.beside}>{detailTexts.google(profile.email)}</p>
          ) : (
            <TextInput
              label={detailTexts.email}
              description={detailTexts.emailHint}
              type="email"
              autoComplete="username"
              required
              {...form.getInputProps('email')}
            />
          )}
          {changesEmail(form.getValues().email) && (
            <PasswordField
              label={detailTexts.current}
              description={detailTexts.currentHint}
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
