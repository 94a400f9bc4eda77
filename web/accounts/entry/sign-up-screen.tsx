import { Stack, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link, useLocation } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { screens } from '#contract/screens.ts'
import { PasswordHint } from '#web/accounts/new-password.tsx'
import { texts } from '#web/accounts/texts.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { pageMeta } from '#web/platform/page-meta.tsx'
import { send } from '#web/platform/send.ts'
import { startSessionAndOpen } from '#web/platform/session.ts'
import { PasswordField } from '#web/ui/fields.tsx'
import styles from './entry.module.css'
import { destination, EntryPage, wantedEmail } from './entry-page.tsx'

/** /signup: creates the account, then signs in. */
export default function SignUpScreen(): ReactNode {
  const { state: from } = useLocation()
  const [created, setCreated] = useState(false)
  const state = useContractForm({
    call: accountCalls.signUp,
    initialValues: { displayName: '', email: wantedEmail(from), password: '' },
    toInput: (values) => ({ body: { ...values, timezone: Intl.DateTimeFormat().resolvedOptions().timeZone } }),
    onSuccess: async (_reply, { email, password }) => {
      setCreated(true)
      try {
        const { foundUser, accessToken } = await send(accountCalls.signIn, { body: { email, password } })
        startSessionAndOpen(destination(from), { user: foundUser, accessToken })
      } catch (error) {
        setCreated(false)
        throw error
      }
      // Busy until the new page has loaded.
      return new Promise(() => undefined)
    },
  })
  const { form } = state
  return (
    <EntryPage texts={texts.signUp} otherPage={screens.signIn}>
      <ContractForm state={state} submit={texts.signUp.submit} busy={created ? texts.signUp.loggingIn : texts.signUp.creating} wide>
        <Stack gap={16}>
          <TextInput label={texts.signUp.name} autoComplete="name" required {...form.getInputProps('displayName')} />
          <TextInput label={texts.signUp.email} type="email" autoComplete="username" required {...form.getInputProps('email')} />
          <div>
            <PasswordField label={texts.signUp.password} autoComplete="new-password" required {...form.getInputProps('password')} />
            <PasswordHint password={form.getValues().password} />
          </div>
        </Stack>
      </ContractForm>
      <p className={styles.papers}>
        <Link to={screens.privacy}>{texts.signUp.privacy}</Link>
        <a href={pageMeta('terms')} target="_blank" rel="noopener noreferrer">
          {texts.signUp.terms}
        </a>
      </p>
    </EntryPage>
  )
}
