import { type RefObject, useEffect, useRef } from 'react'
import type { Call } from '#contract/call.ts'
import type { integrationCalls } from '#contract/integrations.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { confirm } from '#web/ui/confirm.tsx'
import { toast } from '#web/ui/toast.tsx'

interface RemovalOptions<T> {
  call: typeof integrationCalls.disconnect | typeof integrationCalls.removeKey
  invalidates: Call[]
  /** The length of the list on screen. */
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
  /** For the element around the list, with `tabIndex={-1}`: the button that removes an item disappears with it, so the list takes the focus. */
  around: RefObject<HTMLDivElement | null>
  /** Asks, then removes. */
  remove: (item: T) => void
}

/** Removes an application, or a key, from its list. */
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
