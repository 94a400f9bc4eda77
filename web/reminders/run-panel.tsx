import { ActionIcon, Button, VisuallyHidden } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import type { PreviewLine, Run } from '#contract/reminders.ts'
import styles from './reminders.module.css'
import { type Retry, RunCounts, RunResult } from './run-result.tsx'
import type { FollowedRun } from './runs.ts'
import { emailCount, type Sample, sendRate, withSample } from './runs.ts'
import { texts } from './texts.ts'

interface RunPanelProps {
  followed: FollowedRun
  /** A call that starts a run waits for its answer. */
  starting: boolean
  zone: string
  onCancel: (run: Run) => void
  retry: Retry
  /** The unpaid invoices. */
  lines: PreviewLine[]
  /** The error of the call that started the run. */
  lead: string | null
}

export function RunPanel({ followed, starting, zone, onCancel, retry, lines, lead }: RunPanelProps): ReactNode {
  const { run, inProgress, dismiss } = followed
  const busy = inProgress || (starting && run === null)
  const section = useRef<HTMLElement>(null)
  // On a phone the button that started the run may be far below.
  useEffect(() => {
    if (starting && busy) section.current?.scrollIntoView({ block: 'nearest' })
  }, [starting, busy])
  return (
    <>
      <VisuallyHidden role="status">{run ? (inProgress ? milestone(run) : '') : starting ? texts.run.preparingTitle : ''}</VisuallyHidden>
      {busy && <Progress run={run} section={section} onCancel={onCancel} />}
      <div role="status">
        {run && !busy && (
          <section className={styles.panel} data-tone={toneOf(run)}>
            <div className={styles.head}>
              <h2 className={styles.title}>{texts.run.ended(run.sent, emailCount(run) + (run.cancelledAt === null ? 0 : run.skipped))}</h2>
              <ActionIcon aria-label={texts.run.dismiss} onClick={dismiss} className={styles.close ?? ''}>
                <IconX size={18} />
              </ActionIcon>
            </div>
            <RunResult run={run} zone={zone} retry={retry} lines={lines} lead={lead} />
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
  const of = run ? emailCount(run) : 0
  const done = run ? run.sent + run.failed : 0
  const share = (n: number) => `${of === 0 ? 0 : (n / of) * 100}%`
  return (
    <section className={styles.panel} ref={section}>
      <div className={styles.head}>
        <h2 className={styles.title}>{run ? texts.run.sending(run.kind) : texts.run.preparingTitle}</h2>
        {run && (
          <Button variant="default" onClick={() => onCancel(run)}>
            {texts.cancel.button}
          </Button>
        )}
      </div>
      <p className={styles.progress}>
        {of === 0 ? texts.run.preparing : texts.run.progress(done, of)}
        {run && <SendRate key={run._id} run={run} />}
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
      {run && <RunCounts run={run} />}
    </section>
  )
}

/** Emails that wait for a retry or are on hold are not part of the time left. */
function SendRate({ run }: { run: Run }): ReactNode {
  const rate = useSendRate(run)
  const waiting = run.open - run.retrying - run.held
  if (rate === null || waiting <= 0) return null
  return <span className={styles.rate}>{` · ${texts.run.rate(rate)} · ${texts.run.left(waiting / rate)}`}</span>
}

function useSendRate({ sent, failed }: Run): number | null {
  const [samples, setSamples] = useState<Sample[]>([])
  const [now, setNow] = useState(Date.now)
  const done = sent + failed
  useEffect(() => setSamples((before) => withSample(before, { at: Date.now(), done })), [done])
  // The rate must fall while nothing is sent, so the time is updated without new samples too.
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  return sendRate(samples, Math.max(now, samples.at(-1)?.at ?? 0))
}

/** Announced at each quarter only, because screen readers would read out every step. */
function milestone(run: Run): string {
  const of = emailCount(run)
  if (of === 0) return texts.run.preparingTitle
  const quarter = Math.floor(((run.sent + run.failed) / of) * 4)
  return `${texts.run.sending(run.kind)}. ${texts.run.progress(Math.ceil((quarter * of) / 4), of)}`
}

function toneOf(run: Run): 'good' | 'bad' | 'warn' | undefined {
  if (run.failed > 0) return 'bad'
  if (run.open > 0) return 'warn'
  return run.sent > 0 ? 'good' : undefined
}
