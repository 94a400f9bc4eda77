import { UnstyledButton } from '@mantine/core'
import type { ComponentProps, ReactNode } from 'react'
import { initialOf } from '#web/ui/plain.tsx'
import styles from './account-menu.module.css'
import { texts } from './texts.ts'

/** The circle with the first letter of a name; it opens the menu. */
export function AccountCircle({ name, ...button }: ComponentProps<'button'> & { name: string }): ReactNode {
  return (
    <UnstyledButton {...button} className={styles.target} aria-label={texts.accountMenu(name)}>
      <span className={styles.circle}>{initialOf(name)}</span>
    </UnstyledButton>
  )
}
