import { Button, Stack } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { screens } from '#contract/screens.ts'
import { NewPasswordFields, typedTwice } from '#web/accounts/new-password.tsx'
import { texts } from '#web/accounts/texts.ts'
import { useServer } from '#web/platform/account.tsx'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { Problem } from '#web/platform/problem.ts'
import { endSession } from '#web/platform/session.ts'
import { Notice } from '#web/ui/notice.tsx'
import styles from './entry.module.css'
import { EntryCard, useLinkToken } from './entry-page.tsx'

const t = texts.reset

/** /reset-password: a new password, by a link from an email or from the server's administrator. */
export default function ResetPasswordScreen(): ReactNode {
  const token = useLinkToken()
  const server = useServer()
  const shortest = server?.passwordMinLength ?? 6
  const mailless = server?.systemMail === false
  const [said, setSaid] = useState<string | null>(null)
  const [expired, setExpired] = useState<string | null>(null)
  const state = useContractForm({
    call: accountCalls.resetPassword,
    initialValues: { newPassword: '', confirmPassword: '' },
    toInput: ({ newPassword }) => ({ body: { token: token ?? '', newPassword } }),
    check: (values) => typedTwice(values, shortest),
    onSuccess: ({ message }) => {
      // The server has ended all sessions of the account.
      endSession()
      setSaid(message)
    },
    onError: (error) => {
      if (error instanceof Problem && error.code === 'link_expired') setExpired(error.message)
    },
  })
  const { form } = state
  const useless = expired ?? (token !== null ? null : mailless ? t.noTokenGiven : t.noToken)
  return (
    <EntryCard title={t.title}>
      <title>{`${t.title} · Duely`}</title>
      {said !== null ? (
        <>
          <Notice tone="good">{said}</Notice>
          <Button component={Link} to={screens.signIn} fullWidth>
            {t.signIn}
          </Button>
        </>
      ) : useless !== null ? (
        <>
          <Notice tone="bad">{useless}</Notice>
          {mailless && <p className={styles.after}>{t.noMail}</p>}
          <Button component={Link} to={server?.systemMail ? screens.forgotPassword : screens.signIn} fullWidth>
            {server?.systemMail ? t.another : t.signIn}
          </Button>
        </>
      ) : (
        <ContractForm state={state} submit={t.submit} busy={t.busy} wide>
          <Stack gap={16}>
            <NewPasswordFields form={form} shortest={shortest} />
          </Stack>
          <p className={styles.fine}>{t.others}</p>
        </ContractForm>
      )}
    </EntryCard>
  )
}
