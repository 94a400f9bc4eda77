import { type ReactNode, useEffect, useRef } from 'react'
import { useLocation } from 'react-router'
import { Footer } from './footer.tsx'
import { Header } from './header.tsx'
import styles from './page.module.css'
import { texts } from './texts.ts'

interface SiteFrameProps {
  /** What stands in the header of who is signed in. */
  account: ReactNode
  /** What the header's drawer offers to do. */
  actions?: (close: () => void) => ReactNode
  children: ReactNode
}

/** Header, the page, footer. */
export function SiteFrame({ account, actions, children }: SiteFrameProps): ReactNode {
  useFocusOnPage()
  return (
    <div className={styles.site}>
      <a href="#content" className={styles.skip}>
        {texts.skip}
      </a>
      <Header account={account} actions={actions} />
      <div className={styles.page}>{children}</div>
      <Footer />
    </div>
  )
}

/** A page that is gone to has the focus, as if it had been loaded: whoever goes by keyboard or by ear goes on from its beginning. */
function useFocusOnPage(): void {
  const { pathname } = useLocation()
  const last = useRef(pathname)
  useEffect(() => {
    if (last.current === pathname) return
    last.current = pathname
    const page = document.getElementById('content')
    // Where a field of the page took the focus already, or a dialog that was opened while the page was fetched, it stays there.
    if (!page || page.contains(document.activeElement) || document.activeElement?.closest('[role="dialog"]')) return
    page.tabIndex = -1
    page.focus({ preventScroll: true })
  }, [pathname])
}
