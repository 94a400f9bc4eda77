import type { ReactNode } from 'react'
import { Link } from 'react-router'
import look from './brand.module.css'
import { texts } from './texts.ts'

/** The mark, not yet due on the left and overdue on the right, and the name. */
export function Brand(): ReactNode {
  return (
    <Link to="/" className={look.brand}>
      <span className={look.mark} aria-hidden />
      {texts.brand}
    </Link>
  )
}
