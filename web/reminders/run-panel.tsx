import { ActionIcon, Button, VisuallyHidden } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { type ReactNode, type RefObject, useEffect, useRef } from 'react'
import type { Run } from '#contract/reminders.ts'
import styles from './run.module.css'
import { RunCounts } from './run-counts.tsx'
import { type Again, RunResult } from './run-result.tsx'
import { mailsOf } from './run-state.ts'
import { texts } from './texts.ts'
import { usePace } from './use-pace.ts'
import type { FollowedRun } from './use-run.ts'

interface RunPanelProps {
  followed: FollowedRun
  /** A press waits for its answer. */
  pressed: boolean
  zone: string
  onCancel: (run: Run) => void
  again: Again
  /** What the press that made the run came to, where it was refused. */
  lead: string | null
}

/** The run that is under way and how far it is; afterwards what became of it, until it is closed. */
export function RunPanel({ followed, pressed, zone, onCancel, again, lead }: RunPanelProps): ReactNode {
  const { run, moving, dismiss } = followed
  const under = moving || (pressed && run === null)
  const section = useRef<HTMLElement>(null)
  // On a phone the pressed button may be far below: what it set off is brought into view.
  useEffect(() => {
    if (pressed && under) section.current?.scrollIntoView({ block: 'nearest' })
  }, [pressed, under])
  return (
    <>
      <VisuallyHidden role="status">{run ? (moving ? milestone(run) : '') : pressed ? texts.run.waking : ''}</VisuallyHidden>
      {under && <Progress run={run} section={section} onCancel={onCancel} />}
      <div role="status">
        {run && !under && (
          <section className={styles.panel} data-tone={toneOf(run)}>
            <div className={styles.head}>
              <h2 className={styles.title}>{texts.run.ended(run.kind)}</h2>
              <ActionIcon aria-label={texts.run.dismiss} onClick={dismiss} className={styles.close ?? ''}>
                <IconX size={18} />
              </ActionIcon>
            </div>
            <RunResult run={run} zone={zone} again={again} lead={lead} />
          </section>
        )}
      </div>
    </>
  )
}

interface ProgressProps {
  run: Run | null
  section: RefObject<HTMLElement | null>
  onCancel: (run: Run) => void
}

function Progress({ run, section, onCancel }: ProgressProps): ReactNode {
  const of = run ? mailsOf(run) : 0
  const done = run ? run.sent + run.failed : 0
  const share = (n: number) => `${of === 0 ? 0 : (n / of) * 100}%`
  return (
    <section className={styles.panel} ref={section}>
      <div className={styles.head}>
        <h2 className={styles.title}>{run ? texts.run.sending(run.kind) : texts.run.waking}</h2>
        {run && (
          <Button variant="default" onClick={() => onCancel(run)}>
            {texts.cancel.button}
          </Button>
        )}
      </div>
      <p className={styles.far}>
        {of === 0 ? texts.run.preparing : texts.run.progress(done, of)}
        {run && <Pace key={run._id} run={run} />}
      </p>
      <div
        className={styles.bar}
        role="progressbar"
        aria-label={texts.run.label}
        aria-valuemin={0}
        aria-valuemax={of}
        aria-valuenow={done}
        aria-valuetext={of === 0 ? texts.run.preparing : texts.run.progress(done, of)}
        data-waking={of === 0 || undefined}
      >
        <span className={styles.sentPart} style={{ width: share(run?.sent ?? 0) }} />
        <span className={styles.failedPart} style={{ width: share(run?.failed ?? 0) }} />
      </div>
      {run && <RunCounts run={run} always={['sent', 'failed', 'waiting']} />}
    </section>
  )
}

/** How fast it goes and how long it will take; mails that wait for a retry or are held are not waited for. */
function Pace({ run }: { run: Run }): ReactNode {
  const pace = usePace(run)
  const waiting = run.open - run.retrying - run.held
  if (pace === null || waiting <= 0) return null
  return <span className={styles.pace}>{` · ${texts.run.pace(pace)} · ${texts.run.left(waiting / pace)}`}</span>
}

/** Read aloud at the quarters only: every step would be a flood. */
function milestone(run: Run): string {
  const of = mailsOf(run)
  if (of === 0) return texts.run.waking
  const quarter = Math.floor(((run.sent + run.failed) / of) * 4)
  return `${texts.run.sending(run.kind)}. ${texts.run.progress(Math.ceil((quarter * of) / 4), of)}`
}

function toneOf(run: Run): 'good' | 'bad' | 'warn' | undefined {
  if (run.failed > 0) return 'bad'
  if (run.open > 0) return 'warn'
  return run.sent > 0 ? 'good' : undefined
}
