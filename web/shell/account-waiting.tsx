import { type ComponentType, type LazyExoticComponent, lazy, type ReactNode } from 'react'
import { Link } from 'react-router'
import button from '#web/ui/plain.module.css'
import { initialOf } from '#web/ui/plain.tsx'
import styles from './header.module.css'
import { texts } from './texts.ts'

/** The account's place in the header while what stands there is still being fetched: the circle, and the letter where it is known. */
export function AccountWaiting({ name }: { name?: string }): ReactNode {
  return (
    <span className={styles.waiting} aria-hidden>
      {name !== undefined && initialOf(name)}
    </span>
  )
}

/** What stands in the account's place, fetched when somebody is signed in. Where it does not arrive, the page stays, with the way to the dashboard. */
export function accountLater(load: () => Promise<ComponentType>): LazyExoticComponent<ComponentType> {
  return lazy(async () => ({ default: await load().catch(() => WayIn) }))
}

function WayIn(): ReactNode {
  return (
    <Link to="/dashboard" reloadDocument className={button.quiet}>
      {texts.dashboard}
    </Link>
  )
}
