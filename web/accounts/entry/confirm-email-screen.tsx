import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { screens } from '#contract/screens.ts'
import { texts } from '#web/accounts/texts.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { invalidate, useApiMutation } from '#web/platform/query.ts'
import { useSession } from '#web/platform/session.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { Notice } from '#web/ui/notice.tsx'
import styles from './entry.module.css'
import { EntryCard, invitationOf, useLinkToken } from './entry-page.tsx'

const t = texts.confirm

/** /confirm-email: confirms by a button, because mail scanners open every link. */
export default function ConfirmEmailScreen(): ReactNode {
  const token = useLinkToken()
  const session = useSession()
  const queries = useQueryClient()
  const confirm = useApiMutation(accountCalls.confirmEmail, {
    // Another person may be signed in here: the profile shows who.
    onSuccess: () => void invalidate(queries, [accountCalls.profile]),
  })
  const problem = confirm.isError ? errorMessage(confirm.error) : token === null ? t.noToken : null
  const invitation = confirm.isSuccess ? invitationOf(confirm.data.email) : null
  const known = confirm.isSuccess ? { to: screens.dashboard, text: t.dashboard } : { to: screens.profile, text: t.profile }
  const onward = invitation !== null ? { to: invitation, text: t.invitation } : session ? known : { to: screens.signIn, text: t.signIn }
  return (
    <EntryCard title={t.title}>
      <title>{`${t.title} · Duely`}</title>
      {confirm.isSuccess ? (
        <Notice tone="good">{t.done(confirm.data.email)}</Notice>
      ) : problem !== null ? (
        <Notice tone="bad">
          {problem} {t.another}
        </Notice>
      ) : (
        <p className={styles.lead}>{t.lead}</p>
      )}
      {confirm.isSuccess || problem !== null ? (
        <Button component={Link} to={onward.to} fullWidth>
          {onward.text}
        </Button>
      ) : (
        <BusyButton fullWidth busy={confirm.isPending} busyText={t.busy} onClick={() => confirm.mutate({ body: { token: token ?? '' } })}>
          {t.submit}
        </BusyButton>
      )}
    </EntryCard>
  )
}
