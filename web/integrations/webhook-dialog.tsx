import { type ReactNode, useState } from 'react'
import type { Webhook } from '#contract/integrations.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { SecretOnce } from './secret-once.tsx'
import { texts } from './texts.ts'
import { WebhookForm } from './webhook-form.tsx'

const words = texts.webhooks

interface WebhookDialogProps {
  opened: boolean
  /** The one that is changed; null: a new one is added. */
  webhook: Webhook | null
  onClose: () => void
}

/** Adds or changes a webhook; of a new one it shows the secret. */
export function WebhookDialog({ opened, webhook, onClose }: WebhookDialogProps): ReactNode {
  const [busy, setBusy] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const title = secret !== null ? words.secret.title : webhook ? words.dialog.change : words.dialog.title
  // A secret is shown this once: a click beside the dialog must not lose it.
  const stays = secret !== null
  return (
    <Dialog
      opened={opened}
      onClose={busy ? () => undefined : onClose}
      onExitTransitionEnd={() => setSecret(null)}
      title={title}
      size={520}
      closeOnClickOutside={!stays}
      closeOnEscape={!stays}
      withCloseButton={!stays}
    >
      {secret === null ? (
        <WebhookForm webhook={webhook} onBusy={setBusy} onSecret={setSecret} onClose={onClose} />
      ) : (
        <SecretOnce secret={secret} onClose={onClose} />
      )}
    </Dialog>
  )
}
