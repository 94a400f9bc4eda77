import { IconChevronDown } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Run } from '#contract/reminders.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { showDate } from '#web/ui/dates.ts'
import { Panel, Pill } from '#web/ui/panel.tsx'
import styles from './control.module.css'
import { dayAndTime } from './moments.ts'
import runs from './run.module.css'
import { RunCounts } from './run-counts.tsx'
import { type Again, RunResult } from './run-result.tsx'
import { isMoving } from './run-state.ts'
import { texts } from './texts.ts'

interface LastRunsProps {
  runs: UseQueryResult<Run[]>
  zone: string
  again: Again
}

/** The last runs, newest first: what became of each, and of a day that was left out why. */
export function LastRuns({ runs: query, zone, again }: LastRunsProps): ReactNode {
  return (
    <Panel title={texts.runs.title}>
      <QueryView
        query={query}
        loading={texts.runs.loading}
        error={texts.runs.failed}
        empty={<p className={styles.none}>{texts.runs.none}</p>}
      >
        {(list) => (
          <ul className={runs.runs}>
            {list.map((run) => (
              <li key={run._id}>
                <RunRow run={run} zone={zone} again={again} />
              </li>
            ))}
          </ul>
        )}
      </QueryView>
    </Panel>
  )
}

function RunRow({ run, zone, again }: { run: Run; zone: string; again: Again }): ReactNode {
  const head = (
    <>
      <span className={runs.kind}>{texts.kinds[run.kind]}</span>
      <span className={runs.when}>{run.skippedReason === null ? dayAndTime(zone, run.startedAt) : showDate(run.localDate)}</span>
      <div className={runs.outcome}>
        <Outcome run={run} />
      </div>
    </>
  )
  if (run.skippedReason !== null || run.sent === run.total) return <div className={runs.row}>{head}</div>
  return (
    <details>
      <summary className={runs.row}>
        {head}
        <IconChevronDown size={20} className={runs.chevron} aria-label={texts.runs.details} />
      </summary>
      <div className={runs.details}>
        <RunResult run={run} zone={zone} again={again} />
      </div>
    </details>
  )
}

function Outcome({ run }: { run: Run }): ReactNode {
  if (run.skippedReason !== null) {
    return (
      <>
        <Pill tone="unpaid">{texts.runs.skippedDay}</Pill>
        <span className={runs.why}>{run.skippedReason}</span>
      </>
    )
  }
  return (
    <>
      {run.cancelledAt !== null && <Pill tone="quiet">{texts.runs.stopped}</Pill>}
      {isMoving(run) && <Pill tone="quiet">{texts.runs.underWay}</Pill>}
      {run.total === 0 && !isMoving(run) ? (
        <span className={runs.why}>{texts.runs.nobody}</span>
      ) : (
        <RunCounts run={run} always={run.total > 0 && run.skipped < run.total ? ['sent'] : []} />
      )}
    </>
  )
}
