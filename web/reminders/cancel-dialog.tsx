import type { ReactNode } from 'react'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import styles from './control.module.css'
import { texts } from './texts.ts'

interface CancelDialogProps {
  opened: boolean
  /** Mails of the run that wait. */
  waiting: number
  busy: boolean
  /** Daily reminders go on afterwards. */
  active: boolean
  onConfirm: () => void
  onCancel: () => void
}

/** Asks before the rest of a run is called off. */
export function CancelDialog({ opened, waiting, busy, active, onConfirm, onCancel }: CancelDialogProps): ReactNode {
  return (
    <ConfirmDialog
      opened={opened}
      title={texts.cancel.title}
      confirm={texts.cancel.button}
      confirmBusy={texts.cancel.busy}
      cancel={texts.cancel.keep}
      busy={busy}
      tone="danger"
      onConfirm={onConfirm}
      onCancel={onCancel}
    >
      <p className={styles.question}>{waiting > 0 ? `${texts.stop.waiting(waiting)} ${texts.stop.leaving}` : texts.stop.nothingWaiting}</p>
      {active && <p className={styles.question}>{texts.cancel.goesOn}</p>}
    </ConfirmDialog>
  )
}
