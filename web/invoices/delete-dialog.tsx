import { type ReactNode, useRef } from 'react'
import { type Invoice, invoiceCalls } from '#contract/invoices.ts'
import { formatRupees } from '#contract/money.ts'
import { inWords } from '#web/platform/problem.ts'
import { useCall } from '#web/platform/query.ts'
import { ConfirmDialog } from '#web/ui/confirm-dialog.tsx'
import { FormError } from '#web/ui/form-error.tsx'
import { dismissToast, toast } from '#web/ui/toast.tsx'
import look from './delete-dialog.module.css'
import { texts } from './texts.ts'

/** Asks before an invoice goes, and offers it back for as long as the message stands there. */
export function DeleteDialog({ invoice, onClose }: { invoice: Invoice | null; onClose: () => void }): ReactNode {
  const message = useRef<string | null>(null)
  const restore = useCall(invoiceCalls.restore, {
    refreshes: [invoiceCalls.list],
    onDone: ({ reference }) => toast('good', texts.remove.undone(reference)),
    onProblem: (error) => toast('bad', texts.remove.undoFailed(inWords(error))),
  })
  const remove = useCall(invoiceCalls.remove, { refreshes: [invoiceCalls.list] })
  const undo = (id: string) => {
    if (message.current !== null) dismissToast(message.current)
    restore.mutate({ params: { id } })
  }
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
          message.current = toast(
            'info',
            <span className={look.deleted}>
              {texts.remove.done(reference)}
              <button type="button" className={look.undo} onClick={() => undo(id)}>
                {texts.remove.undo}
              </button>
            </span>,
          )
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
      {invoice && <p className={look.text}>{texts.remove.text(invoice.reference, invoice.clientName, formatRupees(invoice.amount))}</p>}
      <FormError message={remove.isError ? inWords(remove.error) : null} />
    </ConfirmDialog>
  )
}
