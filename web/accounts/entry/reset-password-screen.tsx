import { Button, Stack } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { accountCalls, removalNames, type TakeoverRemoval } from '#contract/accounts.ts'
import type { CallReply } from '#contract/call.ts'
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
/** Someone who knew the password may have added something that acts. */
const afterReset = { from: { pathname: screens.access, search: '', hash: '' } }

/** /reset-password: a new password, by a link from an email or from the server's administrator. */
export default function ResetPasswordScreen(): ReactNode {
  const token = useLinkToken()
  const server = useServer()
  const shortest = server?.passwordMinLength ?? 6
  const mailless = server?.systemMail === false
  const [done, setDone] = useState<CallReply<typeof accountCalls.resetPassword> | null>(null)
  const [expired, setExpired] = useState<string | null>(null)
  const state = useContractForm({
    call: accountCalls.resetPassword,
    initialValues: { newPassword: '', confirmPassword: '' },
    toInput: ({ newPassword }) => ({ body: { token: token ?? '', newPassword } }),
    check: (values) => typedTwice(values, shortest),
    onSuccess: (reply) => {
      // The server has ended all sessions of the account.
      endSession()
      setDone(reply)
    },
    onError: (error) => {
      if (error instanceof Problem && error.code === 'link_expired') setExpired(error.message)
    },
  })
  const { form } = state
  const isTakeover = done?.removed !== undefined || done?.left !== undefined
  const useless = expired ?? (token !== null ? null : mailless ? t.noTokenGiven : t.noToken)
  return (
    <EntryCard title={t.title}>
      <title>{`${t.title} · Duely`}</title>
      {done !== null ? (
        <>
          <Notice tone="good">{isTakeover ? t.done : done.message}</Notice>
          {isTakeover && <TakenOver removed={done.removed ?? []} left={done.left ?? []} />}
          {/* Where the account was taken over, everything that acts is removed. */}
          <Button component={Link} to={screens.signIn} state={isTakeover ? null : afterReset} fullWidth>
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

/** What the account had from someone who signed up with this email, and has no more. */
function TakenOver({ removed, left }: { removed: TakeoverRemoval[]; left: string[] }): ReactNode {
  return (
    <>
      <p className={styles.after}>{t.takenOver.why}</p>
      {removed.length > 0 && <Named title={t.takenOver.removed} names={removed.map((one) => removalNames[one])} />}
      {left.length > 0 && <Named title={t.takenOver.left} names={left} />}
      <p className={styles.after}>{t.takenOver.kept}</p>
    </>
  )
}

function Named({ title, names }: { title: string; names: string[] }): ReactNode {
  return (
    <div className={styles.named}>
      <h2>{title}</h2>
      <ul>
        {names.map((name) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
    </div>
  )
}
