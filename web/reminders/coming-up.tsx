import { Button } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import type { CallReply } from '#contract/call.ts'
import { formatRupees } from '#contract/money.ts'
import type { PreviewLine, reminderCalls } from '#contract/reminders.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { dateIn, daysBetween, lateness, showDate } from '#web/ui/dates.ts'
import { Panel } from '#web/ui/panel.tsx'
import styles from './coming-up.module.css'
import { comingMoment, inSentence } from './moments.ts'
import { texts } from './texts.ts'

/** How many stand there at first, and how many more at a press. */
const first = 50
const step = 500

interface ComingUpProps {
  preview: UseQueryResult<CallReply<typeof reminderCalls.preview>>
  zone: string
}

/** Of every unpaid invoice when it is reminded next, or why it is not. */
export function ComingUp({ preview, zone }: ComingUpProps): ReactNode {
  const count = preview.data?.lines.length ?? 0
  return (
    <Panel title={texts.upcoming.title} aside={count > 0 && <span className={styles.count}>{texts.upcoming.open(count)}</span>}>
      <QueryView
        query={preview}
        loading={texts.upcoming.loading}
        error={texts.upcoming.failed}
        empty={<Nothing />}
        isEmpty={({ lines }) => lines.length === 0}
      >
        {({ lines }) => <Lines lines={lines} zone={zone} />}
      </QueryView>
    </Panel>
  )
}

function Nothing(): ReactNode {
  return (
    <div className={styles.nothing}>
      <p>{texts.upcoming.none}</p>
      <Button component={Link} to="/dashboard/new-invoice" variant="default">
        {texts.upcoming.create}
      </Button>
    </div>
  )
}

function Lines({ lines, zone }: { lines: PreviewLine[]; zone: string }): ReactNode {
  const [shown, setShown] = useState(first)
  const more = Math.min(lines.length - shown, step)
  const now = new Date()
  return (
    <>
      <table className={styles.table}>
        <caption className={styles.caption}>{texts.upcoming.caption}</caption>
        <thead>
          <tr>
            <th scope="col">{texts.upcoming.client}</th>
            <th scope="col" className={styles.number}>
              {texts.upcoming.owed}
            </th>
            <th scope="col">{texts.upcoming.due}</th>
            <th scope="col">{texts.upcoming.next}</th>
          </tr>
        </thead>
        <tbody>
          {lines.slice(0, shown).map((line) => (
            <Line key={line.invoiceId} line={line} zone={zone} now={now} />
          ))}
        </tbody>
      </table>
      {more > 0 && (
        <Button variant="default" mt={16} onClick={() => setShown(shown + step)}>
          {shown + more === lines.length ? texts.upcoming.showAll(lines.length) : texts.upcoming.showMore(more)}
        </Button>
      )}
    </>
  )
}

function Line({ line, zone, now }: { line: PreviewLine; zone: string; now: Date }): ReactNode {
  const late = daysLate(line, zone, now)
  return (
    <tr>
      <td className={styles.client}>
        <Link to={`/dashboard/edit-invoice/${line.invoiceId}`} className={styles.name}>
          {line.clientName}
        </Link>
        <span className={styles.detail} title={line.clientEmail}>{`${line.reference} · ${line.clientEmail}`}</span>
      </td>
      <td className={styles.number}>{formatRupees(line.amount)}</td>
      <td className={styles.due}>
        {showDate(line.dueDate)}
        <span className={styles.detail} data-late={late > 0 || undefined}>
          {lateness(late)}
        </span>
      </td>
      <td className={styles.next}>
        <span className={styles.label}>{texts.upcoming.label}</span>
        <div>
          <Next line={line} zone={zone} now={now} />
        </div>
      </td>
    </tr>
  )
}

function Next({ line, zone, now }: { line: PreviewLine; zone: string; now: Date }): ReactNode {
  const { nextAt, reason, heldFor, remindedToday } = line
  const today = remindedToday > 0 && <span className={styles.detail}>{texts.upcoming.remindedToday(remindedToday)}</span>
  if (heldFor !== null) return <span className={styles.none}>{texts.upcoming.held[heldFor]}</span>
  if (reason === 'open_mail') {
    const later = nextAt !== null && new Date(nextAt) > now
    return <>{later ? texts.upcoming.nextTry(inSentence(comingMoment(zone, nextAt, now))) : texts.upcoming.reasons.open_mail}</>
  }
  if (reason !== null || nextAt === null) {
    return (
      <>
        <span className={styles.none}>{reason === null ? texts.upcoming.noDate : texts.upcoming.reasons[reason]}</span>
        {today}
      </>
    )
  }
  return (
    <>
      {comingMoment(zone, nextAt, now)}
      {today}
    </>
  )
}

/** Also negative, while it is still to come; the server's own count stops at 0. */
function daysLate({ dueDate }: PreviewLine, zone: string, now: Date): number {
  return daysBetween(dueDate, dateIn(zone, now))
}
