import { Button, Group } from '@mantine/core'
import type { ReactNode } from 'react'
import { CopyButton } from '#web/ui/buttons.tsx'
import styles from './connections.module.css'
import { texts } from './texts.ts'
import { useArrivalFocus } from './use-arrival-focus.ts'

const words = texts.webhooks.secret

/** The secret of a webhook, shown this once, and what it is for. */
export function SecretOnce({ secret, onClose }: { secret: string; onClose: () => void }): ReactNode {
  const arrived = useArrivalFocus<HTMLParagraphElement>()
  return (
    <>
      <p ref={arrived} tabIndex={-1} className={styles.arrived}>
        {words.text}
      </p>
      <div className={styles.secret}>
        <code>{secret}</code>
        <CopyButton text={secret} what={words.label} />
      </div>
      <p className={styles.small}>
        {words.check} {words.how}
      </p>
      <Group justify="flex-end" mt={24}>
        <Button onClick={onClose}>{words.kept}</Button>
      </Group>
    </>
  )
}
