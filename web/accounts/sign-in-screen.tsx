import { Stack, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { useLocation } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { arriveAt } from '#web/platform/session.ts'
import { PasswordField } from '#web/ui/password-field.tsx'
import { destination } from './destination.ts'
import { EntryPage } from './entry-page.tsx'
import { GoogleReturn } from './google-return.tsx'
import { texts } from './texts.ts'

/** /signin */
export default function SignInScreen(): ReactNode {
  const { state: from } = useLocation()
  const state = useContractForm({
    call: accountCalls.signIn,
    initialValues: { email: '', password: '' },
    toInput: (body) => ({ body }),
    onDone: ({ foundUser, accessToken }) => {
      arriveAt(destination(from), { user: foundUser, accessToken })
      // Busy until the new page is there.
      return new Promise(() => undefined)
    },
  })
  const { form } = state
  return (
    <EntryPage words={texts.signIn} otherPage="/signup">
      <GoogleReturn />
      <ContractForm state={state} submit={texts.signIn.submit} busy={texts.signIn.busy} wide>
        <Stack gap={16}>
          <TextInput label={texts.signIn.email} type="email" autoComplete="username" required {...form.getInputProps('email')} />
          <PasswordField label={texts.signIn.password} autoComplete="current-password" required {...form.getInputProps('password')} />
        </Stack>
      </ContractForm>
    </EntryPage>
  )
}
