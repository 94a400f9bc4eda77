import { IconCheck } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { mailCalls } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { useRead } from '#web/platform/query.ts'
import look from './first-steps.module.css'
import { texts } from './texts.ts'

const words = texts.firstSteps

/** What it takes until the first reminder leaves, and what of it is done already. */
export function FirstSteps(): ReactNode {
  const mailbox = useRead(mailCalls.config)
  const status = useRead(reminderCalls.status)
  const steps = [
    { ...words.list.invoice, to: '/dashboard/new-invoice', isDone: false },
    { ...words.list.mailbox, to: '/dashboard/mail-settings', isDone: mailbox.data?.configured ?? false },
    { ...words.list.start, to: '/dashboard/reminder-control', isDone: status.data?.isActive ?? false },
  ]
  return (
    <section className={look.steps}>
      <h2 className={look.title}>{words.title}</h2>
      <ol className={look.list}>
        {steps.map(({ says, more, done, to, isDone }, nth) => (
          <li key={says} className={look.step} data-done={isDone || undefined}>
            <span className={look.mark} aria-hidden>
              {isDone ? <IconCheck size={18} /> : nth + 1}
            </span>
            <div>
              <Link to={to}>{says}</Link>
              <div className={look.more}>{isDone ? done : more}</div>
            </div>
          </li>
        ))}
      </ol>
    </section>
  )
}
