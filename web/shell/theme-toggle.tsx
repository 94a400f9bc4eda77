import { ActionIcon, useMantineColorScheme } from '@mantine/core'
import { IconMoon, IconSun } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { texts } from './texts.ts'

/** Light to dark and back; kept in this browser. */
export function ThemeToggle(): ReactNode {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const dark = colorScheme === 'dark'
  return (
    <ActionIcon aria-label={dark ? texts.toLight : texts.toDark} onClick={() => setColorScheme(dark ? 'light' : 'dark')}>
      {dark ? <IconMoon size={20} stroke={1.7} /> : <IconSun size={20} stroke={1.7} />}
    </ActionIcon>
  )
}
