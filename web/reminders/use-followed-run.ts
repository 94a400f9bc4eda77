import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { invoiceCalls } from '#contract/invoices.ts'
import { type Run, reminderCalls } from '#contract/reminders.ts'
import { invalidate, queryKey, useApiQuery } from '#web/platform/query.ts'
import { isInProgress } from './run-progress.ts'

/** Milliseconds between two polls. */
const whileInProgress = 700
const whileWaiting = 5_000

export interface FollowedRun {
  /** The run in progress, or the last one that was shown. */
  run: Run | null
  inProgress: boolean
  /** Shows a run; `onEnd` is called once, when the run is no longer in progress. */
  follow: (id: string, onEnd?: (run: Run) => void) => void
  dismiss: () => void
}

/** Shows the run in progress until the user closes it, also one that started before the page was loaded. */
export function useFollowedRun(openRunId: string | null): FollowedRun {
  const queries = useQueryClient()
  const [shown, setShown] = useState<string | null>(null)
  const [closed, setClosed] = useState<string | null>(null)
  const [waiting, setWaiting] = useState<{ id: string; onEnd: (run: Run) => void } | null>(null)
  const progressed = useRef<string | null>(null)
  if (openRunId !== null && openRunId !== shown && openRunId !== closed) setShown(openRunId)

  const input = { params: { id: shown ?? '' } }
  const query = useApiQuery(reminderCalls.run, input, {
    enabled: shown !== null,
    staleTime: 0,
    refetchInterval: pollInterval(queries, input),
  })
  const run = shown === null ? null : (query.data ?? null)
  const inProgress = run !== null && isInProgress(run)

  useEffect(() => {
    if (run === null) return
    if (inProgress) {
      progressed.current = run._id
      return
    }
    if (progressed.current === run._id) {
      progressed.current = null
      void invalidate(queries, [reminderCalls.status, reminderCalls.preview, reminderCalls.runs, invoiceCalls.list])
    }
    if (waiting?.id === run._id) {
      setWaiting(null)
      waiting.onEnd(run)
    }
  }, [run, inProgress, waiting, queries])

  return {
    run,
    inProgress,
    follow: (id, onEnd) => {
      setWaiting(onEnd ? { id, onEnd } : null)
      setShown(id)
      void invalidate(queries, [reminderCalls.run], { params: { id } })
    },
    dismiss: () => {
      setClosed(shown)
      setShown(null)
    },
  }
}

function pollInterval(queries: QueryClient, input: object): number | false {
  const known = queries.getQueryState<Run>(queryKey(reminderCalls.run, input))
  if (!known?.data) return known?.status === 'error' ? whileWaiting : whileInProgress
  if (isInProgress(known.data)) return whileInProgress
  return known.data.open > 0 ? whileWaiting : false
}
