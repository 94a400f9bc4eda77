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
import { EntryCard, useLinkToken } from './entry-page.tsx'

const words = texts.confirm

/** /confirm-email: says that a mailbox is one's own. By a button: programs that look at mails follow every link in them. */
export default function ConfirmEmailScreen(): ReactNode {
  const token = useLinkToken()
  const session = useSession()
  const queries = useQueryClient()
  const confirm = useApiMutation(accountCalls.confirmEmail, {
    // Principal is signed in here may be somebody else; the profile says who it is.
    onSuccess: () => void invalidate(queries, [accountCalls.profile]),
  })
  const problem = confirm.isError ? errorMessage(confirm.error) : token === null ? words.noToken : null
  const onward = session ? { to: screens.profile, text: words.profile } : { to: screens.signIn, text: words.signIn }
  return (
    <EntryCard title={words.title}>
      <title>{`${words.title} · Duely`}</title>
      {confirm.isSuccess ? (
        <Notice tone="good">{words.done(confirm.data.email)}</Notice>
      ) : problem !== null ? (
        <Notice tone="bad">
          {problem} {words.another}
        </Notice>
      ) : (
        <p className={styles.lead}>{words.lead}</p>
      )}
      {confirm.isSuccess || problem !== null ? (
        <Button component={Link} to={onward.to} fullWidth>
          {onward.text}
        </Button>
      ) : (
        <BusyButton
          fullWidth
          busy={confirm.isPending}
          busyText={words.busy}
          onClick={() => confirm.mutate({ body: { token: token ?? '' } })}
        >
          {words.submit}
        </BusyButton>
      )}
    </EntryCard>
  )
}
