import type { ReactNode } from 'react'
import type { Invoice } from '#contract/invoices.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import { FormError } from '#web/ui/notice.tsx'
import styles from './history.module.css'

interface ResumeDialogProps {
  invoice: Invoice | null
  busy: boolean
  problem: string | null
  onResume: (invoice: Invoice) => void
  onClose: () => void
}

/** Asks before every invoice of a client is reminded again. */
export function ResumeDialog({ invoice, busy, problem, onResume, onClose }: ResumeDialogProps): ReactNode {
  return (
    <ConfirmDialog
      opened={invoice !== null}
      title={invoiceTexts.pause.resumeTitle}
      confirm={invoiceTexts.pause.resume}
      confirmBusy={invoiceTexts.pause.resumeBusy}
      busy={busy}
      tone="plain"
      onConfirm={() => invoice && onResume(invoice)}
      onCancel={onClose}
    >
      {invoice && <p className={styles.dialogText}>{invoiceTexts.pause.resumeText(invoice.clientEmail)}</p>}
      <FormError message={problem} />
    </ConfirmDialog>
  )
}
