import { type ReactNode, useState } from 'react'
import type { Call } from '#contract/call.ts'
import type { integrationCalls } from '#contract/integrations.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { ConfirmDialog } from '#web/ui/confirm-dialog.tsx'
import { FormError } from '#web/ui/form-error.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './connections.module.css'

interface RemovalDialogProps<T> {
  /** What would lose its access; null: the dialog is closed. */
  asked: T | null
  call: typeof integrationCalls.disconnect | typeof integrationCalls.removeKey
  /** The reads that it makes out of date. */
  invalidates: Call[]
  words: {
    question: (name: string) => string
    consequence: (asked: T) => string
    confirm: string
    busy: string
    done: (name: string) => string
    failed: (name: string, why: string) => string
  }
  onExpect: (removal: boolean) => void
  onClose: () => void
}

/** Asks before an application, or a key, opens nothing any more. */
export function RemovalDialog<T extends { _id: string; name: string }>(props: RemovalDialogProps<T>): ReactNode {
  const { asked, call, invalidates, words, onExpect, onClose } = props
  // What it says stays while it fades.
  const [last, setLast] = useState(asked)
  if (asked && asked !== last) setLast(asked)
  const name = last?.name ?? ''
  const remove = useApiMutation(call, {
    invalidates,
    onSuccess: () => {
      toast('good', words.done(name))
      onClose()
    },
    onError: () => onExpect(false),
  })
  return (
    <ConfirmDialog
      opened={asked !== null}
      title={words.question(name)}
      confirm={words.confirm}
      confirmBusy={words.busy}
      busy={remove.isPending}
      tone="danger"
      onConfirm={() => {
        if (!last) return
        onExpect(true)
        remove.mutate({ params: { id: last._id } })
      }}
      onCancel={() => {
        remove.reset()
        onClose()
      }}
    >
      <p className={styles.flush}>{last && words.consequence(last)}</p>
      <FormError message={remove.isError ? words.failed(name, errorMessage(remove.error)) : null} />
    </ConfirmDialog>
  )
}
