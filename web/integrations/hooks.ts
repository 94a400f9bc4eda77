import { useQueryClient } from '@tanstack/react-query'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { billingCalls } from '#contract/billing.ts'
import type { Call } from '#contract/call.ts'
import { integrationCalls } from '#contract/integrations.ts'
import { type Plan, planThatLifts } from '#contract/plans.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { zapierCalls } from '#contract/zapier.ts'
import { invalidate, useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { confirm } from '#web/ui/confirm.tsx'
import { toast } from '#web/ui/toast.tsx'

/** The account's plan and the one that includes webhooks and API keys; null if its own does, or while loading: the server decides. */
export function useMissingApiAccess(): { state: string; lifts: Plan } | null {
  const { data } = useApiQuery(billingCalls.subscription)
  if (!data || data.entitlements.abilities.includes('apiAccess')) return null
  return { state: data.state, lifts: planThatLifts('apiAccess') }
}

/** Milliseconds between refetches while a URL is being verified. */
const often = 3_000

/** The webhooks; refetched while a URL is being verified. */
export function useWebhooks() {
  const [verifying, setVerifying] = useState(false)
  const webhooks = useApiQuery(integrationCalls.webhooks, {}, { refetchInterval: verifying ? often : false })
  const waits = webhooks.data?.some(({ pausedBecause }) => pausedBecause === 'unverified') ?? false
  if (waits !== verifying) setVerifying(waits)
  return webhooks
}

/** Focuses content that replaces a form in a dialog, because the pressed button is gone. It needs `tabIndex={-1}`. */
export function useArrivalFocus<E extends HTMLElement>(): RefObject<E | null> {
  const element = useRef<E>(null)
  useEffect(() => element.current?.focus({ preventScroll: true }), [])
  return element
}

/** Refetches connections and webhooks when the Zapier subscription changes elsewhere, for example in the sidebar. */
export function useZapierChanges(): void {
  const queries = useQueryClient()
  const subscribed = useApiQuery(zapierCalls.subscription).data?.sendReminders
  const before = useRef(subscribed)
  useEffect(() => {
    if (before.current !== undefined && before.current !== subscribed)
      void invalidate(queries, [integrationCalls.connections, integrationCalls.webhooks])
    before.current = subscribed
  }, [subscribed, queries])
}

/** The account's time zone; undefined, which means the browser's, while loading. */
export function useZone(): string | undefined {
  return useApiQuery(reminderCalls.status).data?.timezone
}

interface RemovalOptions<T> {
  call: typeof integrationCalls.disconnect | typeof integrationCalls.removeKey
  invalidates: Call[]
  length: number | undefined
  texts: {
    question: (name: string) => string
    consequence: (item: T) => string
    action: string
    busy: string
    done: (name: string) => string
    failed: (name: string, reason: string) => string
  }
}

interface Removal<T> {
  /** For the element around the list, with `tabIndex={-1}`: a removed item takes its button along, so the list takes the focus. */
  around: RefObject<HTMLDivElement | null>
  remove: (item: T) => void
}

/** Asks, then removes an app or an API key from its list. */
export function useRemoval<T extends { _id: string; name: string }>({ call, invalidates, length, texts }: RemovalOptions<T>): Removal<T> {
  const around = useRef<HTMLDivElement>(null)
  const expected = useRef(false)
  const before = useRef(length)
  useEffect(() => {
    if (before.current === length) return
    before.current = length
    if (expected.current) around.current?.focus({ preventScroll: true })
    expected.current = false
  }, [length])
  const { mutateAsync } = useApiMutation(call, {
    invalidates,
    onError: () => {
      expected.current = false
    },
  })
  const remove = async (item: T) => {
    const removed = await confirm({
      title: texts.question(item.name),
      body: texts.consequence(item),
      tone: 'danger',
      action: texts.action,
      busy: texts.busy,
      failed: (reason) => texts.failed(item.name, reason),
      onConfirm: () => {
        expected.current = true
        return mutateAsync({ params: { id: item._id } })
      },
    })
    if (removed) toast('good', texts.done(item.name))
  }
  return { around, remove: (item) => void remove(item) }
}
