import type { ReactNode } from 'react'
import { accountCalls, type Profile } from '#contract/accounts.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { texts } from './texts.ts'
import { useServer } from './use-server.ts'

const words = texts.profile.details

/** Offers the link that confirms an email, where the server can send one and it is not confirmed yet. */
export function EmailNotice({ profile }: { profile: Profile }): ReactNode {
  const server = useServer()
  const sendLink = useApiMutation(accountCalls.sendConfirmation, { invalidates: [accountCalls.profile] })
  if (!server?.systemMail || profile.emailVerified) return null
  if (sendLink.isSuccess) return <Notice tone="good">{sendLink.data.message}</Notice>
  return (
    <Notice
      tone={sendLink.isError ? 'bad' : 'info'}
      action={
        <BusyButton variant="default" busy={sendLink.isPending} busyText={words.sending} onClick={() => sendLink.mutate({})}>
          {words.sendLink}
        </BusyButton>
      }
    >
      {sendLink.isError ? errorMessage(sendLink.error) : words.notConfirmed(profile.email)}
    </Notice>
  )
}
