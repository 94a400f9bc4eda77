import { Button } from '@mantine/core'
import { IconAlertCircle, IconRefresh } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import type { PreviewLine, Run } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { showComing } from '#web/ui/dates.ts'
import { adviceFor } from '#web/ui/texts.ts'
import styles from './reminders.module.css'
import { byAddress, type FailedAddress } from './runs.ts'
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
        </>
      )}
      {run.held > 0 && (
        <p>
          {`${texts.run.held[run.holdReason ?? 'sending_paused'](run.held)} ${run.kind === 'daily' ? texts.run.heldUntil.daily : texts.run.heldUntil.byHand}`}
        </p>
      )}
      {run.held > 0 && run.holdReason === 'restored' && (
        <BusyButton
          variant="default"
          busy={retry.busy === run._id}
          busyText={texts.run.sendingHeld}
          disabled={retry.disabled && retry.busy !== run._id}
          onClick={() => retry.start(run)}
        >
          {texts.run.sendHeld}
        </BusyButton>
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
              <BusyButton
                variant="default"
                busy={retry.trying === clientEmail}
                busyText={texts.retry.busy}
                disabled={retry.disabled && retry.trying !== clientEmail}
                onClick={() => retry.tryAddress(clientEmail)}
              >
                {texts.run.tryAgain}
              </BusyButton>
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
export function RunCounts({ run }: { run: Run }): ReactNode {
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
