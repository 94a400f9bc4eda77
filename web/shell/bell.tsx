import { ActionIcon } from '@mantine/core'
import { IconBell } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useAttention } from '#web/platform/attention.ts'
import styles from './shell.module.css'
import { texts } from './texts.ts'

/** Opens the list of what needs the owner, and shows its number. */
export function Bell(): ReactNode {
  const { count, open } = useAttention()
  return (
    <ActionIcon className={styles.bell ?? ''} aria-label={texts.notices.bell(count)} aria-haspopup="dialog" onClick={open}>
      <IconBell size={20} stroke={1.7} />
      {count > 0 && (
        <span className={styles.bellCount} aria-hidden>
          {count > 99 ? '99+' : count}
        </span>
      )}
    </ActionIcon>
  )
}
