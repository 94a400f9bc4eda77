import { IconChevronDown } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { type PlannedMail, type ReminderPlan, sequenceCalls } from '#contract/sequences.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { byDay } from '#web/platform/sequences/steps.ts'
import { sequenceTexts } from '#web/platform/sequences/texts.ts'
import { showClock, showDate, showDay } from '#web/ui/dates.ts'
import styles from './reminders.module.css'
import { type ComingEmail, laterThan } from './runs.ts'
import { texts } from './texts.ts'

const t = texts.ahead
const shared = sequenceTexts.changes

/** With more unpaid invoices only the next email of each is shown: their plan takes the server a second. */
const few = 1_000
/** Emails of a day that are shown. */
const mostShown = 100
/** Dots drawn for a day. */
const mostDots = 6

/** Days shown at first. */
const firstDays = 4

/** Every email of the next 30 days. While no run comes, those that would leave after Start; `enabled`: they can be named. */
export function usePlan(lines: number | undefined, { enabled, runs }: { enabled: boolean; runs: boolean }): ReminderPlan | undefined {
  const plan = useApiQuery(sequenceCalls.plan, runs ? {} : { query: { suppose: 'started' } }, {
    enabled: enabled && lines !== undefined && lines > 0 && lines <= few,
    staleTime: 60_000,
  })
  return enabled ? plan.data : undefined
}

/** `The next 30 days: 26 emails to 12 clients` */
export function describePlan({ count, clients }: ReminderPlan): string {
  return shared.title(count, clients)
}

interface AheadProps {
  plan: ReminderPlan
  /** What the emails wait for; null where runs are coming. */
  once: string | null
  /** When the run is that is shown in full, and its emails; null where nothing is scheduled. */
  after: string | null
  shown: readonly ComingEmail[] | null
  zone: string
  now: Date
}

/** The emails of the days after the next run. */
export function Ahead({ plan: { mails, count }, once, after, shown, zone, now }: AheadProps): ReactNode {
  const [all, setAll] = useState(false)
  const days = byDay(after === null ? mails : laterThan(after, mails, shown, zone))
  if (days.length === 0) return null
  return (
    <>
      {once !== null && <p className={styles.once}>{once}</p>}
      {(all ? days : days.slice(0, firstDays)).map(({ date, mails: its }) => (
        <Day key={date} mails={its} zone={zone} now={now} />
      ))}
      {!all && days.length > firstDays && (
        <button type="button" className={styles.more} onClick={() => setAll(true)}>
          {t.all}
        </button>
      )}
      <p className={styles.quiet}>
        {count > mails.length && `${shared.more(count - mails.length)}. `}
        {shared.condition}
      </p>
    </>
  )
}

function Day({ mails, zone, now }: { mails: PlannedMail[]; zone: string; now: Date }): ReactNode {
  const [opened, setOpened] = useState(false)
  const [first] = mails
  if (!first) return null
  const day = showDay(zone, first.at, now)
  const clients = new Set(mails.map(({ clientEmail }) => clientEmail.toLowerCase())).size
  return (
    <details className={styles.folded} onToggle={({ currentTarget }) => setOpened((before) => before || currentTarget.open)}>
      <summary className={styles.fold}>
        <span className={styles.foldLabel}>{day}</span>
        <span className={styles.foldDetail}>
          <span className={styles.dots} aria-hidden>
            {mails.slice(0, mostDots).map(({ invoiceIds, tone }) => (
              <i key={invoiceIds.join()} data-tone={tone} />
            ))}
          </span>
          {t.day(mails.length, clients)}
        </span>
        <IconChevronDown size={20} className={styles.chevron} aria-hidden />
      </summary>
      {opened && (
        <ul className={styles.emails} aria-label={t.list(day)}>
          {mails.slice(0, mostShown).map((mail) => (
            <li key={mail.invoiceIds.join()} className={styles.email}>
              <span className={styles.name}>{mail.clientName}</span>
              <span className={styles.late}>{showClock(zone, new Date(mail.at))}</span>
              <span className={styles.detail}>
                {mail.invoiceIds.length > 1 && `${shared.invoices(mail.invoiceIds.length)}, `}
                {mail.subject}
              </span>
              {mail.sequence !== 'every_day' && (
                <span className={styles.steps}>
                  <em data-tone={mail.tone}>{sequenceTexts.tones[mail.tone]}</em>
                  {t.moved(mail.movedFrom === null ? null : showDate(mail.movedFrom), mail.why)}
                </span>
              )}
            </li>
          ))}
          {mails.length > mostShown && <li className={styles.quiet}>{shared.more(mails.length - mostShown)}</li>}
        </ul>
      )}
    </details>
  )
}
