import { type ReactNode, Suspense, useState } from 'react'
import type { User } from '#contract/accounts.ts'
import { lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { AccountCircle } from './account-circle.tsx'

const load = async () => (await import('./open-account-menu.tsx')).OpenAccountMenu
const OpenAccountMenu = lazyDialog(load)

/** The circle with the first letter of the name, and what is behind it from when it is first opened. */
export function AccountMenu({ user }: { user: User }): ReactNode {
  const [wanted, setWanted] = useState(false)
  const circle = (
    <AccountCircle
      name={user.displayName}
      aria-haspopup="menu"
      aria-expanded={false}
      onClick={() => setWanted(true)}
      // Principal points at it will soon want it.
      onPointerEnter={prepare}
      onFocus={prepare}
    />
  )
  if (!wanted) return circle
  return (
    <Suspense fallback={circle}>
      <OpenAccountMenu user={user} onClose={() => setWanted(false)} />
    </Suspense>
  )
}

function prepare(): void {
  load().catch(() => undefined)
}
