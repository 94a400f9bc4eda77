import { type ReactNode, useState } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { mailCalls } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { ConfirmDialog } from '#web/ui/confirm-dialog.tsx'
import { FormError } from '#web/ui/form-error.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './mail.module.css'
import { texts } from './texts.ts'

/** Asks before the mailbox is forgotten. */
export function RemoveDialog({ opened, onClose }: { opened: boolean; onClose: () => void }): ReactNode {
  const [problem, setProblem] = useState<string | null>(null)
  const remove = useApiMutation(mailCalls.remove, {
    invalidates: [mailCalls.config, reminderCalls.status, reminderCalls.preview, accountCalls.stats],
    onSuccess: () => {
      toast('good', texts.remove.done)
      onClose()
    },
    onError: (error) => {
      setProblem(texts.remove.failed(errorMessage(error)))
      toast('bad', <span className={styles.brief}>{texts.remove.failed(errorMessage(error))}</span>)
    },
  })
  return (
    <ConfirmDialog
      opened={opened}
      title={texts.remove.title}
      confirm={texts.remove.confirm}
      confirmBusy={texts.remove.busy}
      busy={remove.isPending}
      tone="danger"
      onConfirm={() => {
        setProblem(null)
        remove.mutate({})
      }}
      onCancel={() => {
        setProblem(null)
        onClose()
      }}
    >
      <p className={styles.question}>{texts.remove.question}</p>
      <p className={styles.consequence}>{texts.remove.consequence}</p>
      <FormError message={problem} />
    </ConfirmDialog>
  )
}
