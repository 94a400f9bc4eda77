import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useNavigate } from 'react-router'
import { integrationCalls, type Webhook } from '#contract/integrations.ts'
import { screens } from '#contract/screens.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { invalidate, useApiMutation } from '#web/platform/query.ts'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './connections.module.css'
import { texts } from './texts.ts'

const words = texts.webhook.remove

interface WebhookRemoveDialogProps {
  opened: boolean
  webhook: Webhook
  onRemoved: () => void
  onClose: () => void
}

/** Asks before an address is called no longer. */
export function WebhookRemoveDialog({ opened, webhook, onRemoved, onClose }: WebhookRemoveDialogProps): ReactNode {
  const navigate = useNavigate()
  const queries = useQueryClient()
  const remove = useApiMutation(integrationCalls.removeWebhook, {
    onSuccess: () => {
      toast('good', words.done)
      onRemoved()
      void invalidate(queries, [integrationCalls.webhooks])
      // In the place of this address: there is nothing to come back to.
      void navigate(screens.connections, { replace: true })
    },
  })
  return (
    <ConfirmDialog
      opened={opened}
      title={words.title}
      confirm={words.open}
      confirmBusy={words.busy}
      busy={remove.isPending}
      tone="danger"
      onConfirm={() => remove.mutate({ params: { id: webhook._id } })}
      onCancel={() => {
        remove.reset()
        onClose()
      }}
    >
      <p className={styles.flush}>{words.text}</p>
      {webhook.kind === 'zapier' && <p className={styles.small}>{words.zap}</p>}
      <FormError message={remove.isError ? words.failed(errorMessage(remove.error)) : null} />
    </ConfirmDialog>
  )
}
