import {
  IconAdjustmentsHorizontal,
  IconBellRinging,
  IconCash,
  IconChartHistogram,
  IconFilePlus,
  IconLayoutDashboard,
  IconMailCog,
  IconPlugConnected,
  IconTimelineEvent,
  IconUserCircle,
  IconUsers,
} from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link, matchPath, useLocation } from 'react-router'
import { screens } from '#contract/screens.ts'
import styles from './shell.module.css'
import { texts } from './texts.ts'

export const sitePages = [
  { to: screens.landing, text: texts.nav.home },
  { to: screens.features, text: texts.nav.features },
  { to: screens.pricing, text: texts.nav.pricing },
  { to: screens.contact, text: texts.nav.contact },
]

/** The dashboard's screens; `also` is a second address for which the link is active. */
export const dashboardPages = [
  { to: screens.dashboard, text: texts.sidebar.dashboard, icon: IconLayoutDashboard, also: null },
  { to: screens.newInvoice, text: texts.sidebar.createInvoice, icon: IconFilePlus, also: screens.invoice(':id') },
  { to: screens.clients, text: texts.sidebar.clients, icon: IconUsers, also: screens.client(':id') },
  { to: screens.mailSettings, text: texts.sidebar.emailSettings, icon: IconMailCog, also: null },
  { to: screens.reminderControl, text: texts.sidebar.reminderControl, icon: IconBellRinging, also: null },
  { to: screens.sequences, text: texts.sidebar.sequences, icon: IconTimelineEvent, also: screens.sequence(':id') },
  { to: screens.emailTemplates, text: texts.sidebar.emailTemplates, icon: IconAdjustmentsHorizontal, also: null },
  { to: screens.gettingPaid, text: texts.sidebar.gettingPaid, icon: IconCash, also: null },
  { to: screens.insights, text: texts.sidebar.insights, icon: IconChartHistogram, also: null },
  { to: screens.connections, text: texts.sidebar.connections, icon: IconPlugConnected, also: screens.webhook(':id') },
  { to: screens.profile, text: texts.sidebar.profile, icon: IconUserCircle, also: null },
]

/** On a narrow screen the header's drawer takes its place. */
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

export function DashboardLinks({ onFollow }: { onFollow?: () => void }): ReactNode {
  const { pathname } = useLocation()
  return (
    <nav aria-label={texts.sidebar.label} className={styles.sidebarLinks}>
      {dashboardPages.map(({ to, text, icon: Icon, also }) => {
        const active = matchPath(to, pathname) !== null || (also !== null && matchPath(also, pathname) !== null)
        return (
          <Link key={to} to={to} className={styles.sidebarLink} aria-current={active ? 'page' : undefined} onClick={onFollow}>
            <Icon size={19} stroke={1.7} aria-hidden />
            {text}
          </Link>
        )
      })}
    </nav>
  )
}
