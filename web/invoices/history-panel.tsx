import { Button } from '@mantine/core'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Invoice } from '#contract/invoices.ts'
import { type InvoiceHistory, reminderCalls } from '#contract/reminders.ts'
import { queryKey, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { showComing } from '#web/ui/dates.ts'
import { Panel } from '#web/ui/panel.tsx'
import styles from './history.module.css'
import { historyTexts } from './history-texts.ts'
import { HistoryTimeline } from './history-timeline.tsx'
import { NextReminder } from './next-reminder.tsx'
import { PauseCard } from './pause-card.tsx'
import { isPaused } from './pause-words.ts'
import { texts } from './texts.ts'
import { lookAgainIn, timelineOf } from './timeline.ts'
import { usePausing } from './use-pausing.tsx'
import { useToday } from './use-today.ts'

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
      title={historyTexts.title}
      aside={
        !paused &&
        invoice.status !== 'paid' && (
          <Button variant="default" px={14} onClick={() => pausing.askToPause(invoice)}>
            {texts.pause.submit}
          </Button>
        )
      }
    >
      {paused && <PauseCard invoice={invoice} pausing={pausing} />}
      <QueryView query={history} loading={historyTexts.loading} error={historyTexts.failed} empty={null}>
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
  const { firstAt, firstWhy, none } = historyTexts
  const then =
    nextAt !== null && (reason === null || reason === 'paused')
      ? firstAt(showComing(zone, new Date(nextAt), now))
      : reason === null
        ? null
        : firstWhy[reason]
  return (
    <div className={styles.nothing}>
      <p>{none}</p>
      {then !== null && <p className={styles.words}>{then}</p>}
    </div>
  )
}

function untilNextLook(queries: QueryClient, input: object): number | false {
  const known = queries.getQueryData<InvoiceHistory>(queryKey(reminderCalls.history, input))
  return known ? lookAgainIn(known, new Date()) : false
}
