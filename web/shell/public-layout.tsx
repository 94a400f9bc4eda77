import { type ReactNode, Suspense } from 'react'
import { Outlet } from 'react-router'
import { useSession } from '#web/platform/session.ts'
import { AccountWaiting, accountLater } from './account-waiting.tsx'
import { SiteFrame } from './site-frame.tsx'

const AccountAlone = accountLater(async () => (await import('./account-alone.tsx')).AccountAlone)

/** The frame of the public pages, which load as little as they can: what only people who are signed in see comes afterwards. */
export default function PublicLayout(): ReactNode {
  const session = useSession()
  return (
    <SiteFrame
      account={
        <Suspense fallback={<AccountWaiting name={session?.user.displayName ?? ''} />}>
          <AccountAlone />
        </Suspense>
      }
    >
      <Outlet />
    </SiteFrame>
  )
}
