import { Button, Group, Progress } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import styles from './import.module.css'
import { importTexts } from './import-texts.ts'
import type { Importing } from './use-import.ts'

const words = importTexts

/** How far the import is. */
export function ImportRunning({ running, onBusy }: { running: Importing; onBusy: (busy: boolean) => void }): ReactNode {
  const [stopping, setStopping] = useState(false)
  useEffect(() => {
    onBusy(true)
    return () => onBusy(false)
  }, [onBusy])
  const { sent, total, stop } = running
  return (
    <>
      <p className={styles.progress} role="status">
        {words.progress(sent, total)}
      </p>
      <Progress
        value={total === 0 ? 0 : (100 * sent) / total}
        size={8}
        radius="xl"
        classNames={{ root: styles.track ?? '' }}
        aria-label={words.title}
      />
      <Group justify="flex-end" mt={24}>
        <Button
          variant="default"
          data-autofocus
          onClick={() => {
            setStopping(true)
            stop()
          }}
        >
          {stopping ? words.stopping : words.stop}
        </Button>
      </Group>
    </>
  )
}
