import { IconChevronDown } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useCallback, useState } from 'react'
import { type PreviewLine, type Run, reminderCalls } from '#contract/reminders.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { showDay, showDayAndTime } from '#web/ui/dates.ts'
import { Pill } from '#web/ui/panel.tsx'
import { Part } from './part.tsx'
import styles from './reminders.module.css'
import { type Retry, RunResult } from './run-result.tsx'
import { emailCount, type Failure, isInProgress, listedFirst, openFailures } from './runs.ts'
import { texts } from './texts.ts'

const t = texts.runs

interface LastRunsProps {
  runs: UseQueryResult<Run[]>
  /** The unpaid invoices, by which failures are named and known to be settled. */
  lines: PreviewLine[]
  zone: string
  retry: Retry
  /** The run that a link leads to: opened and in view. */
  asked: string | null
  /** The run that is shown above already. */
  above: string | null
}

/** The runs so far, latest first. Those with a failure that is still open are open. */
export function LastRuns({ runs, lines, zone, retry, asked, above }: LastRunsProps): ReactNode {
  const open = openFailures(runs.data ?? [], lines)
  const failed = [...open.values()].reduce((sum, failures) => sum + failures.length, 0)
  return (
    <Part id="last-runs" title={t.title} aside={failed > 0 && <Pill tone="overdue">{t.notDelivered(failed)}</Pill>}>
      <QueryView query={runs} loading={t.loading} error={t.failed} empty={<p className={styles.none}>{t.none}</p>}>
        {(list) => <Runs list={list} open={open} lines={lines} zone={zone} retry={retry} asked={asked} above={above} />}
      </QueryView>
    </Part>
  )
}

interface RunsProps extends Omit<LastRunsProps, 'runs'> {
  list: Run[]
  open: Map<string, Failure[]>
}

function Runs({ list, open, lines, zone, retry, asked, above }: RunsProps): ReactNode {
  const [all, setAll] = useState(false)
  // A run from before the listed ones.
  const earlier = useApiQuery(
    reminderCalls.run,
    { params: { id: asked ?? '' } },
    { enabled: asked !== null && list.every(({ _id }) => _id !== asked) },
  ).data
  const first = all ? list : listedFirst(list, open, asked)
  const listed = earlier ? [...first, earlier] : first
  const now = new Date()
  return (
    <>
      <ul className={styles.runs}>
        {listed.map((run) => (
          <li key={run._id}>
            <RunRow
              run={run}
              opened={run._id !== above && (run._id === asked || open.has(run._id))}
              asked={run._id === asked}
              lines={lines}
              zone={zone}
              now={now}
              retry={retry}
            />
          </li>
        ))}
      </ul>
      {first.length < list.length && (
        <button type="button" className={styles.more} onClick={() => setAll(true)}>
          {t.all(list.length)}
        </button>
      )}
    </>
  )
}

interface RunRowProps {
  run: Run
  opened: boolean
  asked: boolean
  lines: PreviewLine[]
  zone: string
  now: Date
  retry: Retry
}

function RunRow({ run, opened, asked, lines, zone, now, retry }: RunRowProps): ReactNode {
  const { kind, localDate, skippedReason } = run
  // Runs once, when the row appears.
  const show = useCallback((row: HTMLElement | null) => {
    row?.scrollIntoView({ block: 'center' })
    row?.querySelector('summary')?.focus({ preventScroll: true })
  }, [])
  const head = (
    <>
      <span className={styles.ran}>
        {skippedReason === null ? showDayAndTime(zone, run.startedAt, now) : showDay('UTC', `${localDate}T12:00:00Z`, now)}
        <span className={styles.kind}>{texts.kinds[kind]}</span>
      </span>
      <Outcome run={run} />
    </>
  )
  const ref = asked ? show : undefined
  if (skippedReason !== null)
    return (
      <div ref={ref} className={styles.run} data-asked={asked || undefined}>
        <div className={styles.row}>{head}</div>
        <p className={styles.why}>{skippedReason}</p>
      </div>
    )
  return (
    <details ref={ref} className={styles.run} open={opened} data-asked={asked || undefined}>
      <summary className={styles.row}>
        {head}
        <IconChevronDown size={20} className={styles.chevron} aria-hidden />
      </summary>
      <RunResult run={run} zone={zone} retry={retry} lines={lines} />
    </details>
  )
}

function Outcome({ run }: { run: Run }): ReactNode {
  const emails = emailCount(run)
  if (run.skippedReason !== null) return <Pill tone="unpaid">{t.skippedDay}</Pill>
  if (isInProgress(run)) return <Pill tone="quiet">{t.inProgress}</Pill>
  if (run.cancelledAt !== null) return <Pill tone="quiet">{t.stopped(run.sent)}</Pill>
  if (emails === 0) return <span className={styles.outcome}>{run.total === 0 ? t.nothingDue : t.allSkipped}</span>
  const tone = run.failed > 0 ? 'bad' : run.open > 0 ? 'warn' : 'good'
  return (
    <span className={styles.outcome} data-tone={tone}>
      {t.sent(run.sent, emails)}
    </span>
  )
}
