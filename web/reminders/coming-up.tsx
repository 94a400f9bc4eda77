import { Button } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import type { CallReply } from '#contract/call.ts'
import { formatRupees } from '#contract/money.ts'
import type { PreviewLine, reminderCalls } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { dateIn, daysBetween, lateness, showDate } from '#web/ui/dates.ts'
import { Panel } from '#web/ui/panel.tsx'
import { relativeDate, relativeDateInline } from './dates.ts'
import styles from './reminders.module.css'
import { texts } from './texts.ts'

/** Rows shown at first, and added by each click. */
const initialRows = 50
const moreRows = 500

interface ComingUpProps {
  preview: UseQueryResult<CallReply<typeof reminderCalls.preview>>
  zone: string
}

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
      <Button component={Link} to={screens.newInvoice} variant="default">
        {texts.upcoming.create}
      </Button>
    </div>
  )
}

function Lines({ lines, zone }: { lines: PreviewLine[]; zone: string }): ReactNode {
  const [shown, setShown] = useState(initialRows)
  const more = Math.min(lines.length - shown, moreRows)
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
        <Button variant="default" mt={16} onClick={() => setShown(shown + moreRows)}>
          {shown + more === lines.length ? texts.upcoming.showAll(lines.length) : texts.upcoming.showMore(more)}
        </Button>
      )}
    </>
  )
}

function Line({ line, zone, now }: { line: PreviewLine; zone: string; now: Date }): ReactNode {
  const overdue = daysOverdue(line, zone, now)
  return (
    <tr>
      <td className={styles.clientCell}>
        <Link to={screens.invoice(line.invoiceId)} className={styles.name}>
          {line.clientName}
        </Link>
        <span className={styles.detail} title={line.clientEmail}>{`${line.reference} · ${line.clientEmail}`}</span>
      </td>
      <td className={styles.number}>{formatRupees(line.amount)}</td>
      <td className={styles.due}>
        {showDate(line.dueDate)}
        <span className={styles.detail} data-late={overdue > 0 || undefined}>
          {lateness(overdue)}
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
  if (heldFor !== null) return <span className={styles.noDate}>{texts.upcoming.held[heldFor]}</span>
  if (reason === 'open_mail') {
    const later = nextAt !== null && new Date(nextAt) > now
    return <>{later ? texts.upcoming.nextAttempt(relativeDateInline(zone, nextAt, now)) : texts.upcoming.reasons.open_mail}</>
  }
  if (reason !== null || nextAt === null) {
    return (
      <>
        <span className={styles.noDate}>{reason === null ? texts.upcoming.noDate : texts.upcoming.reasons[reason]}</span>
        {today}
      </>
    )
  }
  return (
    <>
      {relativeDate(zone, nextAt, now)}
      {today}
    </>
  )
}

/** Negative before the due date; the server’s own count stops at 0. */
function daysOverdue({ dueDate }: PreviewLine, zone: string, now: Date): number {
  return daysBetween(dueDate, dateIn(zone, now))
}
