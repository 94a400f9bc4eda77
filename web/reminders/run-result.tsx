import { ScrollArea } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { Run } from '#contract/reminders.ts'
import { adviceFor } from '#web/ui/advice.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { comingMoment, inSentence } from './moments.ts'
import styles from './run.module.css'
import { texts } from './texts.ts'

/** Writing again to those whose mail failed. */
export interface Again {
  /** The run that is being tried again at this moment. */
  busy: string | null
  /** Something else is under way: not now. */
  disabled: boolean
  press: (run: Run) => void
}

/** In sentences what became of a run: what left, what failed and why, what is still to come. */
export function RunResult({ run, zone, again, lead = null }: { run: Run; zone: string; again: Again; lead?: string | null }): ReactNode {
  const next = run.nextTryAt === null ? null : inSentence(comingMoment(zone, run.nextTryAt, new Date()))
  const stopped = run.cancelledAt !== null
  return (
    <div className={styles.result}>
      <p>{run.sent > 0 ? texts.run.sentAll(run.sent) : (lead ?? texts.run.nothing)}</p>
      {run.held > 0 && (
        <p>
          {`${texts.run.held[run.holdReason ?? 'sending_paused'](run.held)} ${run.kind === 'daily' ? texts.run.heldUntil.daily : texts.run.heldUntil.byHand}`}
        </p>
      )}
      {run.held > 0 && run.holdReason === 'restored' && (
        <div className={styles.again}>
          <BusyButton
            variant="default"
            busy={again.busy === run._id}
            busyText={texts.run.sendingHeld}
            disabled={again.disabled && again.busy !== run._id}
            onClick={() => again.press(run)}
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
              busy={again.busy === run._id}
              busyText={texts.retry.busy}
              disabled={again.disabled && again.busy !== run._id}
              onClick={() => again.press(run)}
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
              <span className={styles.said}>{message === '' ? texts.run.noWords : <q>{message}</q>}</span>
              <span className={styles.todo}>
                {adviceFor(message)}{' '}
                <Link to={`/dashboard/edit-invoice/${invoiceId}`} className={styles.open}>
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
