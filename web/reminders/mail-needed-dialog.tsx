import { Button, Group, Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import styles from './control.module.css'
import { texts } from './texts.ts'

interface MailNeededDialogProps {
  before: 'start' | 'send'
  opened: boolean
  onClose: () => void
}

/** A press that needs a mailbox first: says so, and leads there. */
export function MailNeededDialog({ before, opened, onClose }: MailNeededDialogProps): ReactNode {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={texts.unconfigured.title}
      centered
      closeButtonProps={{ 'aria-label': texts.unconfigured.close, size: 44, iconSize: 18 }}
    >
      <p className={styles.question}>{before === 'start' ? texts.unconfigured.beforeStart : texts.unconfigured.beforeSend}</p>
      <Group justify="flex-end" gap={12} mt={24}>
        <Button variant="default" onClick={onClose}>
          {texts.unconfigured.close}
        </Button>
        <Button component={Link} to="/dashboard/mail-settings" data-autofocus>
          {texts.emailSettings}
        </Button>
      </Group>
    </Modal>
  )
}
