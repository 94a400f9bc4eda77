import type { ReactNode } from 'react'
import { Outlet } from 'react-router'
import { Account } from './account.tsx'
import { Library } from './library.tsx'
import { SidebarActions } from './sidebar-actions.tsx'
import { SiteFrame } from './site-frame.tsx'
import { useKeptFocus } from './use-kept-focus.ts'

/** The frame of the product's own screens. */
export default function SiteLayout(): ReactNode {
  useKeptFocus()
  return (
    <Library>
      <SiteFrame account={<Account />} actions={(close) => <SidebarActions onDone={close} />}>
        <Outlet />
      </SiteFrame>
    </Library>
  )
}
