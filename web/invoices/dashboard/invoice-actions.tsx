import { createContext, type ReactNode, useContext, useMemo } from 'react'
import { type Invoice, type InvoiceStatus, invoiceCalls } from '#contract/invoices.ts'
import { formatRupees } from '#contract/money.ts'
import { usePausing } from '#web/invoices/history/use-pausing.tsx'
import { removeInvoice, writeInvoice } from '#web/invoices/invoice-cache.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { confirm } from '#web/ui/confirm.tsx'
import { toast, undoToast } from '#web/ui/toast.tsx'
import { texts } from './texts.ts'

interface Actions {
  markAs: (invoice: Invoice, status: InvoiceStatus) => void
  askToDelete: (invoice: Invoice) => void
  askToPause: (invoice: Invoice) => void
  resume: (invoice: Invoice) => void
}

const ActionsContext = createContext<Actions | null>(null)

export function useInvoiceActions(): Actions {
  const actions = useContext(ActionsContext)
  if (!actions) throw new Error('useInvoiceActions needs InvoiceActions around it.')
  return actions
}

/** Holds the mutations of all invoices: they must outlive a card that is deleted or scrolls out of the page. */
export function InvoiceActions({ children }: { children: ReactNode }): ReactNode {
  const { mutate: update } = useApiMutation(invoiceCalls.update, {
    invalidates: [invoiceCalls.list, invoiceCalls.read],
    update: writeInvoice,
    onSuccess: ({ clientName, status }) => toast('good', texts.card.marked(clientName, status)),
    onError: (error) => toast('bad', texts.card.markFailed(errorMessage(error))),
  })
  const { mutate: restore } = useApiMutation(invoiceCalls.restore, {
    invalidates: [invoiceCalls.list],
    update: writeInvoice,
    onSuccess: ({ reference }) => toast('good', texts.remove.undone(reference)),
    onError: (error) => toast('bad', texts.remove.undoFailed(errorMessage(error))),
  })
  const { mutateAsync: remove } = useApiMutation(invoiceCalls.remove, {
    invalidates: [invoiceCalls.list],
    update: (cache, _reply, { params }) => removeInvoice(cache, params.id),
  })
  const { askToPause, resume, dialogs } = usePausing()
  const actions = useMemo(
    (): Actions => ({
      markAs: ({ _id }, status) => update({ params: { id: _id }, body: { status } }),
      askToDelete: async ({ _id: id, reference, clientName, amount }) => {
        const deleted = await confirm({
          title: texts.remove.title,
          body: texts.remove.text(reference, clientName, formatRupees(amount)),
          tone: 'danger',
          action: texts.remove.action,
          busy: texts.remove.busy,
          onConfirm: () => remove({ params: { id } }),
        })
        if (deleted) undoToast(texts.remove.done(reference), () => restore({ params: { id } }))
      },
      askToPause,
      resume,
    }),
    [update, remove, restore, askToPause, resume],
  )
  return (
    <ActionsContext value={actions}>
      {children}
      {dialogs}
    </ActionsContext>
  )
}
