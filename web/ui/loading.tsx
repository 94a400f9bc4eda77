import { Skeleton, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './loading.module.css'

interface LoadingProps {
  /** What is being waited for, in words. */
  text: string
  /** The shape of what is coming; a few lines where left out. */
  children?: ReactNode
}

/** What stands there while something loads: the words, on the shape of what is coming, so that nothing moves when it comes. */
export function Loading({ text, children }: LoadingProps): ReactNode {
  return (
    <div role="status" className={styles.loading}>
      <p className={children === undefined ? styles.text : styles.over}>{text}</p>
      <div aria-hidden>
        {children ?? (
          <Stack gap={12}>
            <Skeleton height={20} width="46%" />
            <Skeleton height={20} width="72%" />
            <Skeleton height={20} width="60%" />
          </Stack>
        )}
      </div>
    </div>
  )
}
