import type { ReactNode } from 'react'
import type { Run } from '#contract/reminders.ts'
import styles from './run.module.css'
import { texts } from './texts.ts'

type Count = keyof typeof texts.run.count

/** The numbers of a run, those that are not zero, and those that always stand there. */
export function RunCounts({ run, always }: { run: Run; always: Count[] }): ReactNode {
  const stopped = run.cancelledAt !== null
  const counts: [Count, number][] = [
    ['sent', run.sent],
    ['failed', run.failed],
    ['waiting', run.open - run.retrying - run.held],
    ['retrying', run.retrying],
    ['held', run.held],
    [stopped ? 'cancelled' : 'skipped', run.skipped],
  ]
  return (
    <ul className={styles.counts}>
      {counts
        .filter(([name, n]) => n > 0 || always.includes(name))
        .map(([name, n]) => (
          <li key={name} data-count={n > 0 ? name : undefined}>
            <strong>{n.toLocaleString('en-IN')}</strong> {texts.run.count[name]}
          </li>
        ))}
    </ul>
  )
}
