import { Modal } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { MailConfig } from '#contract/mail.ts'
import styles from './mail.module.css'
import { SmtpForm } from './smtp-form.tsx'
import { texts } from './texts.ts'

interface SmtpDialogProps {
  opened: boolean
  /** What is connected now: everything but the password is filled in from it. */
  mailbox: MailConfig | null
  onClose: () => void
}

/** The form in its dialog. Closing it forgets what was typed, the password first of all. */
export function SmtpDialog({ opened, mailbox, onClose }: SmtpDialogProps): ReactNode {
  const [busy, setBusy] = useState(false)
  const close = () => {
    if (!busy) onClose()
  }
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={texts.smtp.title}
      size={520}
      closeButtonProps={{ 'aria-label': texts.smtp.close, size: 44, iconSize: 18 }}
    >
      <div className={styles.form}>
        <SmtpForm mailbox={mailbox} onBusy={setBusy} onClose={onClose} />
      </div>
    </Modal>
  )
}
