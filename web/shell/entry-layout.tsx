import { type ReactNode, Suspense } from 'react'
import { Outlet } from 'react-router'
import { Library } from './library.tsx'
import { AccountWaiting, accountLater, SiteFrame } from './site-frame.tsx'

const Account = accountLater(async () => (await import('./account.tsx')).Account)

/** The frame of the sign-in screens; the account part is loaded only for people who are signed in. */
export default function EntryLayout(): ReactNode {
  return (
    <Library>
      <SiteFrame
        account={
          <Suspense fallback={<AccountWaiting />}>
            <Account />
          </Suspense>
        }
      >
        <Outlet />
      </SiteFrame>
    </Library>
  )
}
