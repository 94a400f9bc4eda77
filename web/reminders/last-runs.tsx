import { IconChevronDown } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Run } from '#contract/reminders.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { showDate } from '#web/ui/dates.ts'
import { Panel, Pill } from '#web/ui/panel.tsx'
import { dayAndTime } from './dates.ts'
import styles from './reminders.module.css'
import { isInProgress } from './run-progress.ts'
import { type Retry, RunCounts, RunResult } from './run-result.tsx'
import { texts } from './texts.ts'

interface LastRunsProps {
  runs: UseQueryResult<Run[]>
  zone: string
  retry: Retry
}

export function LastRuns({ runs, zone, retry }: LastRunsProps): ReactNode {
  return (
    <Panel title={texts.runs.title}>
      <QueryView
        query={runs}
        loading={texts.runs.loading}
        error={texts.runs.failed}
        empty={<p className={styles.none}>{texts.runs.none}</p>}
      >
        {(list) => (
          <ul className={styles.runs}>
            {list.map((run) => (
              <li key={run._id}>
                <RunRow run={run} zone={zone} retry={retry} />
              </li>
            ))}
          </ul>
        )}
      </QueryView>
    </Panel>
  )
}

function RunRow({ run, zone, retry }: { run: Run; zone: string; retry: Retry }): ReactNode {
  const head = (
    <>
      <span className={styles.kind}>{texts.kinds[run.kind]}</span>
      <span className={styles.when}>{run.skippedReason === null ? dayAndTime(zone, run.startedAt) : showDate(run.localDate)}</span>
      <div className={styles.outcome}>
        <Outcome run={run} />
      </div>
    </>
  )
  if (run.skippedReason !== null || run.sent === run.total) return <div className={styles.row}>{head}</div>
  return (
    <details>
      <summary className={styles.row}>
        {head}
        <IconChevronDown size={20} className={styles.chevron} aria-label={texts.runs.details} />
      </summary>
      <div className={styles.details}>
        <RunResult run={run} zone={zone} retry={retry} />
      </div>
    </details>
  )
}

function Outcome({ run }: { run: Run }): ReactNode {
  if (run.skippedReason !== null) {
    return (
      <>
        <Pill tone="unpaid">{texts.runs.skippedDay}</Pill>
        <span className={styles.why}>{run.skippedReason}</span>
      </>
    )
  }
  return (
    <>
      {run.cancelledAt !== null && <Pill tone="quiet">{texts.runs.stopped}</Pill>}
      {isInProgress(run) && <Pill tone="quiet">{texts.runs.inProgress}</Pill>}
      {run.total === 0 && !isInProgress(run) ? (
        <span className={styles.why}>{texts.runs.nothingDue}</span>
      ) : (
        <RunCounts run={run} always={run.total > 0 && run.skipped < run.total ? ['sent'] : []} />
      )}
    </>
  )
}
