import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { holdReasonOf, type InvoiceHistory } from '#contract/reminders.ts'
import { capitalized, showComing } from '#web/ui/dates.ts'
import styles from './history.module.css'
import { historyTexts } from './history-texts.ts'

const words = historyTexts

interface NextReminderProps {
  history: InvoiceHistory
  zone: string | undefined
  now: Date
}

/** When the invoice is reminded next, or why it is not and where that can be changed. */
export function NextReminder({ history, zone, now }: NextReminderProps): ReactNode {
  const { nextAt, reason } = history
  const coming = nextAt === null ? null : showComing(zone, new Date(nextAt), now)
  return (
    <div className={styles.next}>
      <h3 className={styles.label}>{words.next}</h3>
      {coming !== null && (reason === null || reason === 'paused') ? (
        <>
          <p className={styles.date}>{capitalized(coming)}</p>
          <p className={styles.aside}>
            {[reason === 'paused' ? words.afterPause : [], zone === undefined ? [] : words.zone(zone)].flat().join(' · ')}
          </p>
        </>
      ) : (
        <WhyNot history={history} coming={coming} now={now} />
      )}
    </div>
  )
}

function WhyNot(props: { history: NextReminderProps['history']; coming: string | null; now: Date }): ReactNode {
  const { history, coming, now } = props
  const { nextAt, reason, mails } = history
  if (reason === null) return <p className={styles.why}>{words.noDate}</p>
  const held = reason === 'open_mail' ? mails.find(({ state }) => state === 'held') : undefined
  if (reason === 'open_mail' && !held && coming !== null && nextAt !== null && new Date(nextAt) > now)
    return <p className={styles.why}>{words.beingTried(coming)}</p>
  const { says, to, link } = held ? words.held[holdReasonOf(held.reason)] : words.reasons[reason]
  return (
    <>
      <p className={styles.why}>{says}</p>
      {to !== null && (
        <Link to={to} className={styles.link}>
          {link}
        </Link>
      )}
    </>
  )
}
