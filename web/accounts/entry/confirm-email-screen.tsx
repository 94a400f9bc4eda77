import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { Link } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import type { CallReply } from '#contract/call.ts'
import { screens } from '#contract/screens.ts'
import { texts } from '#web/accounts/texts.ts'
import { useStoredUser } from '#web/platform/account.tsx'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { invalidate, useApiMutation } from '#web/platform/query.ts'
import { endSession, type Session, useSession } from '#web/platform/session.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { Notice } from '#web/ui/notice.tsx'
import styles from './entry.module.css'
import { EntryCard, invitationOf, useLinkToken } from './entry-page.tsx'

const t = texts.confirm

type Found = CallReply<typeof accountCalls.lookAtEmailLink>

/** /confirm-email: asks in a session of the account, by a button, because mail scanners open every link. */
export default function ConfirmEmailScreen(): ReactNode {
  const token = useLinkToken()
  const session = useSession()
  const isReading = useStoredUser(session != null)
  const [isRejecting, setRejecting] = useState(false)
  const look = useApiMutation(accountCalls.lookAtEmailLink)
  const { mutate } = look
  useEffect(() => {
    if (token !== null) mutate({ body: { token } })
  }, [token, mutate])
  const title = isRejecting ? t.reject.title : t.title
  return (
    <EntryCard title={title}>
      <title>{`${title} · Duely`}</title>
      {token === null || look.isError ? (
        <Useless problem={token === null ? t.noToken : errorMessage(look.error)} session={session} />
      ) : !look.data || session === undefined || isReading ? (
        <p className={styles.lead} role="status">
          {t.loading}
        </p>
      ) : (
        <Answer key={token} {...{ token, session, isRejecting, setRejecting }} found={look.data} />
      )}
    </EntryCard>
  )
}

function Useless({ problem, session }: { problem: string; session: Session | null | undefined }): ReactNode {
  return (
    <>
      <Notice tone="bad">
        {problem} {t.another}
      </Notice>
      <Button component={Link} to={session ? screens.profile : screens.signIn} fullWidth>
        {session ? t.profile : t.signIn}
      </Button>
    </>
  )
}

interface AnswerProps {
  token: string
  found: Found
  session: Session | null
  isRejecting: boolean
  setRejecting: (isRejecting: boolean) => void
}

function Answer({ token, found, session, isRejecting, setRejecting }: AnswerProps): ReactNode {
  const { email, changes } = found
  const queries = useQueryClient()
  const confirm = useApiMutation(accountCalls.confirmEmail, {
    onSuccess: () => void invalidate(queries, [accountCalls.profile]),
  })
  if (confirm.isSuccess) return <Confirmed email={confirm.data.email} />
  if (isRejecting) return <Reject token={token} found={found} onBack={() => setRejecting(false)} />
  const mine = session?.user.email
  const notTheirs = confirm.error instanceof Problem && confirm.error.code === 'not_allowed'
  const isOther = mine !== undefined && (notTheirs || (!changes && mine.toLowerCase() !== email.toLowerCase()))
  if (confirm.isError && !isOther) return <Useless problem={errorMessage(confirm.error)} session={session} />
  return (
    <>
      {mine === undefined ? (
        <>
          <p className={styles.lead}>{changes ? t.signInToChange(email) : t.signInFirst(email)}</p>
          <Button
            component={Link}
            to={screens.signIn}
            state={{ from: { pathname: screens.confirmEmail, search: '', hash: `#token=${token}` }, ...(changes ? {} : { email }) }}
            fullWidth
          >
            {t.signIn}
          </Button>
        </>
      ) : isOther ? (
        <OtherSession email={email} mine={mine} />
      ) : (
        <>
          <p className={styles.lead}>{changes ? t.leadToChange(email) : t.lead(email)}</p>
          <BusyButton fullWidth busy={confirm.isPending} busyText={t.busy} onClick={() => confirm.mutate({ body: { token } })}>
            {t.submit}
          </BusyButton>
        </>
      )}
      <Button variant="default" fullWidth mt={12} onClick={() => setRejecting(true)}>
        {t.notMine}
      </Button>
    </>
  )
}

function Confirmed({ email }: { email: string }): ReactNode {
  const invitation = invitationOf(email)
  return (
    <>
      <Notice tone="good">{t.done(email)}</Notice>
      <Button component={Link} to={invitation ?? screens.dashboard} fullWidth>
        {invitation === null ? t.dashboard : t.invitation}
      </Button>
    </>
  )
}

/** Someone else is signed in on this browser. */
function OtherSession({ email, mine }: { email: string; mine: string }): ReactNode {
  const signOut = useApiMutation(accountCalls.signOut, { onSuccess: endSession })
  return (
    <>
      <Notice tone="warn">{t.other(email, mine)}</Notice>
      {signOut.isError && <Notice tone="bad">{errorMessage(signOut.error)}</Notice>}
      <BusyButton fullWidth busy={signOut.isPending} busyText={t.signingOut} onClick={() => signOut.mutate({})}>
        {t.signOut}
      </BusyButton>
    </>
  )
}

/** The owner of the email has nothing to do with the account. */
function Reject({ token, found, onBack }: { token: string; found: Found; onBack: () => void }): ReactNode {
  const { email, changes } = found
  const reject = useApiMutation(accountCalls.rejectEmail)
  if (reject.isSuccess) {
    const next = changes ? null : reject.data.kept ? screens.forgotPassword : screens.signUp
    return (
      <>
        <Notice tone="good">{reject.data.message}</Notice>
        {next !== null && (
          <Button component={Link} to={next} state={{ email }} variant="default" fullWidth>
            {next === screens.signUp ? t.reject.signUp : t.reject.setPassword}
          </Button>
        )}
      </>
    )
  }
  return (
    <>
      <p className={styles.lead}>{changes ? t.reject.changeLead(email) : t.reject.lead(email)}</p>
      {reject.isError && <Notice tone="bad">{errorMessage(reject.error)}</Notice>}
      <BusyButton
        color="coral"
        fullWidth
        busy={reject.isPending}
        busyText={t.reject.busy}
        onClick={() => reject.mutate({ body: { token } })}
      >
        {changes ? t.reject.changeSubmit : t.reject.submit}
      </BusyButton>
      <Button variant="default" fullWidth mt={12} onClick={onBack}>
        {t.reject.back}
      </Button>
    </>
  )
}
