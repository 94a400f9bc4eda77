import { zapierCalls } from '#contract/zapier.ts'
import { inWords } from '#web/platform/problem.ts'
import { useCall, useRead } from '#web/platform/query.ts'
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
  const settings = useRead(zapierCalls.subscription)
  const said = (done: string, more: string | null) => {
    toast('good', more === null ? done : `${done} ${more}`)
    onDone?.()
  }
  const failed = (what: string) => (error: Error) => toast('bad', `${what} ${inWords(error)}`)
  const refreshes = [zapierCalls.subscription]
  const subscribe = useCall(zapierCalls.subscribe, {
    refreshes,
    onDone: ({ available }) => said(words.subscribed, available ? null : words.notRegistered),
    onProblem: failed(words.subscribeFailed),
  })
  const unsubscribe = useCall(zapierCalls.unsubscribe, {
    refreshes,
    onDone: () => said(words.unsubscribed, words.paused),
    onProblem: failed(words.unsubscribeFailed),
  })
  if (!settings.data) {
    const busy = settings.isFetching
    return {
      known: settings.isError,
      text: busy ? words.looking : words.unknown,
      busy,
      press: () => void settings.refetch(),
      problem: settings.isError ? words.notKnown(inWords(settings.error)) : null,
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
    problem: way.isError ? `${what} ${inWords(way.error)}` : null,
  }
}
