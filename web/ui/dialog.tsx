import { Button, Group, Modal, type ModalProps } from '@mantine/core'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { BusyButton } from './buttons.tsx'
import styles from './controls.module.css'
import { texts } from './texts.ts'

/** A modal that opens one render after it is mounted: Mantine records the element to return the focus to only when `opened` changes. */
export function Dialog({ opened, ...modal }: ModalProps): ReactNode {
  const [shown, setShown] = useState(false)
  useEffect(() => setShown(opened), [opened])
  return <Modal {...modal} opened={shown} />
}

/** What a dialog is about, kept after it became null: the content stays while the dialog fades out. */
export function useKept<T>(about: T | null): T | null {
  const last = useRef(about)
  if (about !== null) last.current = about
  return last.current
}

export interface ConfirmDialogProps {
  opened: boolean
  title: string
  children: ReactNode
  /** The verb on the confirming button, and its label while busy. */
  confirm: string
  confirmBusy: string
  cancel?: string
  busy: boolean
  /** `danger` where something is lost. */
  tone: 'plain' | 'danger'
  onConfirm: () => void
  onCancel: () => void
}

/** A confirmation, above any dialog that opened it. Cancel comes first and has the focus, so that a hasty Enter does no harm. */
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
