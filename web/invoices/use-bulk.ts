import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type BulkChange, type BulkResult, type Invoice, invoiceCalls, mostAtOnce } from '#contract/invoices.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { invalidate } from '#web/platform/query.ts'
import { send } from '#web/platform/send.ts'
import { toast, undoToast } from '#web/ui/toast.tsx'
import { bulkTexts } from './bulk-texts.ts'
import { changedByPause } from './changed-by-pause.ts'
import { undoing } from './undoing.ts'

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
  const refresh = () => invalidate(queries, changedByPause)
  const undo = async (before: Invoice[], { do: what }: BulkChange) => {
    try {
      const result = await applyAll(undoing(before, what))
      await refresh()
      tell(result, bulkTexts.undone)
    } catch (error) {
      toast('bad', bulkTexts.undoFailed(errorMessage(error)))
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
    onError: (error) => toast('bad', bulkTexts.failed(errorMessage(error))),
  })
  return { change: (wanted, after) => mutate(wanted, { onSuccess: after }), busy: isPending }
}

function tell({ changed, failed }: BulkResult, done: (count: number) => string): void {
  if (changed.length > 0) toast('good', done(changed.length))
  if (failed[0]) toast('bad', bulkTexts.partly(failed.length, failed[0].message))
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
