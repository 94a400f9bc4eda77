import { Button, Group, Modal, type ModalProps } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { BusyButton } from './buttons.tsx'
import styles from './controls.module.css'
import { texts } from './texts.ts'

/** A window over the screen. It opens a moment after it is there: one that is there and open at once would not know where the focus goes back to. */
export function Dialog({ opened, ...modal }: ModalProps): ReactNode {
  const [shown, setShown] = useState(false)
  useEffect(() => setShown(opened), [opened])
  return <Modal {...modal} opened={shown} />
}

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
