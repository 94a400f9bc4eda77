import { type ReactNode, Suspense } from 'react'
import { Outlet } from 'react-router'
import { useSession } from '#web/platform/session.ts'
import { AccountPlaceholder, lazyAccount, SiteFrame } from './site-frame.tsx'

const Account = lazyAccount(async () => {
  const [{ Library }, { Account: Controls }] = await Promise.all([import('./library.tsx'), import('./account.tsx')])
  return () => (
    <Library>
      <Controls />
    </Library>
  )
})

/** The frame of the public pages; the account part is loaded only for people who are signed in. */
export default function PublicLayout(): ReactNode {
  const session = useSession()
  return (
    <SiteFrame
      account={
        <Suspense fallback={<AccountPlaceholder name={session?.user.displayName ?? ''} />}>
          <Account />
        </Suspense>
      }
    >
      <Outlet />
    </SiteFrame>
  )
}
