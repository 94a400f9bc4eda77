import type { ReactNode } from 'react'
import { Brand } from './brand.tsx'
import header from './header.module.css'
import page from './page.module.css'
import { texts } from './texts.ts'

/** What stands there for the moment in which the fallback page finds out which screen it is: the header's place is kept. */
export function StartingScreen(): ReactNode {
  return (
    <div aria-busy="true">
      <title>{texts.brand}</title>
      <div className={header.header}>
        <Brand />
      </div>
      <noscript>
        <p className={page.alone}>{texts.noScript}</p>
      </noscript>
    </div>
  )
}
