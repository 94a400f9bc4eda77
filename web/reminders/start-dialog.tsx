import type { ReactNode } from 'react'
import type { CallReply } from '#contract/call.ts'
import { formatRupees } from '#contract/money.ts'
import type { reminderCalls } from '#contract/reminders.ts'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import { DueList } from '#web/ui/due-list.tsx'
import styles from './control.module.css'
import { hourInWords } from './moments.ts'
import { texts } from './texts.ts'

interface StartDialogProps {
  opened: boolean
  due: CallReply<typeof reminderCalls.preview>
  status: CallReply<typeof reminderCalls.status>
  onStart: () => void
  onCancel: () => void
}

/** Shows who is written to before Start writes to them. */
export function StartDialog({ opened, due, status, onStart, onCancel }: StartDialogProps): ReactNode {
  const lines = due.lines.filter(({ dueNow }) => dueNow)
  const leftOut = due.lines.filter(({ dueNow, daysOverdue }) => !dueNow && daysOverdue > 0).length
  return (
    <ConfirmDialog
      opened={opened}
      title={texts.start.title}
      confirm={texts.start.button}
      confirmBusy={texts.start.busy}
      busy={false}
      tone="plain"
      onConfirm={onStart}
      onCancel={onCancel}
    >
      {due.mails === 0 ? (
        <p className={styles.question}>{texts.start.nobody}</p>
      ) : (
        <>
          <p className={styles.question}>{texts.start.now(due.mails)}</p>
          <div className={styles.sum}>{formatRupees(due.total)}</div>
          <DueList label={texts.start.list} lines={lines} mails={due.mails} />
        </>
      )}
      {leftOut > 0 && <p className={styles.quiet}>{texts.start.leftOut(leftOut)}</p>}
      {status.pause && due.mails > 0 && <p className={styles.quiet}>{texts.start.pausedNow}</p>}
      <p className={styles.quiet}>{texts.start.daily(hourInWords(status.reminderHour), texts.status.zone(status.timezone))}</p>
    </ConfirmDialog>
  )
}
