import { Button } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { Link } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { teamCalls } from '#contract/business.ts'
import { screens } from '#contract/screens.ts'
import { texts } from '#web/accounts/texts.ts'
import { ConfirmEmailNotice, useStoredUser } from '#web/platform/account.tsx'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { endSession, openBusiness, type Session, useSession } from '#web/platform/session.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { Notice } from '#web/ui/notice.tsx'
import styles from './entry.module.css'
import { EntryCard, keepInvitation, useLinkToken } from './entry-page.tsx'

const t = texts.join

/** /join: shows an invitation, and accepts it by a button. */
export default function JoinScreen(): ReactNode {
  const token = useLinkToken()
  const session = useSession()
  const isReading = useStoredUser(session != null)
  const look = useApiMutation(teamCalls.lookAtInvitation, {
    onSuccess: ({ email }, { body }) => keepInvitation({ ...body, email }),
    onError: (error) => {
      if (error instanceof Problem && error.code === 'invitation_gone') keepInvitation(null)
    },
  })
  const { mutate } = look
  useEffect(() => {
    if (token !== null) mutate({ body: { token } })
  }, [token, mutate])
  const found = look.data
  return (
    <EntryCard title={t.title}>
      <title>{`${t.title} · Duely`}</title>
      {token === null || look.isError ? (
        <>
          <Notice tone="bad">{token === null ? t.noToken : errorMessage(look.error)}</Notice>
          {/* Someone who has joined may open the email again to get here. */}
          {session !== undefined && (
            <Button component={Link} to={session ? screens.dashboard : screens.signIn} fullWidth>
              {session ? t.dashboard : t.signIn}
            </Button>
          )}
        </>
      ) : !found || session === undefined || isReading ? (
        <p className={styles.lead} role="status">
          {t.loading}
        </p>
      ) : (
        <>
          <p className={styles.lead}>{t.question(found.invitedBy, found.business, found.role)}</p>
          {session ? <Answer token={token} email={found.email} session={session} /> : <Stranger token={token} email={found.email} />}
        </>
      )}
    </EntryCard>
  )
}

/** Someone who is not signed in: afterwards they come back here. */
function Stranger({ token, email }: { token: string; email: string }): ReactNode {
  const state = { from: { pathname: screens.join, search: '', hash: `#token=${token}` }, email }
  return (
    <>
      <p className={styles.lead}>{t.signInAs(email)}</p>
      <Button component={Link} to={screens.signIn} state={state} fullWidth>
        {t.signIn}
      </Button>
      <Button component={Link} to={screens.signUp} state={state} variant="default" fullWidth mt={12}>
        {t.signUp}
      </Button>
    </>
  )
}

function Answer({ token, email, session }: { token: string; email: string; session: Session }): ReactNode {
  const accept = useApiMutation(teamCalls.acceptInvitation, {
    onSuccess: ({ _id }) => {
      keepInvitation(null)
      openBusiness(_id, screens.dashboard)
    },
  })
  const signOut = useApiMutation(accountCalls.signOut, { onSuccess: endSession })
  const mine = session.user.email
  if (mine.toLowerCase() !== email.toLowerCase())
    return (
      <>
        <Notice tone="warn">{t.other(email, mine)}</Notice>
        {signOut.isError && <Notice tone="bad">{errorMessage(signOut.error)}</Notice>}
        <BusyButton fullWidth busy={signOut.isPending} busyText={t.signingOut} onClick={() => signOut.mutate({})}>
          {t.signOut}
        </BusyButton>
      </>
    )
  return (
    <>
      <ConfirmEmailNotice title={t.confirmFirst} />
      {accept.isError && !(accept.error instanceof Problem && accept.error.code === 'email_not_confirmed') && (
        <Notice tone="bad">{errorMessage(accept.error)}</Notice>
      )}
      <BusyButton
        fullWidth
        busy={accept.isPending || accept.isSuccess}
        busyText={t.joining}
        onClick={() => accept.mutate({ body: { token } })}
      >
        {t.join}
      </BusyButton>
      <Button component={Link} to={screens.dashboard} variant="default" fullWidth mt={12} onClick={() => keepInvitation(null)}>
        {t.notNow}
      </Button>
    </>
  )
}
