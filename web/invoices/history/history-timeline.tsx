import { Button } from '@mantine/core'
import {
  IconAlertTriangle,
  IconBan,
  IconCheck,
  IconCircleMinus,
  IconClock,
  IconClockPause,
  IconMoon,
  IconPlayerPause,
  IconRefresh,
} from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { type HistoryMail, holdReasonOf } from '#contract/reminders.ts'
import { adviceFor } from '#web/ui/advice.ts'
import { dateIn, daysBetween, showClock, showComing, showDate } from '#web/ui/dates.ts'
import { NoWrap } from '#web/ui/plain.tsx'
import { EmailDialog } from './email-dialog.tsx'
import styles from './history.module.css'
import { texts } from './texts.ts'
import type { Entry, Outcome, TimelineDay } from './timeline.ts'

/** How many days are shown first, and how many more each time. */
const firstDays = 7
const moreDays = 50

interface HistoryTimelineProps {
  days: TimelineDay[]
  zone: string | undefined
  now: Date
  /** The invoice is neither paid nor deleted. */
  owed: boolean
}

export function HistoryTimeline({ days, zone, now, owed }: HistoryTimelineProps): ReactNode {
  const [shown, setShown] = useState(firstDays)
  const today = dateIn(zone, now)
  const [open, setOpen] = useState<HistoryMail | null>(null)
  return (
    <>
      <h3 className={styles.label}>{texts.heading}</h3>
      <ol className={styles.days}>
        {days.slice(0, shown).map(({ date, since, entries }, day) => (
          <li key={date}>
            <h4 className={styles.day}>{since === date ? dayName(date, today) : texts.span(showDate(since), showDate(date))}</h4>
            <ol className={styles.entries}>
              {entries.map((entry, at) => (
                <HistoryEntry
                  key={entry.kind === 'mail' ? entry.mail._id : 'day'}
                  entry={entry}
                  zone={zone}
                  now={now}
                  advised={owed && day === 0 && at === 0}
                  onOpen={setOpen}
                />
              ))}
            </ol>
          </li>
        ))}
      </ol>
      {days.length > shown && (
        <Button variant="default" onClick={() => setShown(shown + moreDays)}>
          {texts.earlier}
        </Button>
      )}
      <EmailDialog mail={open} zone={zone} onClose={() => setOpen(null)} />
    </>
  )
}

function dayName(date: string, today: string): string {
  const ago = daysBetween(date, today)
  return ago === 0 ? texts.today : ago === 1 ? texts.yesterday : showDate(date)
}

interface HistoryEntryProps {
  entry: Entry
  zone: string | undefined
  now: Date
  /** The latest entry of an unpaid invoice: if it failed, advice is shown. */
  advised: boolean
  onOpen: (mail: HistoryMail) => void
}

function HistoryEntry({ entry, zone, now, advised, onOpen }: HistoryEntryProps): ReactNode {
  if (entry.kind === 'day') {
    const { outcome, words } = entry.decision
    return (
      <li className={styles.entry}>
        <OutcomeIcon outcome={outcome} />
        <OutcomeLabel outcome={outcome} />
        <p className={styles.note}>{words}</p>
      </li>
    )
  }
  const { mail, outcome, at } = entry
  const { subject } = mail
  return (
    <li className={styles.entry}>
      <OutcomeIcon outcome={outcome} />
      <div className={styles.line}>
        <OutcomeLabel outcome={outcome} />
        <span className={styles.aside}>{[showClock(zone, new Date(at)), texts.kinds[mail.kind]].join(' · ')}</span>
      </div>
      {subject !== null && (
        <p className={styles.subject}>
          <NoWrap text={subject} />
        </p>
      )}
      {mail.invoices > 1 && <p className={styles.note}>{texts.several(mail.invoices)}</p>}
      <Explanation mail={mail} />
      {advised && mail.state === 'failed' && <p className={styles.note}>{adviceFor(mail.serverReply ?? '')}</p>}
      <Attempts mail={mail} zone={zone} now={now} />
      {/* The text is rendered at the first attempt; before that there is nothing to show. */}
      {subject !== null && (
        <Button variant="subtle" className={styles.openEmail ?? ''} aria-label={texts.open(subject)} onClick={() => onOpen(mail)}>
          {texts.show}
        </Button>
      )}
    </li>
  )
}

/** The reason of the state, and the mail server's reply. */
function Explanation({ mail }: { mail: HistoryMail }): ReactNode {
  const { state, reason, serverReply } = mail
  const why = reasonOf(mail)
  // If Duely gave up on an email, this field holds our own sentence.
  const ours = state === 'failed' && reason !== 'refused'
  return (
    <>
      {why !== null && <p className={styles.note}>{why}</p>}
      {serverReply !== null && serverReply !== '' && (
        <p className={styles.note}>
          {ours ? (
            serverReply
          ) : (
            <>
              {texts.serverReply} <q className={styles.serverReply}>{serverReply}</q>
            </>
          )}
        </p>
      )}
    </>
  )
}

function reasonOf({ state, reason }: HistoryMail): string | null {
  switch (state) {
    case 'retrying':
      return texts.notAccepted
    case 'held':
      return texts.heldWhy[holdReasonOf(reason)]
    case 'cancelled':
      return texts.stopped
    case 'superseded':
      return texts.notOwed
    case 'queued':
    case 'sending':
    case 'sent':
    case 'failed':
      return null
  }
}

/** The number of attempts, unless the first one succeeded, and the next attempt. */
function Attempts({ mail, zone, now }: { mail: HistoryMail; zone: string | undefined; now: Date }): ReactNode {
  const { attempt, state, nextTryAt } = mail
  const parts = [
    ...(attempt > 1 || (attempt === 1 && state !== 'sent') ? [texts.attempts(attempt)] : []),
    ...(nextTryAt !== null && new Date(nextTryAt) > now ? [texts.nextAttempt(showComing(zone, new Date(nextTryAt), now))] : []),
  ]
  return parts.length > 0 && <p className={styles.aside}>{parts.join(' · ')}</p>
}

const marks = {
  sent: { icon: IconCheck, tone: 'good' },
  failed: { icon: IconAlertTriangle, tone: 'bad' },
  retrying: { icon: IconRefresh, tone: 'warn' },
  held: { icon: IconClockPause, tone: 'warn' },
  waiting: { icon: IconClock, tone: 'quiet' },
  cancelled: { icon: IconBan, tone: 'quiet' },
  superseded: { icon: IconCircleMinus, tone: 'quiet' },
  already_reminded: { icon: IconCircleMinus, tone: 'quiet' },
  paused: { icon: IconPlayerPause, tone: 'quiet' },
  address_held: { icon: IconClockPause, tone: 'warn' },
  left_out: { icon: IconCircleMinus, tone: 'quiet' },
  not_running: { icon: IconMoon, tone: 'warn' },
  added_later: { icon: IconCircleMinus, tone: 'quiet' },
} as const satisfies Record<Outcome, { icon: typeof IconCheck; tone: string }>

function OutcomeIcon({ outcome }: { outcome: Outcome }): ReactNode {
  const { icon: Icon, tone } = marks[outcome]
  return (
    <span className={styles.mark} data-tone={tone} aria-hidden>
      <Icon size={15} stroke={2} />
    </span>
  )
}

function OutcomeLabel({ outcome }: { outcome: Outcome }): ReactNode {
  return (
    <strong className={styles.outcome} data-tone={marks[outcome].tone}>
      {texts.outcomes[outcome]}
    </strong>
  )
}
