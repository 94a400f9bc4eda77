import type { ReactNode } from 'react'
import { type Invoice, invoiceCalls } from '#contract/invoices.ts'
import { formatRupees } from '#contract/money.ts'
import { removeInvoice, writeInvoice } from '#web/invoices/invoice-cache.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { toast, undoToast } from '#web/ui/toast.tsx'
import styles from './dashboard.module.css'
import { texts } from './texts.ts'

/** Asks before an invoice goes, and offers it back for as long as the message stands there. */
export function DeleteDialog({ invoice, onClose }: { invoice: Invoice | null; onClose: () => void }): ReactNode {
  const restore = useApiMutation(invoiceCalls.restore, {
    invalidates: [invoiceCalls.list],
    update: writeInvoice,
    onSuccess: ({ reference }) => toast('good', texts.remove.undone(reference)),
    onError: (error) => toast('bad', texts.remove.undoFailed(errorMessage(error))),
  })
  const remove = useApiMutation(invoiceCalls.remove, {
    invalidates: [invoiceCalls.list],
    update: (cache, _reply, { params }) => removeInvoice(cache, params.id),
  })
  const close = () => {
    remove.reset()
    onClose()
  }
  const confirm = () => {
    if (!invoice) return
    const { _id: id, reference } = invoice
    remove.mutate(
      { params: { id } },
      {
        onSuccess: () => {
          close()
          undoToast(texts.remove.done(reference), () => restore.mutate({ params: { id } }))
        },
      },
    )
  }
  return (
    <ConfirmDialog
      opened={invoice !== null}
      title={texts.remove.title}
      confirm={texts.remove.confirm}
      confirmBusy={texts.remove.busy}
      busy={remove.isPending}
      tone="danger"
      onConfirm={confirm}
      onCancel={close}
    >
      {invoice && (
        <p className={styles.dialogText}>{texts.remove.text(invoice.reference, invoice.clientName, formatRupees(invoice.amount))}</p>
      )}
      <FormError message={remove.isError ? errorMessage(remove.error) : null} />
    </ConfirmDialog>
  )
}
