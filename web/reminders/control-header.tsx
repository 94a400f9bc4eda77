import { Button } from '@mantine/core'
import { IconSend2 } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { CallReply } from '#contract/call.ts'
import type { MailConfig } from '#contract/mail.ts'
import { planThatLifts } from '#contract/plans.ts'
import type { reminderCalls } from '#contract/reminders.ts'
import { screens, withQuery } from '#contract/screens.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { dayAndTime, showHour } from '#web/ui/dates.ts'
import { PageHeader } from '#web/ui/panel.tsx'
import styles from './reminders.module.css'
import { texts } from './texts.ts'
import type { ReminderActions } from './use-reminder-actions.tsx'

interface ControlHeaderProps {
  status: CallReply<typeof reminderCalls.status>
  mailbox: MailConfig
  actions: ReminderActions
  inProgress: boolean
}

/** The title, whether daily reminders are on, and the two buttons. */
export function ControlHeader({ status, mailbox, actions, inProgress }: ControlHeaderProps): ReactNode {
  const { state, words, reason, lastReminderSent, timezone: zone } = status
  return (
    <PageHeader
      title={texts.title}
      action={
        <div className={styles.buttons}>
          <MainButton active={status.isActive} configured={mailbox.configured} actions={actions} inProgress={inProgress} />
          <BusyButton
            variant="default"
            leftSection={<IconSend2 size={18} stroke={1.7} />}
            busy={actions.sending || actions.checking === 'send'}
            busyText={actions.sending ? texts.sendNow.busy : texts.start.checking}
            disabled={actions.starting || actions.stopping || (inProgress && !actions.sending)}
            aria-describedby="send-now-description"
            onClick={() => void actions.sendNow()}
          >
            {texts.sendNow.button}
          </BusyButton>
        </div>
      }
    >
      <p className={styles.state} data-state={state}>
        <span className={styles.dot} aria-hidden />
        <strong>{words}</strong>
        {state === 'active' && (
          <span className={styles.hour}>{texts.status.daily(showHour(status.reminderHour), texts.status.zone(zone))}</span>
        )}
        {reason === 'plan' && (
          <Link to={withQuery(screens.pricing, { plan: planThatLifts('scheduling').name })} reloadDocument className={styles.inline}>
            {texts.status.choose}
          </Link>
        )}
      </p>
      <dl className={styles.facts}>
        <div>
          <dt>{texts.status.email}</dt>
          <dd data-tone={mailbox.configured ? undefined : 'warn'}>
            {mailbox.configured ? texts.status.configured : texts.status.notConfigured}
            {mailbox.configured && <span className={styles.address}>{mailbox.user}</span>}
          </dd>
        </div>
        <div>
          <dt>{texts.status.last}</dt>
          <dd>{lastReminderSent === null ? texts.status.never : dayAndTime(zone, lastReminderSent)}</dd>
        </div>
      </dl>
    </PageHeader>
  )
}

function MainButton(props: { active: boolean; configured: boolean; actions: ReminderActions; inProgress: boolean }): ReactNode {
  const { active, configured, actions, inProgress } = props
  // Not `disabled`: the button must stay focusable, because a click explains what is missing.
  if (!active && !configured) {
    return (
      <Button data-disabled aria-disabled onClick={() => void actions.start()}>
        {texts.start.button}
      </Button>
    )
  }
  if (active) {
    return (
      <BusyButton key="main" variant="default" busy={actions.stopping} busyText={texts.stop.busy} onClick={actions.stop}>
        {texts.stop.button}
      </BusyButton>
    )
  }
  return (
    <BusyButton
      key="main"
      busy={actions.starting || actions.checking === 'start'}
      busyText={actions.starting ? texts.start.busy : texts.start.checking}
      disabled={actions.sending || actions.stopping || inProgress}
      onClick={() => void actions.start()}
    >
      {texts.start.button}
    </BusyButton>
  )
}
