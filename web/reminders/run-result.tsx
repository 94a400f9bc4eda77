import { ActionIcon, Button, VisuallyHidden } from '@mantine/core'
import { IconAlertCircle, IconRefresh, IconX } from '@tabler/icons-react'
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import { Link } from 'react-router'
import type { PreviewLine, Run } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { Allowed } from '#web/platform/account.tsx'
import { BusyButton } from '#web/ui/buttons.tsx'
import { showComing } from '#web/ui/dates.ts'
import { adviceFor } from '#web/ui/texts.ts'
import styles from './reminders.module.css'
import { byAddress, canRetry, emailCount, type FailedAddress, type FollowedRun, type Sample, sendRate, withSample } from './runs.ts'
import { texts } from './texts.ts'

/** Failures shown at first. */
const initialFailures = 3

export interface Retry {
  /** The run that is being retried. */
  busy: string | null
  disabled: boolean
  start: (run: Run) => void
  /** The address that is being tried again. */
  trying: string | null
  tryAddress: (clientEmail: string) => void
}

interface RunResultProps {
  run: Run
  zone: string
  retry: Retry
  /** The unpaid invoices. */
  lines: PreviewLine[]
  /** Shown in place of "No emails were sent." */
  lead?: string | null
}

/** The result of a run: failures first. */
export function RunResult({ run, zone, retry, lines, lead = null }: RunResultProps): ReactNode {
  const next = run.nextTryAt === null ? null : showComing(zone, new Date(run.nextTryAt), new Date())
  const stopped = run.cancelledAt !== null
  return (
    <div className={styles.result}>
      {lead !== null && <p>{lead}</p>}
      {run.failed > 0 && (
        <>
          <Failures run={run} lines={lines} retry={retry} />
          {canRetry(run) && (
            <Allowed by="member">
              <BusyButton
                variant="default"
                leftSection={<IconRefresh size={18} stroke={1.7} />}
                busy={retry.busy === run._id}
                busyText={texts.retry.busy}
                disabled={retry.disabled && retry.busy !== run._id}
                onClick={() => retry.start(run)}
              >
                {texts.retry.button}
              </BusyButton>
            </Allowed>
          )}
        </>
      )}
      {run.held > 0 && (
        <p>
          {`${texts.run.held[run.holdReason ?? 'sending_paused'](run.held)} ${run.kind === 'daily' ? texts.run.heldUntil.daily : texts.run.heldUntil.byHand}`}
        </p>
      )}
      {run.held > 0 && run.holdReason === 'restored' && (
        <Allowed by="member">
          <BusyButton
            variant="default"
            busy={retry.busy === run._id}
            busyText={texts.run.sendingHeld}
            disabled={retry.disabled && retry.busy !== run._id}
            onClick={() => retry.start(run)}
          >
            {texts.run.sendHeld}
          </BusyButton>
        </Allowed>
      )}
      {run.retrying > 0 && <p>{texts.run.retryLine(run.retrying, next)}</p>}
      {(run.sent > 0 || lead === null) && <p>{run.sent > 0 ? texts.run.sent(run.sent) : texts.run.nothing}</p>}
      {run.skipped > 0 && <p>{stopped ? texts.run.cancelled(run.skipped) : texts.run.skipped[run.kind](run.skipped)}</p>}
    </div>
  )
}

function Failures({ run, lines, retry }: Pick<RunResultProps, 'run' | 'lines' | 'retry'>): ReactNode {
  const [shown, setShown] = useState(initialFailures)
  const addresses = byAddress(run.failures)
  const held = new Set(
    lines
      .filter(({ heldFor, reason }) => heldFor === 'address' || reason === 'address_held')
      .map(({ clientEmail }) => clientEmail.toLowerCase()),
  )
  const unlisted = run.failed - run.failures.length
  return (
    <>
      <p className={styles.failed}>{texts.run.failedLine(run.failed)}</p>
      <ul className={styles.failures}>
        {addresses.slice(0, shown).map((address) => (
          <AddressItem
            key={`${address.clientEmail} ${address.message}`}
            address={address}
            retry={held.has(address.clientEmail.toLowerCase()) ? retry : null}
          />
        ))}
      </ul>
      {addresses.length > shown && (
        <button type="button" className={styles.more} onClick={() => setShown(addresses.length)}>
          {texts.run.allFailures(addresses.length)}
        </button>
      )}
      {addresses.length <= shown && unlisted > 0 && <p className={styles.quiet}>{texts.run.more(unlisted)}</p>}
    </>
  )
}

/** `retry`: where reminders to the address are held until it is corrected or tried again. */
function AddressItem({ address, retry }: { address: FailedAddress; retry: Retry | null }): ReactNode {
  const { clientName, clientEmail, message, words, failures } = address
  const [first] = failures
  return (
    <li className={styles.failure}>
      <IconAlertCircle size={20} aria-hidden className={styles.failureIcon} />
      <div>
        <span className={styles.client}>{clientName}</span>
        <span className={styles.about}>
          {retry ? texts.run.addressHeld(clientEmail) : `${clientEmail}: ${words}. ${adviceFor(message)}`}
        </span>
        <q className={styles.reply}>{message === '' ? texts.run.noReason : message}</q>
        <span className={styles.opens}>
          {retry && (
            <>
              <Button component={Link} to={screens.invoice(first.invoiceId)}>
                {texts.run.correct}
              </Button>
              <Allowed by="member">
                <BusyButton
                  variant="default"
                  busy={retry.trying === clientEmail}
                  busyText={texts.retry.busy}
                  disabled={retry.disabled && retry.trying !== clientEmail}
                  onClick={() => retry.tryAddress(clientEmail)}
                >
                  {texts.run.tryAgain}
                </BusyButton>
              </Allowed>
            </>
          )}
          {failures.map(({ invoiceId, reference }) => (
            <Link key={invoiceId} to={screens.invoice(invoiceId)} className={styles.open}>
              {texts.run.openInvoice(reference)}
            </Link>
          ))}
        </span>
      </div>
    </li>
  )
}

type Count = keyof typeof texts.run.count

/** The counts of a run in progress; zeros are shown for sent, failed and waiting only. */
function RunCounts({ run }: { run: Run }): ReactNode {
  const counts: [Count, number][] = [
    ['sent', run.sent],
    ['failed', run.failed],
    ['waiting', run.open - run.retrying - run.held],
    ['retrying', run.retrying],
    ['held', run.held],
    [run.cancelledAt === null ? 'skipped' : 'cancelled', run.skipped],
  ]
  const always: Count[] = ['sent', 'failed', 'waiting']
  return (
    <ul className={styles.counts}>
      {counts
        .filter(([name, n]) => n > 0 || always.includes(name))
        .map(([name, n]) => (
          <li key={name} data-count={n > 0 ? name : undefined}>
            <strong>{n.toLocaleString('en-IN')}</strong> {texts.run.count[name]}
          </li>
        ))}
    </ul>
  )
}

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
          <Allowed by="member">
            <Button variant="default" onClick={() => onCancel(run)}>
              {texts.cancel.button}
            </Button>
          </Allowed>
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
