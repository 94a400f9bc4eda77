import { Button, Group, Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import type { CallReply } from '#contract/call.ts'
import type { reminderCalls } from '#contract/reminders.ts'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import { DueList } from '#web/ui/due-list.tsx'
import styles from './control.module.css'
import { texts } from './texts.ts'

interface AgainDialogProps {
  opened: boolean
  due: CallReply<typeof reminderCalls.preview>
  onSend: () => void
  onCancel: () => void
}

/** Asks before clients are reminded a second or third time on one day. */
export function AgainDialog({ opened, due, onSend, onCancel }: AgainDialogProps): ReactNode {
  const said = <p className={styles.question}>{`${texts.sendNow.again(due.remindedToday)} ${texts.sendNow.limit}`}</p>
  if (due.sendNowMails === 0) {
    return (
      <Modal
        opened={opened}
        onClose={onCancel}
        title={texts.sendNow.title}
        centered
        closeButtonProps={{ 'aria-label': texts.sendNow.close, size: 44, iconSize: 18 }}
      >
        {said}
        <p className={styles.question}>{texts.sendNow.nothingLeft}</p>
        <Group justify="flex-end" mt={24}>
          <Button variant="default" onClick={onCancel} data-autofocus>
            {texts.sendNow.close}
          </Button>
        </Group>
      </Modal>
    )
  }
  return (
    <ConfirmDialog
      opened={opened}
      title={texts.sendNow.title}
      confirm={texts.sendNow.confirm}
      confirmBusy={texts.sendNow.busy}
      busy={false}
      tone="plain"
      onConfirm={onSend}
      onCancel={onCancel}
    >
      {said}
      <p className={styles.question}>{texts.sendNow.leaving(due.sendNowMails)}</p>
      <DueList label={texts.start.list} lines={due.lines.filter(({ sendNowLeft }) => sendNowLeft > 0)} mails={due.sendNowMails} />
    </ConfirmDialog>
  )
}
