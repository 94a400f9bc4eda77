import { IconBrandGmail } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { mailCalls } from '#contract/mail.ts'
import { Problem } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { BusyButton } from '#web/ui/busy-button.tsx'
import { FormError } from '#web/ui/form-error.tsx'
import { toast } from '#web/ui/toast.tsx'
import { gmailTexts } from './gmail-texts.ts'
import styles from './mail.module.css'

/** Whether this server can send through Gmail; false until it has said so. */
export function useGmail(): boolean {
  return useApiQuery(accountCalls.server, {}, { staleTime: Number.POSITIVE_INFINITY }).data?.google ?? false
}

/** Goes to Google for the permission to send from a Gmail mailbox; nothing where this server has no Google. `again`: one was connected before. */
export function GmailButton({ kind }: { kind: 'first' | 'again' }): ReactNode {
  const available = useGmail()
  const [problem, setProblem] = useState<string | null>(null)
  const start = useApiMutation(mailCalls.startGmail, {
    onSuccess: ({ url }) => window.location.assign(url),
    onError: (error) => {
      const message = gmailTexts.startFailed(error instanceof Problem ? error.message : '')
      setProblem(message)
      toast('bad', <span className={styles.brief}>{message}</span>)
    },
  })
  if (!available) return null
  return (
    <>
      <BusyButton
        leftSection={<IconBrandGmail size={18} stroke={1.7} aria-hidden />}
        // Also while Google's page is on its way.
        busy={start.isPending || start.isSuccess}
        busyText={gmailTexts.busy}
        onClick={() => {
          setProblem(null)
          start.mutate({})
        }}
      >
        {kind === 'first' ? gmailTexts.connect : gmailTexts.again}
      </BusyButton>
      {problem !== null && <FormError message={problem} />}
    </>
  )
}
