import { Button, Group, Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { reminderCalls } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { useApiQuery } from '#web/platform/query.ts'
import styles from './reminders.module.css'
import { isInProgress } from './runs.ts'
import { texts } from './texts.ts'

// The questions read the query cache themselves, so that their figures stay current while they are shown.

interface StopQuestionProps {
  /** Daily reminders are on. */
  active: boolean
  /** The run on the screen. */
  runId: string | null
}

export function StopQuestion({ active, runId }: StopQuestionProps): ReactNode {
  const run = useApiQuery(reminderCalls.run, { params: { id: runId ?? '' } }, { enabled: runId !== null }).data
  const lines = useApiQuery(reminderCalls.preview).data?.lines ?? []
  const waiting = run && isInProgress(run) ? run.open : lines.filter(({ reason }) => reason === 'open_mail').length
  return (
    <>
      {active && <p className={styles.question}>{texts.stop.schedule}</p>}
      <Waiting emails={waiting} />
    </>
  )
}

export function CancelQuestion({ active, runId }: { active: boolean; runId: string }): ReactNode {
  const run = useApiQuery(reminderCalls.run, { params: { id: runId } }).data
  return (
    <>
      <Waiting emails={run?.open ?? 0} />
      {active && <p className={styles.question}>{texts.cancel.stillActive}</p>}
    </>
  )
}

function Waiting({ emails }: { emails: number }): ReactNode {
  return <p className={styles.question}>{emails > 0 ? `${texts.stop.waiting(emails)} ${texts.stop.leaving}` : texts.stop.nothingWaiting}</p>
}

interface DialogProps {
  opened: boolean
  onClose: () => void
}

/** Every overdue invoice that is not paused or on hold has reached the daily limit of manual reminders. */
export function NothingLeftDialog({ opened, remindedToday, onClose }: DialogProps & { remindedToday: number }): ReactNode {
  const lines = useApiQuery(reminderCalls.preview).data?.lines ?? []
  const quiet = lines.filter(({ daysOverdue, reason }) => daysOverdue > 0 && (reason === 'paused' || reason === 'address_held')).length
  return (
    <Modal opened={opened} onClose={onClose} title={texts.sendNow.title}>
      <p className={styles.question}>{`${texts.sendNow.again(remindedToday)} ${texts.sendNow.limit}`}</p>
      <p className={styles.question}>{texts.sendNow.nothingLeft(quiet)}</p>
      <Group justify="flex-end" mt={24}>
        <Button variant="default" onClick={onClose} data-autofocus>
          {texts.close}
        </Button>
      </Group>
    </Modal>
  )
}

export function MailboxNeededDialog({ action, opened, onClose }: DialogProps & { action: 'start' | 'send' }): ReactNode {
  return (
    <Modal opened={opened} onClose={onClose} title={texts.unconfigured.title}>
      <p className={styles.question}>{action === 'start' ? texts.unconfigured.beforeStart : texts.unconfigured.beforeSend}</p>
      <Group justify="flex-end" gap={12} mt={24}>
        <Button variant="default" onClick={onClose}>
          {texts.close}
        </Button>
        <Button component={Link} to={screens.mailSettings} data-autofocus>
          {texts.emailSettings}
        </Button>
      </Group>
    </Modal>
  )
}
