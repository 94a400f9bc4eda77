import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { HistoryMail } from '#contract/reminders.ts'
import { dateIn, daysBetween, showDate } from '#web/ui/dates.ts'
import styles from './history.module.css'
import { HistoryEntry } from './history-entry.tsx'
import { historyTexts } from './history-texts.ts'
import { MailDialog } from './mail-dialog.tsx'
import type { TimelineDay } from './timeline.ts'

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
      <h3 className={styles.label}>{historyTexts.heading}</h3>
      <ol className={styles.days}>
        {days.slice(0, shown).map(({ date, since, entries }, day) => (
          <li key={date}>
            <h4 className={styles.day}>{since === date ? dayName(date, today) : historyTexts.span(showDate(since), showDate(date))}</h4>
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
          {historyTexts.earlier}
        </Button>
      )}
      <MailDialog mail={open} zone={zone} onClose={() => setOpen(null)} />
    </>
  )
}

function dayName(date: string, today: string): string {
  const ago = daysBetween(date, today)
  return ago === 0 ? historyTexts.today : ago === 1 ? historyTexts.yesterday : showDate(date)
}
