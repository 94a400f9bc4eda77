import { Button, Group } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { CopyButton } from '#web/ui/buttons.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { ApiKeyForm } from './api-key-form.tsx'
import styles from './connections.module.css'
import { texts } from './texts.ts'
import { useArrivalFocus } from './use-arrival-focus.ts'

const words = texts.keys

/** Makes a key, and shows it this once. */
export function ApiKeyDialog({ opened, onClose }: { opened: boolean; onClose: () => void }): ReactNode {
  const [busy, setBusy] = useState(false)
  const [key, setKey] = useState<string | null>(null)
  // It is shown this once: a click beside the dialog must not lose it.
  const stays = key !== null
  return (
    <Dialog
      opened={opened}
      onClose={busy ? () => undefined : onClose}
      onExitTransitionEnd={() => setKey(null)}
      title={stays ? words.once.title : words.dialog.title}
      size={520}
      closeOnClickOutside={!stays}
      closeOnEscape={!stays}
      withCloseButton={!stays}
    >
      {key === null ? <ApiKeyForm onBusy={setBusy} onKey={setKey} onClose={onClose} /> : <KeyOnce apiKey={key} onClose={onClose} />}
    </Dialog>
  )
}

function KeyOnce({ apiKey, onClose }: { apiKey: string; onClose: () => void }): ReactNode {
  const arrived = useArrivalFocus<HTMLParagraphElement>()
  const call = `curl -H "Authorization: Bearer ${apiKey}" ${window.location.origin}/api/me`
  return (
    <>
      <p ref={arrived} tabIndex={-1} className={styles.arrived}>
        {words.once.text}
      </p>
      <div className={styles.secret}>
        <code>{apiKey}</code>
        <CopyButton text={apiKey} what={words.once.label} />
      </div>
      <p className={styles.small}>{words.once.try}</p>
      <div className={styles.secret}>
        <pre>
          <code>{call}</code>
        </pre>
        <CopyButton text={call} what={words.once.command} />
      </div>
      <Group justify="flex-end" mt={24}>
        <Button onClick={onClose}>{words.once.kept}</Button>
      </Group>
    </>
  )
}
