import type { ReactNode } from 'react'
import { useSession } from '#web/platform/session.ts'
import { AccountMenu } from './account-menu.tsx'
import { Commands } from './commands.tsx'
import { ThemeToggle } from './theme-toggle.tsx'

/** What the header offers who is signed in. */
export function Account(): ReactNode {
  const session = useSession()
  if (!session) return null
  return (
    <>
      <Commands />
      <ThemeToggle />
      <AccountMenu user={session.user} />
    </>
  )
}
