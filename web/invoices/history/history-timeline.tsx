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
import { MailDialog } from './email-dialog.tsx'
import styles from './history.module.css'
import { texts } from './texts.ts'
import type { Entry, Outcome, TimelineDay } from './timeline.ts'

/** How many days stand there at first, and how many more at a press. */
const first = 7
const step = 50

interface HistoryTimelineProps {
  days: TimelineDay[]
  zone: string | undefined
  now: Date
  /** The invoice is neither paid nor deleted. */
  owed: boolean
}

/** Day by day what went out about an invoice, or why nothing did; each mail can be looked at. */
export function HistoryTimeline({ days, zone, now, owed }: HistoryTimelineProps): ReactNode {
  const [shown, setShown] = useState(first)
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
              {entries.map((entry, nth) => (
                <HistoryEntry
                  key={entry.kind === 'mail' ? entry.mail._id : 'day'}
                  entry={entry}
                  zone={zone}
                  now={now}
                  advised={owed && day === 0 && nth === 0}
                  onOpen={setOpen}
                />
              ))}
            </ol>
          </li>
        ))}
      </ol>
      {days.length > shown && (
        <Button variant="default" onClick={() => setShown(shown + step)}>
          {texts.earlier}
        </Button>
      )}
      <MailDialog mail={open} zone={zone} onClose={() => setOpen(null)} />
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
  /** It is the last that happened to what is still owed: where it failed, what can be done about it is said. */
  advised: boolean
  onOpen: (mail: HistoryMail) => void
}

/** A mail, or a day on which it was decided that none goes out. */
export function HistoryEntry({ entry, zone, now, advised, onOpen }: HistoryEntryProps): ReactNode {
  if (entry.kind === 'day') {
    const { outcome, words: sentence } = entry.decision
    return (
      <li className={styles.entry}>
        <OutcomeIcon outcome={outcome} />
        <OutcomeWord outcome={outcome} />
        <p className={styles.note}>{sentence}</p>
      </li>
    )
  }
  const { mail, outcome, at } = entry
  const { subject } = mail
  return (
    <li className={styles.entry}>
      <OutcomeIcon outcome={outcome} />
      <div className={styles.line}>
        <OutcomeWord outcome={outcome} />
        <span className={styles.aside}>{[showClock(zone, new Date(at)), texts.kinds[mail.kind]].join(' · ')}</span>
      </div>
      {subject !== null && (
        <p className={styles.subject}>
          <NoWrap text={subject} />
        </p>
      )}
      {mail.invoices > 1 && <p className={styles.note}>{texts.several(mail.invoices)}</p>}
      <WhatBecame mail={mail} />
      {advised && mail.state === 'failed' && <p className={styles.note}>{adviceFor(mail.serverReply ?? '')}</p>}
      <Tries mail={mail} zone={zone} now={now} />
      {/* Its words are settled when it is first tried: before that there is nothing to show. */}
      {subject !== null && (
        <Button variant="subtle" className={styles.openEmail ?? ''} aria-label={texts.open(subject)} onClick={() => onOpen(mail)}>
          {texts.show}
        </Button>
      )}
    </li>
  )
}

/** Why it stands as it does, with what the mail server answered. */
function WhatBecame({ mail }: { mail: HistoryMail }): ReactNode {
  const { state, reason, serverReply } = mail
  const why = reasonOf(mail)
  // A mail that was given up has our own sentence in the server's place.
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
              {texts.said} <q className={styles.serverReply}>{serverReply}</q>
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
      return texts.stoppedFirst
    case 'superseded':
      return texts.notOwed
    case 'queued':
    case 'sending':
    case 'sent':
    case 'failed':
      return null
  }
}

/** How often it was tried, where that says something, and when it is tried again. */
function Tries({ mail, zone, now }: { mail: HistoryMail; zone: string | undefined; now: Date }): ReactNode {
  const { attempt, state, nextTryAt } = mail
  const parts = [
    ...(attempt > 1 || (attempt === 1 && state !== 'sent') ? [texts.tries(attempt)] : []),
    ...(nextTryAt !== null && new Date(nextTryAt) > now ? [texts.nextTry(showComing(zone, new Date(nextTryAt), now))] : []),
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
  not_running: { icon: IconMoon, tone: 'warn' },
  added_later: { icon: IconCircleMinus, tone: 'quiet' },
} as const satisfies Record<Outcome, { icon: typeof IconCheck; tone: string }>

/** The sign of an outcome, on the line of the timeline. */
export function OutcomeIcon({ outcome }: { outcome: Outcome }): ReactNode {
  const { icon: Icon, tone } = marks[outcome]
  return (
    <span className={styles.mark} data-tone={tone} aria-hidden>
      <Icon size={15} stroke={2} />
    </span>
  )
}

/** The same in a word. */
export function OutcomeWord({ outcome }: { outcome: Outcome }): ReactNode {
  return (
    <strong className={styles.outcome} data-tone={marks[outcome].tone}>
      {texts.outcomes[outcome]}
    </strong>
  )
}
