import { type ReactNode, useState } from 'react'
import { type ApiKey, integrationCalls } from '#contract/integrations.ts'
import { inWords } from '#web/platform/problem.ts'
import { useCall } from '#web/platform/query.ts'
import { ConfirmDialog } from '#web/ui/confirm-dialog.tsx'
import { FormError } from '#web/ui/form-error.tsx'
import { toast } from '#web/ui/toast.tsx'
import look from './connections.module.css'
import { texts } from './texts.ts'

const words = texts.keys

interface RevokeDialogProps {
  asked: ApiKey | null
  onExpect: (removal: boolean) => void
  onClose: () => void
}

/** Asks before a key opens nothing any more. */
export function RevokeDialog({ asked, onExpect, onClose }: RevokeDialogProps): ReactNode {
  // What it says stays while it fades.
  const [last, setLast] = useState(asked)
  if (asked && asked !== last) setLast(asked)
  const name = last?.name ?? ''
  const revoke = useCall(integrationCalls.removeKey, {
    refreshes: [integrationCalls.keys],
    onDone: () => {
      toast('good', words.revoked(name))
      onClose()
    },
    onProblem: () => onExpect(false),
  })
  return (
    <ConfirmDialog
      opened={asked !== null}
      title={words.question(name)}
      confirm={words.revoke}
      confirmBusy={words.revoking}
      busy={revoke.isPending}
      tone="danger"
      onConfirm={() => {
        if (!last) return
        onExpect(true)
        revoke.mutate({ params: { id: last._id } })
      }}
      onCancel={() => {
        revoke.reset()
        onClose()
      }}
    >
      <p className={look.flush}>{words.consequence}</p>
      <FormError message={revoke.isError ? words.revokeFailed(name, inWords(revoke.error)) : null} />
    </ConfirmDialog>
  )
}
