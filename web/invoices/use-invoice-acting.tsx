import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { type Invoice, type InvoiceChange, type InvoiceStatus, invoiceCalls, owedAmount } from '#contract/invoices.ts'
import { formatMoney } from '#contract/money.ts'
import { payLinkCalls } from '#contract/pay-links.ts'
import { useRefusal } from '#web/platform/account.tsx'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { send } from '#web/platform/send.ts'
import { copyLater } from '#web/ui/buttons.tsx'
import { confirm } from '#web/ui/confirm.tsx'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { toast, undoToast } from '#web/ui/toast.tsx'
import { changeInvalidates, pauseInvalidates, removeInvoice, writeInvoice } from './invoice-state.ts'
import { invoiceTexts } from './texts.ts'

const texts = invoiceTexts.acting
const PauseDialog = lazyDialog(async () => (await import('#web/invoices/history/pause-dialog.tsx')).PauseDialog)
const RecordDialog = lazyDialog(async () => (await import('#web/invoices/payments/record-dialog.tsx')).RecordDialog)
const RemindDialog = lazyDialog(async () => (await import('#web/invoices/remind/remind-dialog.tsx')).RemindDialog)

interface Pausing {
  /** Opens the dialog to pause, or to change a pause. */
  askToPause: (invoice: Invoice) => void
  /** Ends the pause; asks first if it applies to all invoices of the client. */
  resume: (invoice: Invoice) => void
  dialogs: ReactNode
}

export interface InvoiceActing extends Pausing {
  /** Offers Undo. */
  markAs: (invoice: Invoice, status: InvoiceStatus) => void
  /** Asks first, and offers Undo; resolves to whether it was deleted. */
  remove: (invoice: Invoice) => Promise<boolean>
  /** Opens the dialog to record a payment, or a refund. */
  record: (invoice: Invoice, kind?: 'payment' | 'refund') => void
  /** Copies the link to the pay page, or shows why there is none. */
  copyPayLink: (invoice: Invoice) => void
  /** Opens the preview of a reminder of these invoices. */
  remind: (invoices: Invoice[]) => void
  /** Why the person may do none of it. */
  refused: string | undefined
}

/** What a person can do with an invoice from its card, its row and its page. `dialogs` must be rendered. */
export function useInvoiceActing(): InvoiceActing {
  const [reminding, setReminding] = useState<Invoice[] | null>(null)
  const [recording, setRecording] = useState<{ invoice: Invoice; kind: 'payment' | 'refund' } | null>(null)
  const record = useCallback((invoice: Invoice, kind: 'payment' | 'refund' = 'payment') => setRecording({ invoice, kind }), [])
  const { askToPause, resume, dialogs } = usePausing()
  const { mutateAsync: update } = useApiMutation(invoiceCalls.update, {
    invalidates: changeInvalidates,
    update: writeInvoice,
    onError: (error) => toast('bad', texts.markFailed(errorMessage(error))),
  })
  const { mutate: restore } = useApiMutation(invoiceCalls.restore, {
    invalidates: changeInvalidates,
    update: writeInvoice,
    onSuccess: ({ reference }) => toast('good', texts.remove.undone(reference)),
    onError: (error) => toast('bad', texts.remove.undoFailed(errorMessage(error))),
  })
  const copyPayLink = useCallback(
    ({ _id: id }: Invoice) => void copyLink(() => send(payLinkCalls.create, { params: { id } }), texts.payLink.copied),
    [],
  )
  const { mutateAsync: removeNow } = useApiMutation(invoiceCalls.remove, {
    invalidates: changeInvalidates,
    update: (cache, _reply, { params }) => removeInvoice(cache, params.id),
  })
  const markAs = useCallback(
    ({ _id: id, status: before, paidOn, reference }: Invoice, status: InvoiceStatus) => {
      // Not a callback of the call: those run only for the last of several.
      const put = (body: InvoiceChange, done: () => void) => void update({ params: { id }, body }).then(done, () => undefined)
      const was = { status: before, ...(paidOn === null ? {} : { paidOn }) }
      const undo = () => put(was, () => toast('good', texts.markedBack(reference, before)))
      put({ status }, () => undoToast(texts.marked(reference, status), undo, status === 'paid' ? 'good' : 'info'))
    },
    [update],
  )
  const remove = useCallback(
    async (invoice: Invoice) => {
      const { _id: id, reference, clientName } = invoice
      const deleted = await confirm({
        title: texts.remove.title,
        body: texts.remove.text(reference, clientName, formatMoney(owedAmount(invoice), invoice.currency)),
        tone: 'danger',
        action: texts.remove.action,
        busy: texts.remove.busy,
        onConfirm: () => removeNow({ params: { id } }),
      })
      if (deleted) undoToast(texts.remove.done(reference), () => restore({ params: { id } }))
      return deleted
    },
    [removeNow, restore],
  )
  return {
    markAs,
    remove,
    askToPause,
    resume,
    record,
    copyPayLink,
    remind: setReminding,
    refused: useRefusal('member'),
    dialogs: (
      <>
        {dialogs}
        <LazyMount wanted={recording !== null}>
          <RecordDialog about={recording} onClose={() => setRecording(null)} />
        </LazyMount>
        <LazyMount wanted={reminding !== null}>
          <RemindDialog invoices={reminding} onClose={() => setReminding(null)} />
        </LazyMount>
      </>
    ),
  }
}

/** Copies the link to a page for a client, where clients can reach this server. */
export async function copyLink(make: () => Promise<{ url: string }>, done: string): Promise<void> {
  const reachable = async () => {
    const { payLinks } = await send(accountCalls.server)
    if (!payLinks) throw new Problem('not_allowed', texts.payLink.noAddress)
    return (await make()).url
  }
  try {
    if (await copyLater(reachable())) toast('good', done)
  } catch (error) {
    toast('bad', errorMessage(error))
  }
}

function usePausing(): Pausing {
  const [asked, setAsked] = useState<Invoice | null>(null)
  const { mutate, mutateAsync } = useApiMutation(invoiceCalls.pause, {
    invalidates: pauseInvalidates,
    update: writeInvoice,
    onSuccess: ({ reference, clientEmail, pause }, { body: { scope } }) => {
      if (pause !== null) toast('info', invoiceTexts.pause.stillPaused(clientEmail))
      else toast('good', scope === 'client' ? invoiceTexts.pause.resumedClient(clientEmail) : invoiceTexts.pause.resumed(reference))
    },
    onError: (error) => toast('bad', invoiceTexts.pause.resumeFailed(errorMessage(error))),
  })
  const resume = useCallback(
    ({ _id: id, pause, clientEmail }: Invoice) => {
      if (pause?.scope !== 'client') return mutate({ params: { id }, body: { paused: false, scope: 'invoice' } })
      void confirm({
        title: invoiceTexts.pause.resumeTitle,
        body: invoiceTexts.pause.resumeText(clientEmail),
        action: invoiceTexts.pause.resume,
        busy: invoiceTexts.pause.resumeBusy,
        onConfirm: () => mutateAsync({ params: { id }, body: { paused: false, scope: 'client' } }),
      })
    },
    [mutate, mutateAsync],
  )
  return {
    askToPause: setAsked,
    resume,
    dialogs: (
      <LazyMount wanted={asked !== null}>
        <PauseDialog invoice={asked} onClose={() => setAsked(null)} />
      </LazyMount>
    ),
  }
}

const ActionsContext = createContext<InvoiceActing | null>(null)

export function useInvoiceActions(): InvoiceActing {
  const actions = useContext(ActionsContext)
  if (!actions) throw new Error('useInvoiceActions needs InvoiceActions around it.')
  return actions
}

/** Holds the mutations of all invoices: they must outlive a card that is deleted or scrolls out of the page. */
export function InvoiceActions({ children }: { children: ReactNode }): ReactNode {
  const { dialogs, markAs, remove, askToPause, resume, record, copyPayLink, remind, refused } = useInvoiceActing()
  const actions = useMemo(
    () => ({ markAs, remove, askToPause, resume, record, copyPayLink, remind, refused, dialogs: null }),
    [markAs, remove, askToPause, resume, record, copyPayLink, remind, refused],
  )
  return (
    <ActionsContext value={actions}>
      {children}
      {dialogs}
    </ActionsContext>
  )
}
