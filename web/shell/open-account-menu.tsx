import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/Menu.layer.css'
import { Loader, Menu } from '@mantine/core'
import { IconBuildingStore, IconLayoutDashboard, IconLogout, IconMailCog, IconPlus, IconUserCircle } from '@tabler/icons-react'
import type { ReactNode, RefObject } from 'react'
import { Link } from 'react-router'
import type { User } from '#contract/accounts.ts'
import { businessCalls } from '#contract/business.ts'
import { screens, withQuery } from '#contract/screens.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { openBusiness, readBusiness } from '#web/platform/session.ts'
import { useOpening } from '#web/ui/hooks.ts'
import { useSignOut } from './actions.tsx'
import styles from './shell.module.css'
import { texts } from './texts.ts'

interface OpenAccountMenuProps {
  user: User
  /** The menu's button. */
  circle: (ref: RefObject<HTMLButtonElement | null>) => ReactNode
  onClose: () => void
}

export function OpenAccountMenu({ user, circle }: OpenAccountMenuProps): ReactNode {
  const { ref, opened, onChange } = useOpening()
  const { text, leaving, press } = useSignOut()
  return (
    <Menu position="bottom-end" width={260} offset={6} opened={opened} onChange={onChange} withinPortal={false}>
      <Menu.Target>{circle(ref)}</Menu.Target>
      <Menu.Dropdown>
        <div className={styles.person}>
          <div className={styles.name}>{user.displayName}</div>
          <div className={styles.email}>{user.email}</div>
        </div>
        <Menu.Divider />
        <Menu.Item component={Link} to={screens.profile} leftSection={<IconUserCircle size={18} stroke={1.7} />}>
          {texts.myProfile}
        </Menu.Item>
        <Menu.Item component={Link} to={screens.dashboard} leftSection={<IconLayoutDashboard size={18} stroke={1.7} />}>
          {texts.dashboard}
        </Menu.Item>
        <Menu.Item component={Link} to={screens.mailSettings} leftSection={<IconMailCog size={18} stroke={1.7} />}>
          {texts.emailSettings}
        </Menu.Item>
        <Menu.Item component={Link} to={screens.business} leftSection={<IconBuildingStore size={18} stroke={1.7} />}>
          {texts.business}
        </Menu.Item>
        <Businesses />
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

/** Only for someone with several businesses. */
function Businesses(): ReactNode {
  const list = useApiQuery(businessCalls.list).data ?? []
  const others = list.filter(({ _id }) => _id !== readBusiness())
  if (list.length < 2) return null
  return (
    <>
      <Menu.Divider />
      <Menu.Label>{texts.switchBusiness}</Menu.Label>
      {others.map(({ _id, name }) => (
        <Menu.Item
          key={_id}
          leftSection={<IconBuildingStore size={18} stroke={1.7} />}
          onClick={() => openBusiness(_id, screens.dashboard)}
        >
          {name}
        </Menu.Item>
      ))}
      <Menu.Item component={Link} to={withQuery(screens.business, { add: '' })} leftSection={<IconPlus size={18} stroke={1.7} />}>
        {texts.addBusiness}
      </Menu.Item>
    </>
  )
}
