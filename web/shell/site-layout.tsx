import type { ReactNode } from 'react'
import { Outlet } from 'react-router'
import { Footer } from './footer.tsx'
import { Header } from './header.tsx'
import look from './page.module.css'
import { texts } from './texts.ts'

/** Header, the page, footer. */
export default function SiteLayout(): ReactNode {
  return (
    <div className={look.site}>
      <a href="#content" className={look.skip}>
        {texts.skip}
      </a>
      <Header />
      <div className={look.page}>
        <Outlet />
      </div>
      <Footer />
    </div>
  )
}
