import type { ReactNode } from 'react'
import { Account } from './account.tsx'
import { Library } from './library.tsx'

/** The header's part for who is signed in, on a page that has nothing else of the product. */
export function AccountAlone(): ReactNode {
  return (
    <Library>
      <Account />
    </Library>
  )
}
