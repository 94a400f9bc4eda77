import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { CallReply } from '#contract/call.ts'
import type { MailConfig } from '#contract/mail.ts'
import type { reminderCalls } from '#contract/reminders.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { Panel } from '#web/ui/panel.tsx'
import styles from './control.module.css'
import { comingMoment, dayAndTime, hourInWords } from './moments.ts'
import { texts } from './texts.ts'
import type { Presses } from './use-presses.ts'

interface StatusCardProps {
  status: CallReply<typeof reminderCalls.status>
  mailbox: MailConfig
  presses: Presses
  moving: boolean
}

/** Whether reminders go out by themselves, with which mailbox, when the last one left and when the next ones will; and what starting and stopping does. */
export function StatusCard({ status, mailbox, presses, moving }: StatusCardProps): ReactNode {
  const { isActive, lastReminderSent, timezone: zone, pause } = status
  const waits = isActive && (!mailbox.configured || pause !== null)
  return (
    <Panel>
      <div className={styles.state}>
        <div>
          <h2 className={styles.heading}>{texts.status.heading}</h2>
          <p className={styles.active} data-active={isActive || undefined} data-waits={waits || undefined}>
            <span className={styles.dot} aria-hidden />
            <span>{isActive ? texts.status.active : texts.status.inactive}</span>
          </p>
          {waits && <p className={styles.waits}>{mailbox.configured ? texts.status.pausedWaits : texts.status.waits}</p>}
        </div>
        <MainButton active={isActive} configured={mailbox.configured} presses={presses} moving={moving} />
      </div>
      <dl className={styles.facts}>
        <div>
          <dt>{texts.status.email}</dt>
          {mailbox.configured ? (
            <dd>
              {texts.status.configured}
              <span className={styles.aside} title={mailbox.user ?? ''}>
                {mailbox.user}
              </span>
            </dd>
          ) : (
            <dd data-tone="warn">{texts.status.notConfigured}</dd>
          )}
        </div>
        <div>
          <dt>{texts.status.last}</dt>
          <dd>{lastReminderSent === null ? texts.status.never : dayAndTime(zone, lastReminderSent)}</dd>
        </div>
        <div>
          <dt>{texts.status.next}</dt>
          {waits ? <dd data-tone="warn">{whenAgain(status)}</dd> : <NextRun status={status} />}
        </div>
      </dl>
      <ul className={styles.help} aria-label={texts.help.heading}>
        <li>
          {texts.help.start(hourInWords(status.reminderHour))} <Link to="/dashboard/profile?tab=preferences">{texts.help.changeHour}</Link>
        </li>
        <li>{texts.help.who}</li>
        <li>{texts.help.stop}</li>
      </ul>
    </Panel>
  )
}

/** When something can leave again while the mailbox is missing or refuses. */
function whenAgain({ pause, nextRunAt, timezone }: StatusCardProps['status']): string {
  if (pause === null) return texts.status.waitingNext
  if (pause.until === null) return texts.status.pausedNext
  const next = nextRunAt !== null && Date.parse(nextRunAt) > Date.parse(pause.until) ? nextRunAt : pause.until
  return comingMoment(timezone, next, new Date())
}

function NextRun({ status }: { status: StatusCardProps['status'] }): ReactNode {
  const { isActive, nextRunAt, timezone: zone } = status
  if (!isActive) return <dd>{texts.status.noNext}</dd>
  if (nextRunAt === null) return <dd>{texts.status.notPlanned}</dd>
  return (
    <dd>
      {comingMoment(zone, nextRunAt, new Date())}
      <span className={styles.aside}>{texts.status.zone(zone)}</span>
    </dd>
  )
}

function MainButton(props: { active: boolean; configured: boolean; presses: Presses; moving: boolean }): ReactNode {
  const { active, configured, presses, moving } = props
  // Looks and counts as disabled, but can be reached and says why.
  if (!active && !configured) {
    return (
      <Button data-disabled aria-disabled onClick={() => void presses.start()}>
        {texts.start.button}
      </Button>
    )
  }
  if (active) {
    return (
      <BusyButton key="main" variant="default" busy={presses.stopping} busyText={texts.stop.busy} onClick={presses.stop}>
        {texts.stop.button}
      </BusyButton>
    )
  }
  return (
    <BusyButton
      key="main"
      busy={presses.starting || presses.looking === 'start'}
      busyText={presses.starting ? texts.start.busy : texts.start.checking}
      disabled={presses.sending || presses.stopping || moving}
      onClick={() => void presses.start()}
    >
      {texts.start.button}
    </BusyButton>
  )
}
