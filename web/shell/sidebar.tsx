import type { ReactNode } from 'react'
import { Link, matchPath, useLocation } from 'react-router'
import { dashboardPages } from './navigation.ts'
import styles from './sidebar.module.css'
import { texts } from './texts.ts'

/** The dashboard's screens beside every one of them, and below them what `children` can do; on a narrow screen both are in the header's drawer instead. */
export function Sidebar({ children }: { children: ReactNode }): ReactNode {
  return (
    <aside className={styles.sidebar}>
      <div className={styles.whole}>
        <DashboardLinks />
        {children}
      </div>
    </aside>
  )
}

/** The links themselves, for the sidebar and for the drawer. */
export function DashboardLinks({ onFollow }: { onFollow?: () => void }): ReactNode {
  const { pathname } = useLocation()
  return (
    <nav aria-label={texts.sidebar.label} className={styles.links}>
      {dashboardPages.map(({ to, text, icon: Icon, also }) => {
        const active = matchPath(to, pathname) !== null || (also !== null && matchPath(also, pathname) !== null)
        return (
          <Link key={to} to={to} className={styles.link} aria-current={active ? 'page' : undefined} onClick={onFollow}>
            <Icon size={19} stroke={1.7} aria-hidden />
            {text}
          </Link>
        )
      })}
    </nav>
  )
}
