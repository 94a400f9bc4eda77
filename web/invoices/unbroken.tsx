import type { ReactNode } from 'react'
import styles from './unbroken.module.css'

/** Words in which no line ends inside a reference such as INV-0001. */
export function unbroken(words: string): ReactNode {
  const found = /[^\s-]{1,12}-\d{1,12}\.?/.exec(words)
  if (found === null) return words
  const [reference] = found
  return (
    <>
      {words.slice(0, found.index)}
      <span className={styles.unbroken}>{reference}</span>
      {unbroken(words.slice(found.index + reference.length))}
    </>
  )
}
