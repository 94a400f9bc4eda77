import {
  IconAdjustmentsHorizontal,
  IconBellRinging,
  IconCash,
  IconChartHistogram,
  IconFilePlus,
  IconLayoutDashboard,
  IconMailCog,
  IconMenu2,
  IconPlugConnected,
  IconTimelineEvent,
  IconUserCircle,
  IconUsers,
  IconX,
} from '@tabler/icons-react'
import { type ComponentType, type LazyExoticComponent, lazy, type ReactNode, useDeferredValue, useEffect, useRef } from 'react'
import { Link, matchPath, NavLink, useLocation } from 'react-router'
import { screens } from '#contract/screens.ts'
import { pageMeta } from '#web/platform/page-meta.tsx'
import { useSession } from '#web/platform/session.ts'
import button from '#web/ui/plain.module.css'
import { initialOf } from '#web/ui/plain.tsx'
import styles from './shell.module.css'
import header from './shell.module.css'
import page from './shell.module.css'
import { texts } from './texts.ts'

interface SiteFrameProps {
  /** The account part of the header. */
  account: ReactNode
  /** The actions in the header's drawer. */
  actions?: (close: () => void) => ReactNode
  children: ReactNode
}

export function SiteFrame({ account, actions, children }: SiteFrameProps): ReactNode {
  useFocusOnPage()
  return (
    <div className={styles.site}>
      <a href="#content" className={styles.skip}>
        {texts.skip}
      </a>
      <Header account={account} actions={actions} />
      <div className={styles.body}>{children}</div>
      <Footer />
    </div>
  )
}

/** After navigation the page receives the focus, so that keyboard and screen reader users start at its beginning. */
function useFocusOnPage(): void {
  const { pathname } = useLocation()
  const last = useRef(pathname)
  useEffect(() => {
    if (last.current === pathname) return
    last.current = pathname
    const page = document.getElementById('content')
    // Keep the focus on a field of the page, or in a dialog that was opened while the page loaded.
    if (!page || page.contains(document.activeElement) || document.activeElement?.closest('[role="dialog"]')) return
    page.tabIndex = -1
    page.focus({ preventScroll: true })
  }, [pathname])
}

const drawerId = 'menu'

interface HeaderProps {
  account: ReactNode
  /** The drawer's actions, given the function that closes it. */
  actions?: ((close: () => void) => ReactNode) | undefined
}

/** Before hydration theme.js decides which of its two states is visible, so that nothing shifts. */
export function Header({ account, actions }: HeaderProps): ReactNode {
  // Deferred, so that hydration does not block input.
  const session = useDeferredValue(useSession(), undefined)
  const drawer = useRef<HTMLDialogElement>(null)
  const close = () => drawer.current?.close()
  return (
    <header className={styles.header}>
      <Brand />
      {/* `end` only for the home page: prerendered addresses end with a slash. */}
      <nav aria-label={texts.mainNavigation} className={styles.pages}>
        {sitePages.map(({ to, text }) => (
          <NavLink key={to} to={to} end={to === screens.landing} className={styles.page ?? ''} {...needsSupport(to)}>
            {text}
          </NavLink>
        ))}
      </nav>
      <div className={styles.end}>
        {session ? (
          account
        ) : (
          <>
            <Link to={screens.signIn} className={`${button.quiet} ${styles.signIn}`}>
              {texts.signIn}
            </Link>
            <AccountPlaceholder />
          </>
        )}
        <button
          type="button"
          className={styles.burger}
          aria-label={texts.openMenu}
          aria-haspopup="dialog"
          // Opens the drawer before hydration.
          {...{ command: 'show-modal', commandfor: drawerId }}
          onClick={(event) => {
            event.preventDefault()
            drawer.current?.showModal()
          }}
        >
          <IconMenu2 size={22} stroke={1.7} aria-hidden />
        </button>
      </div>
      <dialog ref={drawer} id={drawerId} className={styles.drawer} aria-label={texts.menu} closedby="any">
        <div className={styles.drawerHead}>
          <span className={styles.drawerTitle}>{texts.brand}</span>
          <button
            type="button"
            className={styles.close}
            aria-label={texts.closeMenu}
            {...{ command: 'close', commandfor: drawerId }}
            onClick={close}
          >
            <IconX size={20} stroke={1.7} aria-hidden />
          </button>
        </div>
        {session && (
          <>
            <DashboardLinks onFollow={close} />
            {actions?.(close)}
            <hr className={styles.rule} />
          </>
        )}
        <nav aria-label={texts.mainNavigation} className={styles.drawerPages}>
          {sitePages.map(({ to, text }) => (
            <NavLink
              key={to}
              to={to}
              end={to === screens.landing}
              className={styles.drawerPage ?? ''}
              onClick={close}
              {...needsSupport(to)}
            >
              {text}
            </NavLink>
          ))}
        </nav>
      </dialog>
    </header>
  )
}

/** A placeholder of the avatar while the account part loads. */
export function AccountPlaceholder({ name }: { name?: string }): ReactNode {
  return (
    <span className={styles.waiting} aria-hidden>
      {name !== undefined && initialOf(name)}
    </span>
  )
}

/** If the account part fails to load, a link to the dashboard takes its place. */
export function lazyAccount(load: () => Promise<ComponentType>): LazyExoticComponent<ComponentType> {
  return lazy(async () => ({ default: await load().catch(() => DashboardLink) }))
}

function DashboardLink(): ReactNode {
  return (
    <Link to={screens.dashboard} reloadDocument className={button.quiet}>
      {texts.dashboard}
    </Link>
  )
}

/** The link to /contact is hidden where the operator set no address: by an attribute that the server fills in, so that it works without a script. */
function needsSupport(to: string): { 'data-support'?: string } {
  return to === screens.contact ? { 'data-support': pageMeta('support') } : {}
}

/** Links to addresses that the operator has not set are hidden. */
export function Footer(): ReactNode {
  return (
    <footer className={styles.footer}>
      {/* The page may have been prerendered last year. */}
      <span suppressHydrationWarning>{texts.footer.copyright(new Date().getFullYear())}</span>
      <span>{texts.footer.love}</span>
      <nav aria-label={texts.footer.label} className={styles.footerLinks}>
        <Link to={screens.features} className={styles.footerLink}>
          {texts.nav.features}
        </Link>
        <Link to={screens.pricing} className={styles.footerLink}>
          {texts.nav.pricing}
        </Link>
        <Link to={screens.privacy} className={styles.footerLink}>
          {texts.footer.privacy}
        </Link>
        <a href={pageMeta('terms')} target="_blank" rel="noopener noreferrer" className={styles.footerLink}>
          {texts.footer.terms}
        </a>
        <a href={pageMeta('support')} target="_blank" rel="noopener noreferrer" className={styles.footerLink}>
          {texts.footer.support}
        </a>
      </nav>
    </footer>
  )
}

function Brand(): ReactNode {
  return (
    <Link to={screens.landing} className={styles.brand}>
      <span className={styles.mark} aria-hidden />
      {texts.brand}
    </Link>
  )
}

/** Shown by the fallback page until the router knows the screen; keeps the header's place. */
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

function DashboardLinks({ onFollow }: { onFollow?: () => void }): ReactNode {
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
