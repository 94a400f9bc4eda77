import { Button, CloseButton } from '@mantine/core'
import { IconCircleCheck, IconPlayerPause, IconTrash } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { type BulkChange, type BulkResult, type Invoice, invoiceCalls, mostAtOnce } from '#contract/invoices.ts'
import { formatRupees, fromMinor, toMinor } from '#contract/money.ts'
import { pauseInvalidates } from '#web/invoices/invoice-cache.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { invalidate } from '#web/platform/query.ts'
import { send } from '#web/platform/send.ts'
import { showDate } from '#web/ui/dates.ts'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { toast, undoToast } from '#web/ui/toast.tsx'
import styles from './dashboard.module.css'
import { inverseChanges } from './list-data.ts'
import type { Selection } from './list-state.ts'
import { texts } from './texts.ts'

const BulkDeleteDialog = lazyDialog(async () => (await import('./bulk-delete-dialog.tsx')).BulkDeleteDialog)
const BulkPauseDialog = lazyDialog(async () => (await import('#web/invoices/history/pause-dialog.tsx')).BulkPauseDialog)

/** What can be done with the chosen invoices; it stands at the foot of the window for as long as any is chosen. */
export function BulkBar({ selection, shown }: { selection: Selection; shown: number; onClose: () => void }): ReactNode {
  const { selected, clear, selectAll } = selection
  const { change, busy } = useBulk()
  const [asking, setAsking] = useState<'delete' | 'pause' | null>(null)
  const open = selected.filter(({ status }) => status !== 'paid')
  const sum = formatRupees(fromMinor(selected.reduce((total, { amount }) => total + (toMinor(amount) ?? 0), 0)))
  const close = () => setAsking(null)
  const withOpen = (act: () => void) => () => (open.length === 0 ? toast('info', texts.bulk.nothingOpen) : act())
  const finish = () => {
    close()
    clear()
  }
  return (
    <>
      {selected.length > 0 && (
        <section className={styles.bulkBar} aria-label={texts.bulk.label}>
          <p className={styles.bulkCount} role="status">
            <strong>{busy ? texts.bulk.working : texts.bulk.selected(selected.length)}</strong>
            <span className={styles.bulkSum}>{sum}</span>
          </p>
          {selected.length < shown && (
            <Button variant="subtle" onClick={selectAll} disabled={busy} className={styles.bulkAll ?? ''}>
              {texts.bulk.all(shown)}
            </Button>
          )}
          <div className={styles.bulkActions}>
            <Button
              variant="default"
              disabled={busy}
              leftSection={<IconCircleCheck size={18} stroke={1.7} />}
              onClick={withOpen(() => change({ invoices: open, change: { do: 'mark', status: 'paid' }, done: texts.bulk.marked }, finish))}
            >
              {texts.bulk.paid}
            </Button>
            <Button
              variant="default"
              disabled={busy}
              leftSection={<IconPlayerPause size={18} stroke={1.7} />}
              onClick={withOpen(() => setAsking('pause'))}
            >
              {texts.bulk.pause}
            </Button>
            <Button
              variant="default"
              disabled={busy}
              className={styles.danger ?? ''}
              leftSection={<IconTrash size={18} stroke={1.7} />}
              onClick={() => setAsking('delete')}
            >
              {texts.bulk.remove}
            </Button>
          </div>
          <CloseButton size={44} iconSize={20} aria-label={texts.bulk.clear} onClick={clear} disabled={busy} />
        </section>
      )}
      <LazyMount wanted={asking === 'delete'}>
        <BulkDeleteDialog
          opened={asking === 'delete'}
          count={selected.length}
          sum={sum}
          busy={busy}
          onDelete={() => change({ invoices: selected, change: { do: 'delete' }, done: texts.bulk.removed }, finish)}
          onClose={close}
        />
      </LazyMount>
      <LazyMount wanted={asking === 'pause'}>
        <BulkPauseDialog
          opened={asking === 'pause'}
          count={open.length}
          paid={selected.length - open.length}
          busy={busy}
          onPause={(until) =>
            change(
              {
                invoices: open,
                change: { do: 'pause', until, note: '', promised: false },
                done: (count) => texts.bulk.paused(count, until === null ? null : showDate(until)),
              },
              finish,
            )
          }
          onClose={close}
        />
      </LazyMount>
    </>
  )
}

interface Wanted {
  invoices: Invoice[]
  change: BulkChange
  /** What is said once so many are done. */
  done: (count: number) => string
}

interface Bulk {
  change: (wanted: Wanted, after: () => void) => void
  busy: boolean
}

/** Changes many invoices at once, and offers to take it back: each as it was before, whatever it was. */
export function useBulk(): Bulk {
  const queries = useQueryClient()
  const refresh = () => invalidate(queries, pauseInvalidates)
  const undo = async (before: Invoice[], { do: what }: BulkChange) => {
    try {
      const result = await applyAll(inverseChanges(before, what))
      await refresh()
      tell(result, texts.bulk.undone)
    } catch (error) {
      toast('bad', texts.bulk.undoFailed(errorMessage(error)))
    }
  }
  const { mutate, isPending } = useMutation({
    mutationFn: async ({ invoices, change }: Wanted) => {
      const result = await applyAll([{ ids: invoices.map(({ _id }) => _id), change }])
      await refresh()
      return result
    },
    onSuccess: (result, { invoices, change, done }) => {
      const changed = new Set(result.changed)
      if (changed.size > 0)
        undoToast(done(changed.size), () => {
          void undo(
            invoices.filter(({ _id }) => changed.has(_id)),
            change,
          )
        })
      tell({ ...result, changed: [] }, done)
    },
    onError: (error) => toast('bad', texts.bulk.failed(errorMessage(error))),
  })
  return { change: (wanted, after) => mutate(wanted, { onSuccess: after }), busy: isPending }
}

function tell({ changed, failed }: BulkResult, done: (count: number) => string): void {
  if (changed.length > 0) toast('good', done(changed.length))
  if (failed[0]) toast('bad', texts.bulk.partly(failed.length, failed[0].message))
}

/** Sends changes one after the other, as many invoices at once as a call takes. */
async function applyAll(changes: { ids: string[]; change: BulkChange }[]): Promise<BulkResult> {
  const all: BulkResult = { changed: [], failed: [] }
  for (const { ids, change } of changes) {
    for (let start = 0; start < ids.length; start += mostAtOnce) {
      const result = await send(invoiceCalls.bulkChange, { body: { ids: ids.slice(start, start + mostAtOnce), change } })
      all.changed.push(...result.changed)
      all.failed.push(...result.failed)
    }
  }
  return all
}
