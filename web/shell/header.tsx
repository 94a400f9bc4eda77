import { Burger, Button, Drawer } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link, NavLink } from 'react-router'
import { useSession } from '#web/platform/session.ts'
import { AccountMenu } from './account-menu.tsx'
import { Brand } from './brand.tsx'
import { Commands } from './commands.tsx'
import look from './header.module.css'
import { sitePages } from './navigation.ts'
import { DashboardLinks } from './sidebar.tsx'
import { texts } from './texts.ts'
import { ThemeToggle } from './theme-toggle.tsx'

/** The head of every page. Which of its two faces shows before the page is alive is decided by theme.js, so nothing jumps. */
export function Header(): ReactNode {
  const session = useSession()
  const [open, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <header className={look.header}>
      <Brand />
      <nav aria-label={texts.mainNavigation} className={look.pages}>
        {sitePages.map(({ to, text }) => (
          <NavLink key={to} to={to} end className={look.page ?? ''}>
            {text}
          </NavLink>
        ))}
      </nav>
      <div className={look.end}>
        {session ? (
          <>
            <Commands />
            <ThemeToggle />
            <AccountMenu user={session.user} />
          </>
        ) : (
          <Button component={Link} to="/signin" variant="default" className={look.signIn}>
            {texts.signIn}
          </Button>
        )}
        <Burger
          className={look.burger}
          opened={open}
          onClick={() => setOpen(!open)}
          size={20}
          lineSize={2}
          aria-label={open ? texts.closeMenu : texts.openMenu}
        />
      </div>
      <Drawer
        opened={open}
        onClose={close}
        title={texts.brand}
        size={300}
        position="right"
        closeButtonProps={{ 'aria-label': texts.closeMenu, size: 44, iconSize: 20 }}
        classNames={{ content: look.drawer ?? '', title: look.drawerTitle ?? '', header: look.drawerHead ?? '' }}
      >
        {session && (
          <>
            <DashboardLinks onFollow={close} />
            <hr className={look.rule} />
          </>
        )}
        <nav aria-label={texts.mainNavigation} className={look.drawerPages}>
          {sitePages.map(({ to, text }) => (
            <NavLink key={to} to={to} end className={look.drawerPage ?? ''} onClick={close}>
              {text}
            </NavLink>
          ))}
        </nav>
      </Drawer>
    </header>
  )
}
