import { type ReactNode, useCallback, useState } from 'react'
import { type Invoice, invoiceCalls } from '#contract/invoices.ts'
import { pauseInvalidates, writeInvoice } from '#web/invoices/invoice-cache.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { toast } from '#web/ui/toast.tsx'

const PauseDialog = lazyDialog(async () => (await import('./pause-dialog.tsx')).PauseDialog)
const ResumeDialog = lazyDialog(async () => (await import('./resume-dialog.tsx')).ResumeDialog)

export interface Pausing {
  /** Asks how long, also where it is paused already. */
  askToPause: (invoice: Invoice) => void
  /** Ends the pause; asks first where it is the whole client's. */
  resume: (invoice: Invoice) => void
  resuming: boolean
  dialogs: ReactNode
}

/** Pausing the reminders of an invoice or its client, and ending that. */
export function usePausing(): Pausing {
  const [asked, setAsked] = useState<Invoice | null>(null)
  const [ending, setEnding] = useState<Invoice | null>(null)
  const change = useApiMutation(invoiceCalls.pause, {
    invalidates: pauseInvalidates,
    update: writeInvoice,
    onSuccess: ({ reference, clientEmail, pause }, { body: { scope } }) => {
      setEnding(null)
      if (pause !== null) toast('info', invoiceTexts.pause.stillPaused(clientEmail))
      else toast('good', scope === 'client' ? invoiceTexts.pause.resumedClient(clientEmail) : invoiceTexts.pause.resumed(reference))
    },
    onError: (error) => toast('bad', invoiceTexts.pause.resumeFailed(errorMessage(error))),
  })
  const { mutate } = change
  const end = useCallback(
    ({ _id }: Invoice, scope: 'invoice' | 'client') => mutate({ params: { id: _id }, body: { paused: false, scope } }),
    [mutate],
  )
  const resume = useCallback(
    (invoice: Invoice) => (invoice.pause?.scope === 'client' ? setEnding(invoice) : end(invoice, 'invoice')),
    [end],
  )
  const stay = () => {
    change.reset()
    setEnding(null)
  }
  return {
    askToPause: setAsked,
    resume,
    resuming: change.isPending,
    dialogs: (
      <>
        <LazyMount wanted={asked !== null}>
          <PauseDialog invoice={asked} onClose={() => setAsked(null)} />
        </LazyMount>
        <LazyMount wanted={ending !== null}>
          <ResumeDialog
            invoice={ending}
            busy={change.isPending}
            problem={change.isError ? errorMessage(change.error) : null}
            onResume={(invoice) => end(invoice, 'client')}
            onClose={stay}
          />
        </LazyMount>
      </>
    ),
  }
}
