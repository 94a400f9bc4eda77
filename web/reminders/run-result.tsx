import { ScrollArea } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { Run } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { adviceFor } from '#web/ui/advice.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { relativeDateInline } from './dates.ts'
import styles from './reminders.module.css'
import { texts } from './texts.ts'

export interface Retry {
  /** The run that is being retried. */
  busy: string | null
  disabled: boolean
  start: (run: Run) => void
}

export function RunResult({ run, zone, retry, lead = null }: { run: Run; zone: string; retry: Retry; lead?: string | null }): ReactNode {
  const next = run.nextTryAt === null ? null : relativeDateInline(zone, run.nextTryAt, new Date())
  const stopped = run.cancelledAt !== null
  return (
    <div className={styles.result}>
      <p>{run.sent > 0 ? texts.run.sent(run.sent) : (lead ?? texts.run.nothing)}</p>
      {run.held > 0 && (
        <p>
          {`${texts.run.held[run.holdReason ?? 'sending_paused'](run.held)} ${run.kind === 'daily' ? texts.run.heldUntil.daily : texts.run.heldUntil.byHand}`}
        </p>
      )}
      {run.held > 0 && run.holdReason === 'restored' && (
        <div className={styles.again}>
          <BusyButton
            variant="default"
            busy={retry.busy === run._id}
            busyText={texts.run.sendingHeld}
            disabled={retry.disabled && retry.busy !== run._id}
            onClick={() => retry.start(run)}
          >
            {texts.run.sendHeld}
          </BusyButton>
        </div>
      )}
      {run.retrying > 0 && <p>{texts.run.retryLine(run.retrying, next)}</p>}
      {run.skipped > 0 && <p>{stopped ? texts.run.cancelled(run.skipped) : texts.run.skipped[run.kind](run.skipped)}</p>}
      {run.failed > 0 && (
        <>
          <Failures run={run} />
          <div className={styles.again}>
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
          </div>
        </>
      )}
    </div>
  )
}

function Failures({ run }: { run: Run }): ReactNode {
  const more = run.failed - run.failures.length
  return (
    <>
      <p className={styles.failed}>{texts.run.failedLine(run.failed)}</p>
      <ScrollArea.Autosize
        mah="min(420px, 60vh)"
        type="auto"
        viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': texts.run.failedLine(run.failed) }}
      >
        <ul className={styles.failures}>
          {run.failures.map(({ invoiceId, clientEmail, message }) => (
            <li key={invoiceId}>
              <span className={styles.client}>{clientEmail}</span>
              <span className={styles.reply}>{message === '' ? texts.run.noReason : <q>{message}</q>}</span>
              <span className={styles.todo}>
                {adviceFor(message)}{' '}
                <Link to={screens.invoice(invoiceId)} className={styles.open}>
                  {texts.run.openInvoice}
                </Link>
              </span>
            </li>
          ))}
        </ul>
      </ScrollArea.Autosize>
      {more > 0 && <p className={styles.more}>{texts.run.more(more)}</p>}
    </>
  )
}

type Count = keyof typeof texts.run.count

/** Zeros are shown only for the counts in `always`. */
export function RunCounts({ run, always }: { run: Run; always: Count[] }): ReactNode {
  const stopped = run.cancelledAt !== null
  const counts: [Count, number][] = [
    ['sent', run.sent],
    ['failed', run.failed],
    ['waiting', run.open - run.retrying - run.held],
    ['retrying', run.retrying],
    ['held', run.held],
    [stopped ? 'cancelled' : 'skipped', run.skipped],
  ]
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
