import { createContext, type ReactNode, useContext, useMemo } from 'react'
import { type InvoiceActing, useInvoiceActing } from '#web/invoices/use-invoice-acting.tsx'

const ActionsContext = createContext<InvoiceActing | null>(null)

export function useInvoiceActions(): InvoiceActing {
  const actions = useContext(ActionsContext)
  if (!actions) throw new Error('useInvoiceActions needs InvoiceActions around it.')
  return actions
}

/** Holds the mutations of all invoices: they must outlive a card that is deleted or scrolls out of the page. */
export function InvoiceActions({ children }: { children: ReactNode }): ReactNode {
  const { dialogs, markAs, remove, askToPause, resume, remind } = useInvoiceActing()
  const actions = useMemo(
    () => ({ markAs, remove, askToPause, resume, remind, dialogs: null }),
    [markAs, remove, askToPause, resume, remind],
  )
  return (
    <ActionsContext value={actions}>
      {children}
      {dialogs}
    </ActionsContext>
  )
}
