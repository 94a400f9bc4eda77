import { type ReactNode, Suspense } from 'react'
import { Outlet } from 'react-router'
import { Library } from './library.tsx'
import { AccountPlaceholder, lazyAccount, SiteFrame } from './site-frame.tsx'

const Account = lazyAccount(async () => (await import('./account.tsx')).Account)

/** The frame of the sign-in screens; the account part is loaded only for people who are signed in. */
export default function EntryLayout(): ReactNode {
  return (
    <Library>
      <SiteFrame
        account={
          <Suspense fallback={<AccountPlaceholder />}>
            <Account />
          </Suspense>
        }
      >
        <Outlet />
      </SiteFrame>
    </Library>
  )
}
