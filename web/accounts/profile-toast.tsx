import type { ReactNode } from 'react'
import styles from './profile.module.css'

/** A long sentence cut to what a toast can hold; the whole of it stands on the page. */
export function brief(message: string): ReactNode {
  return <span className={styles.brief}>{message}</span>
}
