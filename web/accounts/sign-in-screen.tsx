import { Stack, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link, useLocation } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { screens } from '#contract/screens.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { Problem } from '#web/platform/problem.ts'
import { arriveAt } from '#web/platform/session.ts'
import { PasswordField } from '#web/ui/fields.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { destination } from './destination.ts'
import styles from './entry-page.module.css'
import { EntryPage } from './entry-page.tsx'
import { GoogleReturn } from './google-return.tsx'
import { SecondFactorStep } from './second-factor-step.tsx'
import { texts } from './texts.ts'
import { useServer } from './use-server.ts'

const words = texts.signIn

/** /signin: email and password, and for accounts that have one the second factor. */
export default function SignInScreen(): ReactNode {
  const { state: from } = useLocation()
  const server = useServer()
  const [step, setStep] = useState<'password' | 'code'>('password')
  /** What the last try was answered with is no longer shown. */
  const [quiet, setQuiet] = useState(false)
  const state = useContractForm({
    call: accountCalls.signIn,
    initialValues: { email: '', password: '', code: '' },
    toInput: ({ email, password, code }) => ({ body: { email, password, ...(step === 'code' ? { code } : {}) } }),
    check: ({ code }) => (step === 'code' && code.trim() === '' ? { code: words.factor.missing } : {}),
    onSuccess: ({ foundUser, accessToken }) => {
      arriveAt(destination(from), { user: foundUser, accessToken })
      // Busy until the new page is there.
      return new Promise(() => undefined)
    },
    onError: (error) => {
      const asks = error instanceof Problem && error.code === 'second_factor_needed'
      // That a code is asked for is the next step, nothing that went wrong.
      setQuiet(asks)
      if (asks) setStep('code')
      // A code counts once: the same one is not right the next time either.
      else if (step === 'code') {
        form.setFieldValue('code', '')
        const wrong = error instanceof Problem && error.errors.find(({ path }) => path === 'code')
        if (wrong) form.setFieldError('code', wrong.message)
      }
    },
  })
  const { form } = state
  const shown = { ...state, problem: quiet ? null : state.problem }
  const back = () => {
    state.reset()
    setStep('password')
  }
  return (
    <EntryPage
      words={step === 'code' ? { ...words, title: words.factor.title } : words}
      otherPage={screens.signUp}
      choice={step === 'password'}
    >
      {step === 'password' && wasSignedOut(from) && <Notice tone="info">{words.signedOut}</Notice>}
      {step === 'password' && <GoogleReturn />}
      <ContractForm state={shown} submit={words.submit} busy={words.busy} wide>
        {step === 'code' ? (
          <SecondFactorStep
            email={form.getValues().email}
            field={form.getInputProps('code')}
            onOther={() => {
              form.setFieldValue('code', '')
              setQuiet(true)
            }}
            onBack={back}
          />
        ) : (
          <Stack gap={16}>
            <TextInput label={words.email} type="email" autoComplete="username" required {...form.getInputProps('email')} />
            <PasswordField label={words.password} autoComplete="current-password" required {...form.getInputProps('password')} />
            {server?.systemMail && (
              <Link to={screens.forgotPassword} state={from} className={`${styles.aside} ${styles.under}`}>
                {words.forgot}
              </Link>
            )}
          </Stack>
        )}
      </ContractForm>
      {step === 'password' && state.problem !== null && server?.systemMail === false && <p className={styles.fine}>{words.forgotNoMail}</p>}
    </EntryPage>
  )
}

/** Whether the session of this browser ended while a screen of the dashboard was open. */
function wasSignedOut(state: unknown): boolean {
  return typeof state === 'object' && state !== null && 'signedOut' in state && state.signedOut === true
}
