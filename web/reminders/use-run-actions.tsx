import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { type Run, reminderCalls } from '#contract/reminders.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { invalidate, queryKey, useApiMutation } from '#web/platform/query.ts'
import { confirm } from '#web/ui/confirm.tsx'
import { toast } from '#web/ui/toast.tsx'
import { CancelQuestion } from './dialogs.tsx'
import type { FollowedRun } from './runs.ts'
import { texts } from './texts.ts'
import { errorToast, isRefused, reminderQueries, toastResult } from './use-reminder-actions.tsx'

interface RunActions {
  /** The error of the last action. */
  trouble: string | null
  cancel: (run: Run) => void
  /** The run that is being retried. */
  retrying: string | null
  retry: (run: Run) => void
  /** The address that is being tried again. */
  trying: string | null
  tryAddress: (clientEmail: string) => void
}

/** Cancelling a run, and retrying its failed emails. `active`: daily reminders are on. */
export function useRunActions(followed: FollowedRun, active: boolean): RunActions {
  const queries = useQueryClient()
  const [trouble, setTrouble] = useState<string | null>(null)
  const newestBefore = useRef<string | null>(null)
  const newest = () => queries.getQueryData<Run[]>(queryKey(reminderCalls.runs, {}))?.[0] ?? null
  const showError = (message: string) => {
    setTrouble(message)
    errorToast(message)
  }

  const cancel = useApiMutation(reminderCalls.cancelRun, {
    invalidates: [...reminderQueries, reminderCalls.run],
    onSuccess: () => {
      toast('good', texts.cancel.done)
    },
    onError: (error) => showError(texts.cancel.failed(errorMessage(error))),
  })
  const retry = useApiMutation(reminderCalls.retryRun, {
    invalidates: reminderQueries,
    onSuccess: ({ runId }) => {
      if (runId === null) toast('info', texts.retry.nothingLeft)
      else followed.follow(runId, toastResult)
    },
    onError: async (error) => {
      showError(isRefused(error) ? texts.retry.refused(error.message) : texts.retry.failed(errorMessage(error)))
      await invalidate(queries, reminderQueries)
      // A retry that the mail server rejected has made a run too.
      const made = newest()
      if (isRefused(error) && made && made._id !== newestBefore.current) followed.follow(made._id)
    },
  })

  const tryAddress = useApiMutation(reminderCalls.tryAddress, {
    invalidates: reminderQueries,
    onSuccess: ({ runId }) => {
      if (runId === null) toast('info', texts.retry.resumed)
      else followed.follow(runId, toastResult)
    },
    onError: async (error) => {
      showError(isRefused(error) ? texts.retry.refused(error.message) : texts.retry.failed(errorMessage(error)))
      await invalidate(queries, reminderQueries)
      const made = newest()
      if (isRefused(error) && made && made._id !== newestBefore.current) followed.follow(made._id)
    },
  })

  return {
    trouble,
    cancel: ({ _id }) => {
      setTrouble(null)
      void confirm({
        title: texts.cancel.title,
        body: <CancelQuestion active={active} runId={_id} />,
        tone: 'danger',
        action: texts.cancel.button,
        busy: texts.cancel.busy,
        cancel: texts.cancel.keep,
        // The error is shown on the screen.
        onConfirm: () => cancel.mutateAsync({ params: { id: _id } }).catch(() => undefined),
      })
    },
    retrying: retry.isPending ? retry.variables.params.id : null,
    retry: ({ _id }) => {
      setTrouble(null)
      newestBefore.current = newest()?._id ?? null
      retry.mutate({ params: { id: _id } })
    },
    trying: tryAddress.isPending ? tryAddress.variables.body.clientEmail : null,
    tryAddress: (clientEmail) => {
      setTrouble(null)
      newestBefore.current = newest()?._id ?? null
      tryAddress.mutate({ body: { clientEmail } })
    },
  }
}
