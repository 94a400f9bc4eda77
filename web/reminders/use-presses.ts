import { type UseQueryResult, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { CallReply } from '#contract/call.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { type Run, reminderCalls } from '#contract/reminders.ts'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { invalidate, queryKey, useApiMutation } from '#web/platform/query.ts'
import { toast } from '#web/ui/toast.tsx'
import { texts } from './texts.ts'
import { brief, report, reportStart, stoppedToast } from './toasts.tsx'
import type { FollowedRun } from './use-run.ts'

export type Dialog = 'none' | 'start' | 'again' | 'stop' | 'needed-to-start' | 'needed-to-send'

interface PressesOptions {
  configured: boolean
  preview: UseQueryResult<CallReply<typeof reminderCalls.preview>>
  runs: UseQueryResult<Run[]>
  followed: FollowedRun
}

export interface Trouble {
  message: string
  run: string | null
}

export interface Presses {
  dialog: Dialog
  closeDialog: () => void
  /** What went wrong with the last press, until the next one; `run` is the run that shows in full what it was. */
  trouble: Trouble | null
  /** Finding out who is due before a dialog opens. */
  looking: 'start' | 'send' | null
  starting: boolean
  stopping: boolean
  sending: boolean
  /** The three buttons. */
  start: () => Promise<void>
  stop: () => void
  sendNow: () => Promise<void>
  /** The same buttons within their dialogs. */
  startNow: () => void
  stopNow: () => void
  sendAgain: () => void
}

const invalidates = [reminderCalls.status, reminderCalls.preview, reminderCalls.runs, invoiceCalls.list]

/** What happens when Start Reminders, Stop Reminders or Send Now is pressed. */
export function usePresses({ configured, preview, runs, followed }: PressesOptions): Presses {
  const queries = useQueryClient()
  const [dialog, setDialog] = useState<Dialog>('none')
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const [looking, setLooking] = useState<Presses['looking']>(null)
  const knownRuns = useRef(new Set<string>())

  const complain = (message: string) => {
    setTrouble({ message, run: null })
    toast('bad', brief(message))
  }
  /** Mails may have been tried although the call failed: shows what became of them. */
  const afterProblem = async (error: Error, said: string) => {
    await invalidate(queries, invalidates)
    const newest = queries.getQueryData<Run[]>(queryKey(reminderCalls.runs, {}))?.[0]
    if (!isRefusal(error)) return
    // The run tells it all; no message covers what can be done about it.
    if (newest && !knownRuns.current.has(newest._id)) {
      setTrouble({ message: said, run: newest._id })
      followed.follow(newest._id)
    } else complain(said)
  }
  const failed = (error: Error, words: { needed: Dialog; said: string }) => {
    if (error instanceof Problem && error.code === 'mail_not_configured') setDialog(words.needed)
    else if (!isRefusal(error)) complain(words.said)
    void afterProblem(error, words.said)
  }

  const start = useApiMutation(reminderCalls.start, {
    invalidates,
    onSuccess: ({ runId }) => {
      toast('good', texts.start.done)
      if (runId !== null) followed.follow(runId, reportStart)
    },
    onError: (error) => {
      failed(error, {
        needed: 'needed-to-start',
        said: isRefusal(error) ? texts.start.refused(error.message) : texts.start.failed(errorMessage(error)),
      })
    },
  })
  const stop = useApiMutation(reminderCalls.stop, {
    invalidates: [...invalidates, reminderCalls.run],
    onSuccess: ({ cancelled }) => {
      setDialog('none')
      stoppedToast(cancelled)
    },
    onError: (error) => {
      setDialog('none')
      complain(texts.stop.failed(errorMessage(error)))
    },
  })
  const sendNow = useApiMutation(reminderCalls.sendNow, {
    invalidates,
    onSuccess: ({ runId }) => {
      if (runId === null) toast('info', texts.sendNow.nobody)
      else if (knownRuns.current.has(runId)) {
        toast('info', texts.sendNow.same)
        followed.follow(runId)
      } else followed.follow(runId, report)
    },
    onError: (error) => failed(error, { needed: 'needed-to-send', said: texts.sendNow.failed(errorMessage(error)) }),
  })

  /** Who is due at this very moment; null, and said so, where that cannot be found out. */
  const look = async (press: 'start' | 'send') => {
    setTrouble(null)
    setLooking(press)
    const [due, before] = await Promise.all([preview.refetch(), runs.refetch()])
    knownRuns.current = new Set(before.data?.map(({ _id }) => _id))
    setLooking(null)
    if (due.isSuccess) return due.data
    complain(press === 'start' ? texts.start.failed(errorMessage(due.error)) : texts.sendNow.failed(errorMessage(due.error)))
    return null
  }

  return {
    dialog,
    closeDialog: () => setDialog('none'),
    trouble,
    looking,
    starting: start.isPending,
    stopping: stop.isPending,
    sending: sendNow.isPending,
    start: async () => {
      if (!configured) setDialog('needed-to-start')
      else if (await look('start')) setDialog('start')
    },
    stop: () => {
      setTrouble(null)
      // How many mails wait is read anew while the question stands there.
      void preview.refetch()
      setDialog('stop')
    },
    sendNow: async () => {
      if (!configured) return setDialog('needed-to-send')
      const due = await look('send')
      if (due && due.remindedToday > 0) setDialog('again')
      else if (due) sendNow.mutate({})
    },
    startNow: () => {
      setDialog('none')
      start.mutate({})
    },
    stopNow: () => stop.mutate({}),
    sendAgain: () => {
      setDialog('none')
      sendNow.mutate({})
    },
  }
}

/** The mail server took none of the mails, which were tried all the same. */
function isRefusal(error: Error): boolean {
  return error instanceof Problem && error.code === 'mail_refused'
}
