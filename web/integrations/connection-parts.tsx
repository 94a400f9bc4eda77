import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import { billingCalls } from '#contract/billing.ts'
import type { Call } from '#contract/call.ts'
import { applicationScheme, integrationCalls, type Webhook } from '#contract/integrations.ts'
import { type Plan, planThatLifts } from '#contract/plans.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { zapierCalls } from '#contract/zapier.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { invalidate, useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { confirm } from '#web/ui/confirm.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { Pill, type PillTone } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import { texts } from './texts.ts'

/** Items shown before "Show all". */
const few = 10

export function ShowAll<T>({ list, children }: { list: T[]; children: (shown: T[]) => ReactNode }): ReactNode {
  const [all, setAll] = useState(false)
  return (
    <>
      {children(all ? list : list.slice(0, few))}
      {!all && list.length > few && (
        <Button variant="default" mt={16} onClick={() => setAll(true)}>
          {texts.showAll(list.length)}
        </Button>
      )}
    </>
  )
}

const t = texts.zapier

/** Resumes deliveries to Zapier. */
export function SubscribeButton(): ReactNode {
  const subscribe = useApiMutation(zapierCalls.subscribe, {
    invalidates: [zapierCalls.subscription, integrationCalls.connections, integrationCalls.webhooks],
    onSuccess: () => toast('good', t.subscribed),
  })
  return (
    <>
      <BusyButton variant="default" busy={subscribe.isPending} busyText={t.subscribing} onClick={() => subscribe.mutate({})}>
        {t.subscribe}
      </BusyButton>
      <FormError message={subscribe.isError ? t.failed(errorMessage(subscribe.error)) : null} />
    </>
  )
}

const tones = {
  on: 'paid',
  by_hand: 'unpaid',
  failing: 'overdue',
  unverified: 'unpaid',
  zapier_unsubscribed: 'unpaid',
  handed_over: 'unpaid',
} satisfies Record<string, PillTone>

export function WebhookState({ webhook }: { webhook: Webhook }): ReactNode {
  const state = webhook.pausedBecause ?? 'on'
  return <Pill tone={tones[state]}>{texts.webhooks.states[state]}</Pill>
}

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

/**
 * An absolute address the browser may be sent to: http, https, a path of this origin, or an app's own scheme in reverse domain form. null
 * for any other, `javascript:` among them.
 */
export function webAddress(text: string, origin: string): string | null {
  try {
    const address = new URL(text, origin)
    if (text === '') return null
    return ['https:', 'http:'].includes(address.protocol) || applicationScheme.test(address.protocol) ? address.href : null
  } catch {
    return null
  }
}
