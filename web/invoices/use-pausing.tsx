import { type ReactNode, useCallback, useState } from 'react'
import { type Invoice, invoiceCalls } from '#contract/invoices.ts'
import { inWords } from '#web/platform/problem.ts'
import { useCall } from '#web/platform/query.ts'
import { Later, loadLater } from '#web/ui/load-later.tsx'
import { toast } from '#web/ui/toast.tsx'
import { changedByPause } from './changed-by-pause.ts'
import { texts } from './texts.ts'

const PauseDialog = loadLater(async () => (await import('./pause-dialog.tsx')).PauseDialog)
const ResumeDialog = loadLater(async () => (await import('./resume-dialog.tsx')).ResumeDialog)

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
  const change = useCall(invoiceCalls.pause, {
    refreshes: changedByPause,
    onDone: ({ reference, clientEmail, pause }, { body: { scope } }) => {
      setEnding(null)
      if (pause !== null) toast('info', texts.pause.stillPaused(clientEmail))
      else toast('good', scope === 'client' ? texts.pause.resumedClient(clientEmail) : texts.pause.resumed(reference))
    },
    onProblem: (error) => toast('bad', texts.pause.resumeFailed(inWords(error))),
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
        <Later wanted={asked !== null}>
          <PauseDialog invoice={asked} onClose={() => setAsked(null)} />
        </Later>
        <Later wanted={ending !== null}>
          <ResumeDialog
            invoice={ending}
            busy={change.isPending}
            problem={change.isError ? inWords(change.error) : null}
            onResume={(invoice) => end(invoice, 'client')}
            onClose={stay}
          />
        </Later>
      </>
    ),
  }
}
