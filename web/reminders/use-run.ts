import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { invoiceCalls } from '#contract/invoices.ts'
import { type Run, reminderCalls } from '#contract/reminders.ts'
import { invalidate, queryKey, useApiQuery } from '#web/platform/query.ts'
import { isMoving } from './run-state.ts'

/** Milliseconds between two looks at a run that is under way, and at one whose mails only wait. */
const often = 700
const seldom = 5_000

export interface FollowedRun {
  /** The run to show: the one under way, or the last one that was seen. */
  run: Run | null
  moving: boolean
  /** Shows a run; `tell` hears once how it stands when nothing of it is moving any more. */
  follow: (id: string, tell?: (run: Run) => void) => void
  dismiss: () => void
}

/** Follows the run that is under way, also one that was so before the page was loaded, until it is closed by hand. */
export function useRun(openRunId: string | null): FollowedRun {
  const queries = useQueryClient()
  const [shown, setShown] = useState<string | null>(null)
  const [closed, setClosed] = useState<string | null>(null)
  const [waiting, setWaiting] = useState<{ id: string; tell: (run: Run) => void } | null>(null)
  const moved = useRef<string | null>(null)
  if (openRunId !== null && openRunId !== shown && openRunId !== closed) setShown(openRunId)

  const input = { params: { id: shown ?? '' } }
  const read = useApiQuery(reminderCalls.run, input, { enabled: shown !== null, staleTime: 0, refetchInterval: pause(queries, input) })
  const run = shown === null ? null : (read.data ?? null)
  const moving = run !== null && isMoving(run)

  useEffect(() => {
    if (run === null) return
    if (moving) {
      moved.current = run._id
      return
    }
    if (moved.current === run._id) {
      moved.current = null
      void invalidate(queries, [reminderCalls.status, reminderCalls.preview, reminderCalls.runs, invoiceCalls.list])
    }
    if (waiting?.id === run._id) {
      setWaiting(null)
      waiting.tell(run)
    }
  }, [run, moving, waiting, queries])

  return {
    run,
    moving,
    follow: (id, tell) => {
      setWaiting(tell ? { id, tell } : null)
      setShown(id)
      void invalidate(queries, [reminderCalls.run], { params: { id } })
    },
    dismiss: () => {
      setClosed(shown)
      setShown(null)
    },
  }
}

/** How long to wait until the next look. */
function pause(queries: QueryClient, input: object): number | false {
  const known = queries.getQueryState<Run>(queryKey(reminderCalls.run, input))
  if (!known?.data) return known?.status === 'error' ? seldom : often
  if (isMoving(known.data)) return often
  return known.data.open > 0 ? seldom : false
}
