import { ActionIcon, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { IconMoon, IconSun } from '@tabler/icons-react'
import { type ComponentProps, type ReactNode, Suspense, useState } from 'react'
import type { User } from '#contract/accounts.ts'
import { useSession } from '#web/platform/session.ts'
import { lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { initialOf } from '#web/ui/plain.tsx'
import { Commands } from './commands.tsx'
import styles from './shell.module.css'
import { texts } from './texts.ts'

/** The header's controls for people who are signed in. `where` and `bell`: on the dashboard's screens. */
export function Account({ where, bell }: { where?: ReactNode; bell?: ReactNode }): ReactNode {
  const session = useSession()
  if (!session) return null
  return (
    <>
      {where}
      <Commands />
      {bell}
      <ThemeToggle />
      <AccountMenu user={session.user} />
    </>
  )
}

const load = async () => (await import('./open-account-menu.tsx')).OpenAccountMenu
const OpenAccountMenu = lazyDialog(load)

/** The avatar, and its menu, which is loaded on first use. */
function AccountMenu({ user }: { user: User }): ReactNode {
  const [wanted, setWanted] = useState(false)
  const circle = (
    <AccountCircle
      name={user.displayName}
      aria-haspopup="menu"
      aria-expanded={false}
      onClick={() => setWanted(true)}
      // Preload.
      onPointerEnter={prepare}
      onFocus={prepare}
    />
  )
  if (!wanted) return circle
  return (
    <Suspense fallback={circle}>
      <OpenAccountMenu user={user} circle={(ref) => <AccountCircle ref={ref} name={user.displayName} />} onClose={() => setWanted(false)} />
    </Suspense>
  )
}

function prepare(): void {
  load().catch(() => undefined)
}

function AccountCircle({ name, ...button }: ComponentProps<'button'> & { name: string }): ReactNode {
  return (
    <UnstyledButton {...button} className={styles.target} aria-label={texts.accountMenu(name)}>
      <span className={styles.circle}>{initialOf(name)}</span>
    </UnstyledButton>
  )
}

function ThemeToggle(): ReactNode {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const dark = colorScheme === 'dark'
  return (
    <ActionIcon aria-label={dark ? texts.toLight : texts.toDark} onClick={() => setColorScheme(dark ? 'light' : 'dark')}>
      {dark ? <IconMoon size={20} stroke={1.7} /> : <IconSun size={20} stroke={1.7} />}
    </ActionIcon>
  )
}
