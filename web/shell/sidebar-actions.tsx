import { Loader } from '@mantine/core'
import { IconBolt, IconSend2 } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import styles from './sidebar.module.css'
import { texts } from './texts.ts'
import { useTrigger } from './use-trigger.ts'
import { useZapier } from './use-zapier.ts'

/** What can be done from every screen of the dashboard. `onDone`: closes the drawer that it stands in. */
export function SidebarActions({ onDone }: { onDone?: () => void }): ReactNode {
  const trigger = useTrigger()
  const zapier = useZapier(onDone)
  return (
    <ul aria-label={texts.sidebar.actions} className={styles.actions}>
      <li>
        <button
          type="button"
          className={styles.link}
          onClick={() => {
            onDone?.()
            trigger()
          }}
        >
          <IconSend2 size={19} stroke={1.7} aria-hidden />
          {texts.sidebar.trigger}
        </button>
      </li>
      <li className={zapier.known ? undefined : styles.unknown}>
        <button
          type="button"
          className={styles.link}
          aria-disabled={zapier.busy || undefined}
          onClick={() => {
            if (!zapier.busy) zapier.press()
          }}
        >
          {zapier.busy ? <Loader size={19} color="currentColor" aria-hidden /> : <IconBolt size={19} stroke={1.7} aria-hidden />}
          <span aria-live="polite">{zapier.text}</span>
        </button>
        <div role="alert">{zapier.problem !== null && <p className={styles.problem}>{zapier.problem}</p>}</div>
      </li>
    </ul>
  )
}
