import type { ReactNode } from 'react'
import look from './header.module.css'

/** The account's place in the header while what stands there is still being fetched: the circle, and the letter where it is known. */
export function AccountWaiting({ name }: { name?: string }): ReactNode {
  return (
    <span className={look.waiting} aria-hidden>
      {name !== undefined && initialOf(name)}
    </span>
  )
}

/** The first letter of a name; by code points, so that a name may begin with anything. */
export function initialOf(name: string): string {
  return ([...name.trim()][0] ?? '?').toLocaleUpperCase('en')
}
