import { integrationCalls } from '#contract/integrations.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { type RunAnswer, reminderCalls } from '#contract/reminders.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { toast } from '#web/ui/toast.tsx'
import { triggerTexts as texts } from './trigger-texts.ts'

interface SendTrigger {
  trigger: () => void
  sending: boolean
  /** What went wrong, until it is tried again. */
  problem: string | null
}

/** Triggers the reminders and says what became of them; `onDone` hears the same in numbers. */
export function useSendTrigger(onDone: (answer: RunAnswer) => void): SendTrigger {
  const said = (error: Error) => `${texts.notDone} ${errorMessage(error)}`
  const send = useApiMutation(integrationCalls.trigger, {
    invalidates: [
      reminderCalls.status,
      reminderCalls.preview,
      reminderCalls.runs,
      reminderCalls.history,
      invoiceCalls.list,
      invoiceCalls.read,
    ],
    onSuccess: (answer) => {
      tell(answer)
      onDone(answer)
    },
    onError: (error) => toast('bad', said(error)),
  })
  return { trigger: () => send.mutate({}), sending: send.isPending, problem: send.isError ? said(send.error) : null }
}

/** What only waits, was left out or was refused is never called a success. */
function tell({ count, failed, retrying }: RunAnswer): void {
  const words = [
    ...(count > 0 ? [texts.sent(count)] : []),
    ...(failed > 0 ? [texts.failedShort(failed)] : []),
    ...(retrying > 0 ? [texts.underWay(retrying)] : []),
  ].join(' ')
  if (failed > 0) toast('bad', words)
  else if (words === '') toast('info', texts.sentNone)
  else toast(count > 0 ? 'good' : 'info', `${texts.done} ${words}`)
}
