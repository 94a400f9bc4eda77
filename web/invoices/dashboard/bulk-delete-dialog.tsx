import { type ReactNode, useRef } from 'react'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import { texts } from './texts.ts'

interface BulkDeleteDialogProps {
  opened: boolean
  count: number
  sum: string
  busy: boolean
  onDelete: () => void
  onClose: () => void
}

/** Asks before many invoices go at once. */
export function BulkDeleteDialog({ opened, count, sum, busy, onDelete, onClose }: BulkDeleteDialogProps): ReactNode {
  // What it is about stays readable while the dialog fades.
  const last = useRef({ count, sum })
  if (opened) last.current = { count, sum }
  return (
    <ConfirmDialog
      opened={opened}
      title={texts.bulk.removeTitle(last.current.count)}
      confirm={texts.bulk.remove}
      confirmBusy={texts.bulk.removeBusy}
      busy={busy}
      tone="danger"
      onConfirm={onDelete}
      onCancel={onClose}
    >
      {texts.bulk.removeText(last.current.sum)}
    </ConfirmDialog>
  )
}
