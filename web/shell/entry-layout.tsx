import { type ReactNode, Suspense } from 'react'
import { Outlet } from 'react-router'
import { AccountWaiting, accountLater } from './account-waiting.tsx'
import { Library } from './library.tsx'
import { SiteFrame } from './site-frame.tsx'

const Account = accountLater(async () => (await import('./account.tsx')).Account)

/** The frame of the screens that lead into the product: what only people who are signed in see comes afterwards. */
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
