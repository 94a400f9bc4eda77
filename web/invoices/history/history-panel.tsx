import { Button } from '@mantine/core'
import { IconPlayerPause } from '@tabler/icons-react'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { Invoice } from '#contract/invoices.ts'
import { holdReasonOf, type InvoiceHistory, reminderCalls } from '#contract/reminders.ts'
import { describePause, isPaused } from '#web/invoices/pause.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { queryKey, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { useToday } from '#web/platform/use-today.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { capitalized, showComing, showDate } from '#web/ui/dates.ts'
import { Panel } from '#web/ui/panel.tsx'
import styles from './history.module.css'
import { HistoryTimeline } from './history-timeline.tsx'
import { texts } from './texts.ts'
import { lookAgainIn, timelineOf } from './timeline.ts'
import { type Pausing, usePausing } from './use-pausing.tsx'

/** Everything about the reminders of one invoice: its pause, the next date, and what happened so far. */
export function HistoryPanel({ invoice }: { invoice: Invoice }): ReactNode {
  const { zone, now } = useToday()
  const pausing = usePausing()
  const input = { params: { id: invoice._id } }
  const queries = useQueryClient()
  const history = useApiQuery(reminderCalls.history, input, { refetchInterval: untilNextLook(queries, input) })
  const paused = isPaused(invoice)
  return (
    <Panel
      title={texts.title}
      aside={
        !paused &&
        invoice.status !== 'paid' && (
          <Button variant="default" px={14} onClick={() => pausing.askToPause(invoice)}>
            {invoiceTexts.pause.submit}
          </Button>
        )
      }
    >
      {paused && <PauseCard invoice={invoice} pausing={pausing} />}
      <QueryView query={history} loading={texts.loading} error={texts.failed} empty={null}>
        {(known) => (
          <>
            <NextReminder history={known} zone={zone} now={now} />
            {known.mails.length + known.days.length === 0 ? (
              <Nothing history={known} zone={zone} now={now} />
            ) : (
              <HistoryTimeline
                days={timelineOf(known, zone)}
                zone={zone}
                now={now}
                owed={known.reason !== 'paid' && known.reason !== 'deleted'}
              />
            )}
          </>
        )}
      </QueryView>
      {pausing.dialogs}
    </Panel>
  )
}

/** Nothing happened yet: what will. */
function Nothing({ history, zone, now }: { history: InvoiceHistory; zone: string | undefined; now: Date }): ReactNode {
  const { nextAt, reason } = history
  const { firstAt, firstWhy, none } = texts
  const then =
    nextAt !== null && (reason === null || reason === 'paused')
      ? firstAt(showComing(zone, new Date(nextAt), now))
      : reason === null
        ? null
        : firstWhy[reason]
  return (
    <div className={styles.nothing}>
      <p>{none}</p>
      {then !== null && <p className={styles.note}>{then}</p>}
    </div>
  )
}

function untilNextLook(queries: QueryClient, input: object): number | false {
  const known = queries.getQueryData<InvoiceHistory>(queryKey(reminderCalls.history, input))
  return known ? lookAgainIn(known, new Date()) : false
}

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
      <h3 className={styles.label}>{texts.next}</h3>
      {coming !== null && (reason === null || reason === 'paused') ? (
        <>
          <p className={styles.nextDate}>{capitalized(coming)}</p>
          <p className={styles.aside}>
            {[reason === 'paused' ? texts.afterPause : [], zone === undefined ? [] : texts.zone(zone)].flat().join(' · ')}
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
  if (reason === null) return <p className={styles.nextWhyNot}>{texts.noDate}</p>
  const held = reason === 'open_mail' ? mails.find(({ state }) => state === 'held') : undefined
  if (reason === 'open_mail' && !held && coming !== null && nextAt !== null && new Date(nextAt) > now)
    return <p className={styles.nextWhyNot}>{texts.beingTried(coming)}</p>
  const { says, to, link } = held ? texts.held[holdReasonOf(held.reason)] : texts.reasons[reason]
  return (
    <>
      <p className={styles.nextWhyNot}>{says}</p>
      {to !== null && (
        <Link to={to} className={styles.link}>
          {link}
        </Link>
      )}
    </>
  )
}

/** The pause of an invoice: until when, about what, why, and the ways out. */
export function PauseCard({ invoice, pausing }: { invoice: Invoice; pausing: Pausing }): ReactNode {
  const { pause } = invoice
  if (pause === null) return null
  return (
    <div className={styles.paused}>
      <IconPlayerPause size={20} aria-hidden className={styles.pausedIcon} />
      <div className={styles.pausedText}>
        <strong>{invoiceTexts.pause.state(pause.until === null ? null : showDate(pause.until))}</strong>
        {describePause(invoice).map((line) => (
          <p key={line}>{line}</p>
        ))}
        <div className={styles.pausedActions}>
          <BusyButton
            variant="default"
            busy={pausing.resuming}
            busyText={invoiceTexts.pause.resumeBusy}
            onClick={() => pausing.resume(invoice)}
          >
            {invoiceTexts.pause.resume}
          </BusyButton>
          <Button variant="default" onClick={() => pausing.askToPause(invoice)}>
            {invoiceTexts.pause.changeButton}
          </Button>
        </div>
      </div>
    </div>
  )
}
