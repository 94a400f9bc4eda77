import { Stack, TextInput, type TextInputProps } from '@mantine/core'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link, useLocation, useSearchParams } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { screens } from '#contract/screens.ts'
import { texts } from '#web/accounts/texts.ts'
import { useServer } from '#web/platform/account.tsx'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { Problem } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { startSessionAndOpen } from '#web/platform/session.ts'
import { PasswordField } from '#web/ui/fields.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './entry.module.css'
import { destination, EntryPage, takeDestination, wantedEmail } from './entry-page.tsx'

const t = texts.signIn

/** /signin: email and password, then the second factor if there is one. */
export default function SignInScreen(): ReactNode {
  const { state: from } = useLocation()
  const server = useServer()
  const [step, setStep] = useState<'password' | 'code'>('password')
  /** Hides the last error. */
  const [quiet, setQuiet] = useState(false)
  const state = useContractForm({
    call: accountCalls.signIn,
    initialValues: { email: wantedEmail(from), password: '', code: '' },
    toInput: ({ email, password, code }) => ({ body: { email, password, ...(step === 'code' ? { code } : {}) } }),
    check: ({ code }) => (step === 'code' && code.trim() === '' ? { code: t.factor.missing } : {}),
    onSuccess: ({ foundUser, accessToken }) => {
      startSessionAndOpen(destination(from), { user: foundUser, accessToken })
      // Busy until the new page has loaded.
      return new Promise(() => undefined)
    },
    onError: (error) => {
      const asks = error instanceof Problem && error.code === 'second_factor_needed'
      // `second_factor_needed` is the next step, not an error.
      setQuiet(asks)
      if (asks) setStep('code')
      // A code can be used once, so the same one would fail again.
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
    <EntryPage texts={step === 'code' ? { ...t, title: t.factor.title } : t} otherPage={screens.signUp} choice={step === 'password'}>
      {step === 'password' && wasSignedOut(from) && <Notice tone="info">{t.signedOut}</Notice>}
      {step === 'password' && <GoogleReturn />}
      <ContractForm state={shown} submit={t.submit} busy={t.busy} wide>
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
            <TextInput label={t.email} type="email" autoComplete="username" required {...form.getInputProps('email')} />
            <PasswordField label={t.password} autoComplete="current-password" required {...form.getInputProps('password')} />
            {server?.systemMail && (
              <Link to={screens.forgotPassword} state={from} className={`${styles.aside} ${styles.under}`}>
                {t.forgot}
              </Link>
            )}
          </Stack>
        )}
      </ContractForm>
      {step === 'password' && state.problem !== null && server?.systemMail === false && <p className={styles.fine}>{t.forgotNoMail}</p>}
    </EntryPage>
  )
}

/** Whether the session ended while a dashboard screen was open. */
function wasSignedOut(state: unknown): boolean {
  return typeof state === 'object' && state !== null && 'signedOut' in state && state.signedOut === true
}

const factorTexts = texts.signIn.factor

interface SecondFactorStepProps {
  email: string
  field: Pick<TextInputProps, 'value' | 'error' | 'onChange'>
  /** The kind of code was switched: the value and its error no longer apply. */
  onOther: () => void
  onBack: () => void
}

/** The second step: an authenticator code or a recovery code. */
function SecondFactorStep({ email, field, onOther, onBack }: SecondFactorStepProps): ReactNode {
  const [kind, setKind] = useState<'totp' | 'recovery'>('totp')
  const { label, hint, other } = factorTexts[kind]
  return (
    <>
      <p className={styles.lead}>
        {factorTexts.whose} <strong>{email}</strong>
      </p>
      <TextInput
        key={kind}
        label={label}
        description={hint}
        autoComplete="one-time-code"
        autoCapitalize="characters"
        spellCheck={false}
        inputMode={kind === 'totp' ? 'numeric' : 'text'}
        autoFocus
        required
        {...field}
      />
      <div className={styles.asides}>
        <button
          type="button"
          className={styles.aside}
          onClick={() => {
            setKind(kind === 'totp' ? 'recovery' : 'totp')
            onOther()
          }}
        >
          {other}
        </button>
        <button type="button" className={styles.aside} onClick={onBack}>
          {factorTexts.back}
        </button>
      </div>
    </>
  )
}

/** Parameters of a former protocol. A token in the address is an attack (login CSRF): it is removed and refused. */
const legacy = ['success', 'name', 'provider', 'token', 'refresh', 'accessToken']

/** Handles the return from Google: exchanges the code for a session, and removes all parameters from the address. */
function GoogleReturn(): ReactNode {
  const [search, setSearch] = useSearchParams()
  const [problem, setProblem] = useState<string | null>(null)
  const [cancelled, setCancelled] = useState(false)
  const seen = useRef(false)
  const exchange = useApiMutation(accountCalls.exchangeGoogleCode, {
    onSuccess: ({ user, accessToken }) => startSessionAndOpen(takeDestination(), { user, accessToken }),
    onError: (error) => {
      const message = error instanceof Problem && error.code === 'email_taken' ? error.message : texts.signIn.googleFailed
      setProblem(message)
      toast('bad', message)
    },
  })
  useEffect(() => {
    const code = search.get('code')
    const failed = search.has('error') || legacy.some((name) => search.has(name))
    if (seen.current || (code === null && !failed)) return
    seen.current = true
    setSearch({}, { replace: true })
    if (code !== null && !failed) return exchange.mutate({ body: { code, timezone: Intl.DateTimeFormat().resolvedOptions().timeZone } })
    if (search.get('error') === 'access_denied') return setCancelled(true)
    setProblem(texts.signIn.googleFailed)
    toast('bad', texts.signIn.googleFailed)
  }, [search, setSearch, exchange])
  if (exchange.isPending || exchange.isSuccess) return <Notice tone="info">{texts.signIn.busy}</Notice>
  if (cancelled) return <Notice tone="info">{texts.signIn.googleCancelled}</Notice>
  return problem === null ? null : <Notice tone="bad">{problem}</Notice>
}
