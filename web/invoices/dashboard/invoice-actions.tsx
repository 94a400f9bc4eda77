import { createContext, type ReactNode, useContext, useMemo, useState } from 'react'
import { type Invoice, type InvoiceStatus, invoiceCalls } from '#contract/invoices.ts'
import { usePausing } from '#web/invoices/history/use-pausing.tsx'
import { writeInvoice } from '#web/invoices/invoice-cache.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { toast } from '#web/ui/toast.tsx'
import { texts } from './texts.ts'

const DeleteDialog = lazyDialog(async () => (await import('./delete-dialog.tsx')).DeleteDialog)

interface Actions {
  markAs: (invoice: Invoice, status: InvoiceStatus) => void
  askToDelete: (invoice: Invoice) => void
  askToPause: (invoice: Invoice) => void
  resume: (invoice: Invoice) => void
}

const ActionsContext = createContext<Actions | null>(null)

/** What the menu of a card can do. */
export function useInvoiceActions(): Actions {
  const actions = useContext(ActionsContext)
  if (!actions) throw new Error('A card stands inside InvoiceActions.')
  return actions
}

/** Holds the calls and the dialog of all cards, so that a card that scrolls away or is deleted takes nothing with it. */
export function InvoiceActions({ children }: { children: ReactNode }): ReactNode {
  const [asked, setAsked] = useState<Invoice | null>(null)
  const { mutate } = useApiMutation(invoiceCalls.update, {
    invalidates: [invoiceCalls.list, invoiceCalls.read],
    update: writeInvoice,
    onSuccess: ({ clientName, status }) => toast('good', texts.card.marked(clientName, status)),
    onError: (error) => toast('bad', texts.card.markFailed(errorMessage(error))),
  })
  const { askToPause, resume, dialogs } = usePausing()
  const actions = useMemo(
    (): Actions => ({
      markAs: ({ _id }, status) => mutate({ params: { id: _id }, body: { status } }),
      askToDelete: setAsked,
      askToPause,
      resume,
    }),
    [mutate, askToPause, resume],
  )
  return (
    <ActionsContext value={actions}>
      {children}
      <LazyMount wanted={asked !== null}>
        <DeleteDialog invoice={asked} onClose={() => setAsked(null)} />
      </LazyMount>
      {dialogs}
    </ActionsContext>
  )
}
