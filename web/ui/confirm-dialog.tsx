import { Button, Group } from '@mantine/core'
import type { ReactNode } from 'react'
import { BusyButton } from './busy-button.tsx'
import styles from './dialog.module.css'
import { Dialog } from './dialog.tsx'
import { texts } from './texts.ts'

export interface ConfirmDialogProps {
  opened: boolean
  title: string
  children: ReactNode
  /** The verb on the button that goes ahead, and while it does. */
  confirm: string
  confirmBusy: string
  /** The word on the button to stay. */
  cancel?: string
  busy: boolean
  /** Red where something is lost. */
  tone: 'plain' | 'danger'
  onConfirm: () => void
  onCancel: () => void
}

/** Asks before something happens; above a dialog that it may have been opened from. The button to stay comes first, so that a hasty Enter does no harm. */
export function ConfirmDialog(props: ConfirmDialogProps): ReactNode {
  const { opened, title, children, confirm, confirmBusy, cancel = texts.cancel, busy, tone, onConfirm, onCancel } = props
  return (
    <Dialog opened={opened} onClose={busy ? () => undefined : onCancel} title={title} zIndex={201}>
      {children}
      <div className={styles.foot}>
        <Group justify="flex-end" gap={12} mt={16}>
          <Button variant="default" onClick={onCancel} disabled={busy} data-autofocus>
            {cancel}
          </Button>
          <BusyButton busy={busy} busyText={confirmBusy} onClick={onConfirm} {...(tone === 'danger' ? { color: 'coral' } : {})}>
            {confirm}
          </BusyButton>
        </Group>
      </div>
    </Dialog>
  )
}
