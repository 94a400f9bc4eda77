import { zapierCalls } from '#contract/zapier.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { toast } from '#web/ui/toast.tsx'
import { texts } from './texts.ts'

const words = texts.zapier

interface Zapier {
  /** False until it is known whether somebody is subscribed, or that it cannot be found out. */
  known: boolean
  /** What the button says: the way there or back, or what is under way. */
  text: string
  /** Nothing can be pressed: it is being looked up or changed. */
  busy: boolean
  press: () => void
  /** What went wrong, until the next press. */
  problem: string | null
}

/** Whether what happens is delivered to Zapier, and the way to change that. `onDone` hears of a change. */
export function useZapier(onDone?: () => void): Zapier {
  const settings = useApiQuery(zapierCalls.subscription)
  const said = (done: string, more: string | null) => {
    toast('good', more === null ? done : `${done} ${more}`)
    onDone?.()
  }
  const failed = (what: string) => (error: Error) => toast('bad', `${what} ${errorMessage(error)}`)
  const invalidates = [zapierCalls.subscription]
  const subscribe = useApiMutation(zapierCalls.subscribe, {
    invalidates,
    onSuccess: ({ available }) => said(words.subscribed, available ? null : words.notRegistered),
    onError: failed(words.subscribeFailed),
  })
  const unsubscribe = useApiMutation(zapierCalls.unsubscribe, {
    invalidates,
    onSuccess: () => said(words.unsubscribed, words.paused),
    onError: failed(words.unsubscribeFailed),
  })
  if (!settings.data) {
    const busy = settings.isFetching
    return {
      known: settings.isError,
      text: busy ? words.looking : words.unknown,
      busy,
      press: () => void settings.refetch(),
      problem: settings.isError ? words.notKnown(errorMessage(settings.error)) : null,
    }
  }
  const subscribed = settings.data.sendReminders
  const [way, text, busyText, what] = subscribed
    ? [unsubscribe, words.unsubscribe, words.unsubscribing, words.unsubscribeFailed]
    : [subscribe, words.subscribe, words.subscribing, words.subscribeFailed]
  return {
    known: true,
    text: way.isPending ? busyText : text,
    busy: way.isPending,
    press: () => way.mutate({}),
    problem: way.isError ? `${what} ${errorMessage(way.error)}` : null,
  }
}
