import type { ReactNode } from 'react'
import { Link } from 'react-router'
import styles from './brand.module.css'
import { texts } from './texts.ts'

/** The mark, not yet due on the left and overdue on the right, and the name. */
export function Brand(): ReactNode {
  return (
    <Link to="/" className={styles.brand}>
      <span className={styles.mark} aria-hidden />
      {texts.brand}
    </Link>
  )
}
