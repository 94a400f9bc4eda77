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
import { refetchDelay, timelineOf } from './timeline.ts'
import { type Pausing, usePausing } from './use-pausing.tsx'

/** The reminders of an invoice: pause, next date and history. */
export function HistoryPanel({ invoice }: { invoice: Invoice }): ReactNode {
  const { zone, now } = useToday()
  const pausing = usePausing()
  const input = { params: { id: invoice._id } }
  const queries = useQueryClient()
  const history = useApiQuery(reminderCalls.history, input, { refetchInterval: pollInterval(queries, input) })
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
        {(loaded) => (
          <>
            <NextReminder history={loaded} zone={zone} now={now} />
            {loaded.mails.length + loaded.days.length === 0 ? (
              <NothingYet history={loaded} zone={zone} now={now} />
            ) : (
              <HistoryTimeline
                days={timelineOf(loaded, zone)}
                zone={zone}
                now={now}
                owed={loaded.reason !== 'paid' && loaded.reason !== 'deleted'}
              />
            )}
          </>
        )}
      </QueryView>
      {pausing.dialogs}
    </Panel>
  )
}

function NothingYet({ history, zone, now }: { history: InvoiceHistory; zone: string | undefined; now: Date }): ReactNode {
  const { nextAt, reason } = history
  const scheduled = nextAt !== null && (reason === null || reason === 'paused')
  const next = scheduled ? texts.firstAt(showComing(zone, new Date(nextAt), now)) : reason === null ? null : texts.firstWhy[reason]
  return (
    <div className={styles.nothing}>
      <p>{texts.none}</p>
      {next !== null && <p className={styles.note}>{next}</p>}
    </div>
  )
}

function pollInterval(queries: QueryClient, input: object): number | false {
  const cached = queries.getQueryData<InvoiceHistory>(queryKey(reminderCalls.history, input))
  return cached ? refetchDelay(cached, new Date()) : false
}

interface NextReminderProps {
  history: InvoiceHistory
  zone: string | undefined
  now: Date
}

/** The next reminder, or why there is none and where to change that. */
function NextReminder({ history, zone, now }: NextReminderProps): ReactNode {
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
        <NoNextReminder history={history} coming={coming} now={now} />
      )}
    </div>
  )
}

function NoNextReminder({ history, coming, now }: { history: InvoiceHistory; coming: string | null; now: Date }): ReactNode {
  const { nextAt, reason, mails } = history
  if (reason === null) return <p className={styles.nextWhyNot}>{texts.noDate}</p>
  const held = reason === 'open_mail' ? mails.find(({ state }) => state === 'held') : undefined
  if (reason === 'open_mail' && !held && coming !== null && nextAt !== null && new Date(nextAt) > now)
    return <p className={styles.nextWhyNot}>{texts.delayed(coming)}</p>
  const { text, to, link } = held ? texts.held[holdReasonOf(held.reason)] : texts.reasons[reason]
  return (
    <>
      <p className={styles.nextWhyNot}>{text}</p>
      {to !== null && (
        <Link to={to} className={styles.link}>
          {link}
        </Link>
      )}
    </>
  )
}

function PauseCard({ invoice, pausing }: { invoice: Invoice; pausing: Pausing }): ReactNode {
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
