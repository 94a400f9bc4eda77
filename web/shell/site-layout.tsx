import type { ReactNode } from 'react'
import { Outlet } from 'react-router'
import { Account } from './account.tsx'
import { Library } from './library.tsx'
import { SiteFrame } from './site-frame.tsx'

/** The frame of the product's own screens. */
export default function SiteLayout(): ReactNode {
  return (
    <Library>
      <SiteFrame account={<Account />}>
        <Outlet />
      </SiteFrame>
    </Library>
  )
}
