import type { ReactNode } from 'react'
import styles from './landing-picture.module.css'
import { texts } from './texts.ts'

/** The due line of one invoice: sent, due, reminded twice, paid. Drawn once from left to right, unless motion is not wanted. */
export function LandingPicture(): ReactNode {
  const { picture } = texts.landing
  const marks = [
    { at: 10, tone: 'unpaid', text: picture.sent },
    { at: 46, tone: 'overdue', text: picture.reminder },
    { at: 61, tone: 'overdue', text: picture.reminder },
    { at: 78, tone: 'paid', text: picture.paid },
  ]
  return (
    <figure className={styles.picture} role="img" aria-label={picture.label}>
      <div className={styles.axis} />
      <div className={styles.done} />
      <div className={styles.due}>
        <span>{picture.dueDate}</span>
      </div>
      {marks.map(({ at, tone, text }, index) => (
        <div key={at} className={styles.mark} data-tone={tone} style={{ left: `${at}%`, animationDelay: `${300 + index * 260}ms` }}>
          <i />
          <span>{text}</span>
        </div>
      ))}
    </figure>
  )
}
