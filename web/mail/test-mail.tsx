import { IconCircleCheck } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { mailCalls } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { BusyButton } from '#web/ui/busy-button.tsx'
import { FormError } from '#web/ui/form-error.tsx'
import styles from './mail.module.css'
import { texts } from './texts.ts'

const words = texts.test

/** Sends a mail to oneself, and says beside the button what the mail server made of it. */
export function useTestMail(): { button: ReactNode; outcome: ReactNode } {
  const [problem, setProblem] = useState<string | null>(null)
  const send = useApiMutation(mailCalls.test, {
    // A mail that was taken ends a pause for a refused login.
    invalidates: [mailCalls.config, reminderCalls.status],
    onError: (error) => setProblem(words.failed(errorMessage(error))),
  })
  const button = (
    <BusyButton
      variant="default"
      busy={send.isPending}
      busyText={words.sending}
      onClick={() => {
        setProblem(null)
        send.mutate({})
      }}
    >
      {words.send}
    </BusyButton>
  )
  const outcome = (
    <>
      <div role="status">{send.isSuccess && <Sent {...send.data} />}</div>
      <FormError message={problem} />
    </>
  )
  return { button, outcome }
}

function Sent({ to, reply }: { to: string; reply: string }): ReactNode {
  return (
    <div className={styles.sent}>
      <IconCircleCheck size={20} aria-hidden className={styles.sentIcon} />
      <div>
        <strong>{words.done(to)}</strong> {words.next}
        {reply !== '' && (
          <p className={styles.reply}>
            {words.said} <q>{reply}</q>
          </p>
        )}
      </div>
    </div>
  )
}
