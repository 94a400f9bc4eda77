import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/Menu.layer.css'
import { Loader, Menu } from '@mantine/core'
import { IconLayoutDashboard, IconLogout, IconMailCog, IconUserCircle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { User } from '#contract/accounts.ts'
import { useOpening } from '#web/ui/hooks.ts'
import { AccountCircle } from './account-circle.tsx'
import styles from './account-menu.module.css'
import { texts } from './texts.ts'
import { useSignOut } from './use-sign-out.ts'

/** What is behind the circle with the first letter of the name, opened. */
export function OpenAccountMenu({ user }: { user: User; onClose: () => void }): ReactNode {
  const { ref, opened, onChange } = useOpening()
  const { text, leaving, press } = useSignOut()
  return (
    <Menu position="bottom-end" width={260} offset={6} opened={opened} onChange={onChange} withinPortal={false}>
      <Menu.Target>
        <AccountCircle ref={ref} name={user.displayName} />
      </Menu.Target>
      <Menu.Dropdown>
        <div className={styles.person}>
          <div className={styles.name}>{user.displayName}</div>
          <div className={styles.email}>{user.email}</div>
        </div>
        <Menu.Divider />
        <Menu.Item component={Link} to="/dashboard/profile" leftSection={<IconUserCircle size={18} stroke={1.7} />}>
          {texts.myProfile}
        </Menu.Item>
        <Menu.Item component={Link} to="/dashboard" leftSection={<IconLayoutDashboard size={18} stroke={1.7} />}>
          {texts.dashboard}
        </Menu.Item>
        <Menu.Item component={Link} to="/dashboard/mail-settings" leftSection={<IconMailCog size={18} stroke={1.7} />}>
          {texts.emailSettings}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item
          closeMenuOnClick={false}
          aria-disabled={leaving}
          leftSection={leaving ? <Loader size={18} /> : <IconLogout size={18} stroke={1.7} />}
          onClick={press}
        >
          {text}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
