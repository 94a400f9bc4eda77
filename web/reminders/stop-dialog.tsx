import type { ReactNode } from 'react'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import styles from './control.module.css'
import { texts } from './texts.ts'

interface StopDialogProps {
  opened: boolean
  /** Whether a schedule is paused by it too; otherwise it only stops what is leaving. */
  active: boolean
  /** Mails that are under way or wait for their next try, as far as this screen knows. */
  waiting: number
  busy: boolean
  onStop: () => void
  onCancel: () => void
}

/** Says what stopping does before it does it. */
export function StopDialog({ opened, active, waiting, busy, onStop, onCancel }: StopDialogProps): ReactNode {
  return (
    <ConfirmDialog
      opened={opened}
      title={active ? texts.stop.title : texts.stop.sending}
      confirm={active ? texts.stop.button : texts.stop.sending}
      confirmBusy={texts.stop.busy}
      busy={busy}
      tone="danger"
      onConfirm={onStop}
      onCancel={onCancel}
    >
      {active && <p className={styles.question}>{texts.stop.schedule}</p>}
      <p className={styles.question}>{waiting > 0 ? `${texts.stop.waiting(waiting)} ${texts.stop.leaving}` : texts.stop.nothingWaiting}</p>
    </ConfirmDialog>
  )
}
