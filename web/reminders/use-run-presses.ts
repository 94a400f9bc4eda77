import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { invoiceCalls } from '#contract/invoices.ts'
import { type Run, reminderCalls } from '#contract/reminders.ts'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { invalidate, queryKey, useApiMutation } from '#web/platform/query.ts'
import { toast } from '#web/ui/toast.tsx'
import { texts } from './texts.ts'
import { brief, report } from './toasts.tsx'
import type { FollowedRun } from './use-run.ts'

export interface RunPresses {
  /** What went wrong with the last press, until the next one. */
  trouble: string | null
  /** The run that is asked about before it is cancelled. */
  asked: Run | null
  cancelling: boolean
  cancel: (run: Run) => void
  cancelNow: () => void
  stay: () => void
  /** The run whose failed mails are being written again. */
  retrying: string | null
  retry: (run: Run) => void
}

const invalidates = [reminderCalls.status, reminderCalls.preview, reminderCalls.runs, invoiceCalls.list]

/** What happens when the rest of a run is called off, or its failures are tried again. */
export function useRunPresses(followed: FollowedRun): RunPresses {
  const queries = useQueryClient()
  const [trouble, setTrouble] = useState<string | null>(null)
  const [asked, setAsked] = useState<Run | null>(null)
  const newestBefore = useRef<string | null>(null)
  const newest = () => queries.getQueryData<Run[]>(queryKey(reminderCalls.runs, {}))?.[0] ?? null
  const complain = (message: string) => {
    setTrouble(message)
    toast('bad', brief(message))
  }

  const cancel = useApiMutation(reminderCalls.cancelRun, {
    invalidates: [...invalidates, reminderCalls.run],
    onSuccess: () => {
      setAsked(null)
      toast('good', texts.cancel.done)
    },
    onError: (error) => {
      setAsked(null)
      complain(texts.cancel.failed(errorMessage(error)))
    },
  })
  const retry = useApiMutation(reminderCalls.retryRun, {
    invalidates,
    onSuccess: ({ runId }) => {
      if (runId === null) toast('info', texts.retry.nobody)
      else followed.follow(runId, report)
    },
    onError: async (error) => {
      const refused = error instanceof Problem && error.code === 'mail_refused'
      complain(refused ? texts.retry.refused(error.message) : texts.retry.failed(errorMessage(error)))
      // They were tried although every one was refused: shows what became of them.
      await invalidate(queries, invalidates)
      const made = newest()
      if (refused && made && made._id !== newestBefore.current) followed.follow(made._id)
    },
  })

  return {
    trouble,
    asked,
    cancelling: cancel.isPending,
    cancel: (run) => {
      setTrouble(null)
      setAsked(run)
    },
    cancelNow: () => asked && cancel.mutate({ params: { id: asked._id } }),
    stay: () => setAsked(null),
    retrying: retry.isPending ? retry.variables.params.id : null,
    retry: ({ _id }) => {
      setTrouble(null)
      newestBefore.current = newest()?._id ?? null
      retry.mutate({ params: { id: _id } })
    },
  }
}
