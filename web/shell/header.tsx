import { IconMenu2, IconX } from '@tabler/icons-react'
import { type ReactNode, useDeferredValue, useRef } from 'react'
import { Link, NavLink } from 'react-router'
import { useSession } from '#web/platform/session.ts'
import button from '#web/ui/plain.module.css'
import { AccountWaiting } from './account-waiting.tsx'
import { Brand } from './brand.tsx'
import styles from './header.module.css'
import { sitePages } from './navigation.ts'
import { DashboardLinks } from './sidebar.tsx'
import { texts } from './texts.ts'

const drawerId = 'menu'

interface HeaderProps {
  account: ReactNode
  /** What the drawer offers to do, beside where to go; it is given the way to close the drawer. */
  actions?: ((close: () => void) => ReactNode) | undefined
}

/**
 * The head of every page; `account` stands in it where somebody is signed in. Which of its two faces shows before the page is alive is
 * decided by theme.js, so nothing jumps.
 */
export function Header({ account, actions }: HeaderProps): ReactNode {
  // As in the dashboard's layout: taken over piece by piece.
  const session = useDeferredValue(useSession(), undefined)
  const drawer = useRef<HTMLDialogElement>(null)
  const close = () => drawer.current?.close()
  return (
    <header className={styles.header}>
      <Brand />
      {/* Not `end` for every page: they are written under an address with a slash at its end. */}
      <nav aria-label={texts.mainNavigation} className={styles.pages}>
        {sitePages.map(({ to, text }) => (
          <NavLink key={to} to={to} end={to === '/'} className={styles.page ?? ''}>
            {text}
          </NavLink>
        ))}
      </nav>
      <div className={styles.end}>
        {session ? (
          account
        ) : (
          <>
            <Link to="/signin" className={`${button.quiet} ${styles.signIn}`}>
              {texts.signIn}
            </Link>
            <AccountWaiting />
          </>
        )}
        <button
          type="button"
          className={styles.burger}
          aria-label={texts.openMenu}
          aria-haspopup="dialog"
          // The browser opens it where the page is not alive yet.
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
            <NavLink key={to} to={to} end={to === '/'} className={styles.drawerPage ?? ''} onClick={close}>
              {text}
            </NavLink>
          ))}
        </nav>
      </dialog>
    </header>
  )
}
