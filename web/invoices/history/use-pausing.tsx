import { type ReactNode, useCallback, useState } from 'react'
import { type Invoice, invoiceCalls } from '#contract/invoices.ts'
import { pauseInvalidates, writeInvoice } from '#web/invoices/invoice-cache.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { confirm } from '#web/ui/confirm.tsx'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { toast } from '#web/ui/toast.tsx'

const texts = invoiceTexts.pause
const PauseDialog = lazyDialog(async () => (await import('./pause-dialog.tsx')).PauseDialog)

export interface Pausing {
  /** Opens the dialog to pause, or to change a pause. */
  askToPause: (invoice: Invoice) => void
  /** Ends the pause; asks first if it applies to all invoices of the client. */
  resume: (invoice: Invoice) => void
  resuming: boolean
  dialogs: ReactNode
}

export function usePausing(): Pausing {
  const [asked, setAsked] = useState<Invoice | null>(null)
  const { mutate, mutateAsync, isPending } = useApiMutation(invoiceCalls.pause, {
    invalidates: pauseInvalidates,
    update: writeInvoice,
    onSuccess: ({ reference, clientEmail, pause }, { body: { scope } }) => {
      if (pause !== null) toast('info', texts.stillPaused(clientEmail))
      else toast('good', scope === 'client' ? texts.resumedClient(clientEmail) : texts.resumed(reference))
    },
    onError: (error) => toast('bad', texts.resumeFailed(errorMessage(error))),
  })
  const resume = useCallback(
    ({ _id: id, pause, clientEmail }: Invoice) => {
      if (pause?.scope !== 'client') return mutate({ params: { id }, body: { paused: false, scope: 'invoice' } })
      void confirm({
        title: texts.resumeTitle,
        body: texts.resumeText(clientEmail),
        action: texts.resume,
        busy: texts.resumeBusy,
        onConfirm: () => mutateAsync({ params: { id }, body: { paused: false, scope: 'client' } }),
      })
    },
    [mutate, mutateAsync],
  )
  return {
    askToPause: setAsked,
    resume,
    resuming: isPending,
    dialogs: (
      <LazyMount wanted={asked !== null}>
        <PauseDialog invoice={asked} onClose={() => setAsked(null)} />
      </LazyMount>
    ),
  }
}
