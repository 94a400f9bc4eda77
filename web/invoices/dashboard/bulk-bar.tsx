import { Button, CloseButton } from '@mantine/core'
import { IconCircleCheck, IconPlayerPause, IconSend2, IconTrash } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { type BulkChange, type BulkResult, type Invoice, invoiceCalls, mostAtOnce, owedAmount } from '#contract/invoices.ts'
import { formatSums, sumByCurrency } from '#contract/money.ts'
import { pauseInvalidates } from '#web/invoices/invoice-state.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { useInvoiceActions } from '#web/invoices/use-invoice-acting.tsx'
import { Allowed, useCurrency, useRefusal } from '#web/platform/account.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { invalidate } from '#web/platform/query.ts'
import { patiently, send } from '#web/platform/send.ts'
import { confirm } from '#web/ui/confirm.tsx'
import { showDate } from '#web/ui/dates.ts'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { toast, undoToast } from '#web/ui/toast.tsx'
import styles from './invoice-list.module.css'
import { inverseChanges } from './list-data.ts'
import type { Selection } from './list-state.ts'
import { texts as dashboardTexts } from './texts.ts'

const texts = dashboardTexts.bulk
const BulkPauseDialog = lazyDialog(async () => (await import('#web/invoices/history/pause-dialog.tsx')).BulkPauseDialog)

/** The actions for the selected invoices, at the foot of the window while any is selected. */
export function BulkBar({ selection, shown }: { selection: Selection; shown: number; onClose: () => void }): ReactNode {
  const { selected, clear, selectAll } = selection
  const { change, busy } = useBulkChange()
  const { remind } = useInvoiceActions()
  const [pausing, setPausing] = useState(false)
  const open = selected.filter(({ status }) => status !== 'paid')
  const currency = useCurrency()
  const owed = selected.map((invoice) => ({ currency: invoice.currency, amount: owedAmount(invoice) }))
  const sum = formatSums(sumByCurrency(owed, currency), currency)
  const finish = () => {
    setPausing(false)
    clear()
  }
  const showFailure = (error: unknown) => toast('bad', texts.failed(errorMessage(error)))
  const withOpen = (act: () => void) => () => (open.length === 0 ? toast('info', texts.nothingOpen) : act())
  const markPaid = () => change({ invoices: open, change: { do: 'mark', status: 'paid' }, done: texts.marked }).then(finish, showFailure)
  const pause = (until: string | null) =>
    change({
      invoices: open,
      change: { do: 'pause', until, note: '', promised: false },
      done: (invoices) => texts.paused(invoices, until === null ? null : showDate(until)),
    }).then(finish, showFailure)
  const remove = async () => {
    const deleted = await confirm({
      title: texts.removeTitle(selected.length),
      body: texts.removeText(sum),
      tone: 'danger',
      action: texts.remove,
      busy: invoiceTexts.acting.remove.busy,
      failed: texts.failed,
      onConfirm: () => change({ invoices: selected, change: { do: 'delete' }, done: invoiceTexts.deleted }),
    })
    if (deleted) finish()
  }
  const refused = useRefusal('member')
  return (
    <>
      {selected.length > 0 && (
        <section className={styles.bulkBar} aria-label={texts.label}>
          <p className={styles.bulkCount} role="status">
            <strong>{busy ? texts.working : texts.selected(selected.length)}</strong>
            <span className={styles.bulkSum}>{sum}</span>
          </p>
          {selected.length < shown && (
            <Button variant="subtle" onClick={selectAll} disabled={busy} className={styles.bulkAll ?? ''}>
              {texts.all(shown)}
            </Button>
          )}
          <Allowed by="member">
            <div className={styles.bulkActions}>
              <Button
                variant="default"
                disabled={busy}
                leftSection={<IconSend2 size={18} stroke={1.7} />}
                onClick={withOpen(() => remind(open))}
              >
                {texts.remind}
              </Button>
              <Button
                variant="default"
                disabled={busy}
                leftSection={<IconCircleCheck size={18} stroke={1.7} />}
                onClick={withOpen(() => void markPaid())}
              >
                {texts.paid}
              </Button>
              <Button
                variant="default"
                disabled={busy}
                leftSection={<IconPlayerPause size={18} stroke={1.7} />}
                onClick={withOpen(() => setPausing(true))}
              >
                {texts.pause}
              </Button>
              <Button
                variant="default"
                disabled={busy}
                className={styles.danger ?? ''}
                leftSection={<IconTrash size={18} stroke={1.7} />}
                onClick={() => void remove()}
              >
                {texts.remove}
              </Button>
            </div>
          </Allowed>
          <CloseButton size={44} iconSize={20} aria-label={texts.clear} onClick={clear} disabled={busy} />
          {refused !== undefined && <p className={styles.bulkRefused}>{refused}</p>}
        </section>
      )}
      <LazyMount wanted={pausing}>
        <BulkPauseDialog
          opened={pausing}
          count={open.length}
          paid={selected.length - open.length}
          busy={busy}
          onPause={(until) => void pause(until)}
          onClose={() => setPausing(false)}
        />
      </LazyMount>
    </>
  )
}

interface Wanted {
  invoices: Invoice[]
  change: BulkChange
  /** The message for the number of changed invoices. */
  done: (invoices: number) => string
}

/** Changes several invoices; Undo gives each the state it had before. */
function useBulkChange(): { change: (wanted: Wanted) => Promise<unknown>; busy: boolean } {
  const queries = useQueryClient()
  const refresh = () => invalidate(queries, pauseInvalidates)
  const undo = async (before: Invoice[], { do: what }: BulkChange) => {
    try {
      const { changed, failed } = await sendAll(inverseChanges(before, what))
      await refresh()
      if (changed.length > 0) toast('good', texts.undone(changed.length))
      showFailed(failed)
    } catch (error) {
      toast('bad', invoiceTexts.undoFailed(errorMessage(error)))
    }
  }
  const { mutateAsync, isPending } = useMutation({
    mutationFn: async ({ invoices, change }: Wanted) => {
      const result = await sendAll([{ ids: invoices.map(({ _id }) => _id), change }])
      // The answer holds ids only, so the list must be fetched before it can show the change.
      await refresh()
      return result
    },
    onSuccess: ({ changed, failed }, { invoices, change, done }) => {
      const ids = new Set(changed)
      const before = invoices.filter(({ _id }) => ids.has(_id))
      if (changed.length > 0) undoToast(done(changed.length), () => void undo(before, change))
      showFailed(failed)
    },
  })
  return { change: mutateAsync, busy: isPending }
}

function showFailed(failed: BulkResult['failed']): void {
  if (failed[0]) toast('bad', texts.partly(failed.length, failed[0].message))
}

/** Sends changes one after the other, in calls of at most `mostAtOnce` invoices. */
async function sendAll(changes: { ids: string[]; change: BulkChange }[]): Promise<BulkResult> {
  const all: BulkResult = { changed: [], failed: [] }
  for (const { ids, change } of changes) {
    for (let start = 0; start < ids.length; start += mostAtOnce) {
      const result = await patiently(() => send(invoiceCalls.bulkChange, { body: { ids: ids.slice(start, start + mostAtOnce), change } }))
      all.changed.push(...result.changed)
      all.failed.push(...result.failed)
    }
  }
  return all
}
