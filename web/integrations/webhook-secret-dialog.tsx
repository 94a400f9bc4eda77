import { type ReactNode, useState } from 'react'
import { integrationCalls } from '#contract/integrations.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { ConfirmDialog, Dialog } from '#web/ui/dialog.tsx'
import { FormError } from '#web/ui/notice.tsx'
import styles from './connections.module.css'
import { SecretOnce } from './secret-once.tsx'
import { texts } from './texts.ts'

const words = texts.webhook.replace

/** Asks before calls are signed with another secret, and then shows it. */
export function WebhookSecretDialog({ opened, id, onClose }: { opened: boolean; id: string; onClose: () => void }): ReactNode {
  const [secret, setSecret] = useState<string | null>(null)
  const replace = useApiMutation(integrationCalls.replaceSecret, { onSuccess: (made) => setSecret(made.secret) })
  return (
    <>
      <ConfirmDialog
        opened={opened && secret === null}
        title={words.title}
        confirm={words.open}
        confirmBusy={words.busy}
        busy={replace.isPending}
        tone="danger"
        onConfirm={() => replace.mutate({ params: { id } })}
        onCancel={() => {
          replace.reset()
          onClose()
        }}
      >
        <p className={styles.flush}>{words.text}</p>
        <FormError message={replace.isError ? words.failed(errorMessage(replace.error)) : null} />
      </ConfirmDialog>
      <Dialog
        opened={opened && secret !== null}
        onClose={onClose}
        onExitTransitionEnd={() => {
          setSecret(null)
          replace.reset()
        }}
        title={texts.webhooks.secret.title}
        size={520}
        closeOnClickOutside={false}
        closeOnEscape={false}
        withCloseButton={false}
      >
        <SecretOnce secret={secret ?? ''} onClose={onClose} />
      </Dialog>
    </>
  )
}
