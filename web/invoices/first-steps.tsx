import { IconCheck } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { mailCalls } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { useApiQuery } from '#web/platform/query.ts'
import styles from './first-steps.module.css'
import { texts } from './texts.ts'

const words = texts.firstSteps

/** What it takes until the first reminder leaves, and what of it is done already. */
export function FirstSteps(): ReactNode {
  const mailbox = useApiQuery(mailCalls.config)
  const status = useApiQuery(reminderCalls.status)
  const { invoice, mailbox: connect, start } = words.list
  // The first is what all of this stands there for: it is still to be done.
  const steps = [
    { ...invoice, to: '/dashboard/new-invoice', done: null },
    { ...connect, to: '/dashboard/mail-settings', done: mailbox.data?.configured ? connect.done : null },
    { ...start, to: '/dashboard/reminder-control', done: status.data?.isActive ? start.done : null },
  ]
  return (
    <section className={styles.steps}>
      <h2 className={styles.title}>{words.title}</h2>
      <ol className={styles.list}>
        {steps.map(({ says, more, to, done }, nth) => (
          <li key={says} className={styles.step} data-done={done !== null || undefined}>
            <span className={styles.mark} aria-hidden>
              {done === null ? nth + 1 : <IconCheck size={18} />}
            </span>
            <div>
              <Link to={to}>{says}</Link>
              <div className={styles.more}>{done ?? more}</div>
            </div>
          </li>
        ))}
      </ol>
    </section>
  )
}
