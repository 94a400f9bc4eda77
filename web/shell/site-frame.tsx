import type { ReactNode } from 'react'
import { Footer } from './footer.tsx'
import { Header } from './header.tsx'
import look from './page.module.css'
import { texts } from './texts.ts'

/** Header, the page, footer. `account` stands in the header of who is signed in. */
export function SiteFrame({ account, children }: { account: ReactNode; children: ReactNode }): ReactNode {
  return (
    <div className={look.site}>
      <a href="#content" className={look.skip}>
        {texts.skip}
      </a>
      <Header account={account} />
      <div className={look.page}>{children}</div>
      <Footer />
    </div>
  )
}
