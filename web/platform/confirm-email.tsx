import type { ReactNode } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { errorMessage } from './problem.ts'
import { useApiMutation, useApiQuery } from './query.ts'
import { confirmEmailTexts as texts } from './texts.ts'

/** Offers to send the confirmation link again; nothing where the email is confirmed, or the server can't send email. */
export function ConfirmEmailNotice(): ReactNode {
  const server = useApiQuery(accountCalls.server, {}, { staleTime: Number.POSITIVE_INFINITY }).data
  const profile = useApiQuery(accountCalls.profile).data
  const sendLink = useApiMutation(accountCalls.sendConfirmation, { invalidates: [accountCalls.profile] })
  if (!server?.systemMail || !profile || profile.emailVerified) return null
  if (sendLink.isSuccess) return <Notice tone="good">{sendLink.data.message}</Notice>
  return (
    <Notice
      tone={sendLink.isError ? 'bad' : 'warn'}
      title={texts.title}
      action={
        <BusyButton variant="default" busy={sendLink.isPending} busyText={texts.sending} onClick={() => sendLink.mutate({})}>
          {texts.sendLink}
        </BusyButton>
      }
    >
      {sendLink.isError ? errorMessage(sendLink.error) : texts.text(profile.email)}
    </Notice>
  )
}
