import { type UseQueryResult, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { CallReply } from '#contract/call.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { type Run, type RunSelection, reminderCalls } from '#contract/reminders.ts'
import { useRefusal } from '#web/platform/account.tsx'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { invalidate, queryKey, useApiMutation } from '#web/platform/query.ts'
import { confirm } from '#web/ui/confirm.tsx'
import { brief, toast } from '#web/ui/toast.tsx'
import { CancelQuestion, StopQuestion } from './dialogs.tsx'
import { emailCount, type FollowedRun } from './runs.ts'
import { texts } from './texts.ts'

export type Dialog = 'none' | 'start' | 'send' | 'nothing-left' | 'needed-to-start' | 'needed-to-send'

interface ReminderActionsOptions {
  configured: boolean
  active: boolean
  preview: UseQueryResult<CallReply<typeof reminderCalls.preview>>
  runs: UseQueryResult<Run[]>
  followed: FollowedRun
}

export interface ReminderActions {
  dialog: Dialog
  /** The dialog of Start Reminders opens with the text of the first email. */
  reading: boolean
  closeDialog: () => void
  /** The error of the last action; `run` is the run that shows the details. */
  trouble: { message: string; run: string | null } | null
  /** The action that is loading the preview before it asks. */
  checking: 'start' | 'send' | null
  starting: boolean
  stopping: boolean
  sending: boolean
  /** Asks with the dialog of Start Reminders. */
  start: (reading?: boolean) => Promise<void>
  stop: () => void
  /** Asks with the dialog of Send Now. */
  sendNow: (reading?: boolean) => Promise<void>
  /** The answer of these dialogs: all that is due, or these invoices. */
  confirm: (action: 'start' | 'send', selection: RunSelection) => void
}

const reminderQueries = [reminderCalls.status, reminderCalls.preview, reminderCalls.runs, invoiceCalls.list]

/** Start Reminders, Stop Reminders and Send Now. */
export function useReminderActions({ configured, active, preview, runs, followed }: ReminderActionsOptions): ReminderActions {
  const queries = useQueryClient()
  const [dialog, setDialog] = useState<Dialog>('none')
  const [trouble, setTrouble] = useState<ReminderActions['trouble']>(null)
  const [checking, setChecking] = useState<ReminderActions['checking']>(null)
  const [reading, setReading] = useState(false)
  const knownRuns = useRef(new Set<string>())
  const mayNotSend = useRefusal(reminderCalls.sendNow.by) !== undefined

  const showError = (message: string) => {
    setTrouble({ message, run: null })
    errorToast(message)
  }
  const handleError = async (error: Error, needed: Dialog, message: string) => {
    const refused = isRefused(error)
    if (error instanceof Problem && error.code === 'mail_not_configured') setDialog(needed)
    else if (!refused) showError(message)
    await invalidate(queries, reminderQueries)
    if (!refused) return
    // Every email was tried and rejected. The run shows why, so no message may cover its buttons.
    // Asked for once more: another refresh at this moment may have cancelled the one above.
    const newest = (await runs.refetch()).data?.[0]
    if (newest && !knownRuns.current.has(newest._id)) {
      setTrouble({ message, run: newest._id })
      followed.follow(newest._id)
    } else showError(message)
  }

  const start = useApiMutation(reminderCalls.start, {
    invalidates: reminderQueries,
    onSuccess: ({ runId }) => {
      toast('good', texts.start.done)
      // Emails on hold are no failure of the start: the run on the screen shows what they wait for.
      if (runId !== null) followed.follow(runId, (run) => run.failed + run.retrying > 0 && toastShortfall(run))
    },
    onError: (error) => {
      const message = isRefused(error) ? texts.start.refused(error.message) : texts.start.failed(errorMessage(error))
      void handleError(error, 'needed-to-start', message)
    },
  })
  const stop = useApiMutation(reminderCalls.stop, {
    invalidates: [...reminderQueries, reminderCalls.run],
    onSuccess: ({ cancelled }) => {
      toast(
        'good',
        <>
          <div>{texts.stop.done}</div>
          {cancelled > 0 && <div>{texts.stop.cancelled(cancelled)}</div>}
        </>,
      )
    },
    onError: (error) => showError(texts.stop.failed(errorMessage(error))),
  })
  const sendNow = useApiMutation(reminderCalls.sendNow, {
    invalidates: reminderQueries,
    onSuccess: ({ runId }) => {
      if (runId === null) toast('info', texts.sendNow.nothingDue)
      else if (knownRuns.current.has(runId)) {
        toast('info', texts.sendNow.same)
        followed.follow(runId)
      } else followed.follow(runId, toastResult)
    },
    onError: (error) => void handleError(error, 'needed-to-send', texts.sendNow.failed(errorMessage(error))),
  })

  /** Loads what is due right now; null, with the error shown, where that fails. */
  const check = async (action: 'start' | 'send') => {
    setTrouble(null)
    setChecking(action)
    const [due, before] = await Promise.all([preview.refetch(), runs.refetch()])
    knownRuns.current = new Set(before.data?.map(({ _id }) => _id))
    setChecking(null)
    if (due.isSuccess) return due.data
    showError(action === 'start' ? texts.start.failed(errorMessage(due.error)) : texts.sendNow.failed(errorMessage(due.error)))
    return null
  }

  return {
    dialog,
    reading,
    closeDialog: () => setDialog('none'),
    trouble,
    checking,
    starting: start.isPending,
    stopping: stop.isPending,
    sending: sendNow.isPending,
    start: async (reading = false) => {
      if (!configured) return setDialog('needed-to-start')
      if (!(await check('start'))) return
      setReading(reading)
      setDialog('start')
    },
    stop: () => {
      setTrouble(null)
      void preview.refetch()
      void confirm({
        title: active ? texts.stop.title : texts.stop.sending,
        body: <StopQuestion active={active} runId={followed.run?._id ?? null} />,
        tone: 'danger',
        action: active ? texts.stop.button : texts.stop.sending,
        busy: texts.stop.busy,
        // The error is shown on the screen.
        onConfirm: () => stop.mutateAsync({}).catch(() => undefined),
      })
    },
    sendNow: async (reading = false) => {
      if (!configured) return setDialog('needed-to-send')
      const due = await check('send')
      if (!due) return
      setReading(reading)
      // By the address, someone comes here who may only look.
      if (due.sendNowMails > 0 || mayNotSend) setDialog('send')
      else if (due.remindedToday > 0) setDialog('nothing-left')
      else sendNow.mutate({})
    },
    confirm: (action, body) => {
      setDialog('none')
      if (action === 'start') start.mutate({ body })
      else sendNow.mutate({ body })
    },
  }
}

/** The mail server rejected every email of the run. */
function isRefused(error: Error): boolean {
  return error instanceof Problem && error.code === 'mail_refused'
}

/** A reply of a mail server may be too long for a toast; the screen shows all of it. */
function errorToast(message: string): void {
  toast('bad', brief(message))
}

/** Emails that wait or are on hold must not be reported as sent. */
function toastResult(run: Run): void {
  const emails = emailCount(run)
  if (run.cancelledAt !== null) return
  if (emails === 0) toast('info', texts.sendNow.allSkipped)
  else if (run.sent === emails) toast('good', texts.sendNow.done(run.sent))
  else toastShortfall(run)
}

function toastShortfall(run: Run): void {
  if (run.cancelledAt === null && run.sent < emailCount(run)) toast('bad', texts.run.shortfall(run))
}

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

  const showNotRetried = async (error: Error) => {
    showError(isRefused(error) ? texts.retry.refused(error.message) : texts.retry.failed(errorMessage(error)))
    await invalidate(queries, reminderQueries)
    // A retry that the mail server rejected has made a run too.
    const made = newest()
    if (isRefused(error) && made && made._id !== newestBefore.current) followed.follow(made._id)
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
    onError: showNotRetried,
  })

  const tryAddress = useApiMutation(reminderCalls.tryAddress, {
    invalidates: reminderQueries,
    onSuccess: ({ runId }) => {
      if (runId === null) toast('info', texts.retry.resumed)
      else followed.follow(runId, toastResult)
    },
    onError: showNotRetried,
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
