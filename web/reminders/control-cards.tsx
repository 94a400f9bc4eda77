import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Switch.layer.css'
import { Button, Switch } from '@mantine/core'
import { IconSend2 } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import type { CallReply } from '#contract/call.ts'
import type { MailConfig } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { screens, withQuery } from '#contract/screens.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { BusyButton } from '#web/ui/buttons.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { Panel } from '#web/ui/panel.tsx'
import { dayAndTime, relativeDate, showHour } from './dates.ts'
import styles from './reminders.module.css'
import { texts } from './texts.ts'
import type { ReminderActions } from './use-reminder-actions.tsx'

interface StatusCardProps {
  status: CallReply<typeof reminderCalls.status>
  mailbox: MailConfig
  actions: ReminderActions
  inProgress: boolean
}

export function StatusCard({ status, mailbox, actions, inProgress }: StatusCardProps): ReactNode {
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
        <MainButton active={isActive} configured={mailbox.configured} actions={actions} inProgress={inProgress} />
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
          {waits ? <dd data-tone="warn">{nextSend(status)}</dd> : <NextRun status={status} />}
        </div>
      </dl>
      <ul className={styles.help} aria-label={texts.help.heading}>
        <li>
          {texts.help.start(showHour(status.reminderHour))}{' '}
          <Link to={withQuery(screens.profile, { tab: 'preferences' })}>{texts.help.changeHour}</Link>
        </li>
        <li>{texts.help.who}</li>
        <li>{texts.help.stop}</li>
      </ul>
    </Panel>
  )
}

/** While the mailbox is missing or paused. */
function nextSend({ pause, nextRunAt, timezone }: StatusCardProps['status']): string {
  if (pause === null) return texts.status.waitingNext
  if (pause.until === null) return texts.status.pausedNext
  const next = nextRunAt !== null && Date.parse(nextRunAt) > Date.parse(pause.until) ? nextRunAt : pause.until
  return relativeDate(timezone, next, new Date())
}

function NextRun({ status }: { status: StatusCardProps['status'] }): ReactNode {
  const { isActive, nextRunAt, timezone: zone } = status
  if (!isActive) return <dd>{texts.status.noNext}</dd>
  if (nextRunAt === null) return <dd>{texts.status.notPlanned}</dd>
  return (
    <dd>
      {relativeDate(zone, nextRunAt, new Date())}
      <span className={styles.aside}>{texts.status.zone(zone)}</span>
    </dd>
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

interface SendNowCardProps {
  mailbox: 'missing' | 'paused' | 'works'
  /** null while unknown. */
  emails: number | null
  /** Invoices that were reminded today. */
  reminded: number
  actions: ReminderActions
  inProgress: boolean
}

export function SendNowCard({ mailbox, emails, reminded, actions, inProgress }: SendNowCardProps): ReactNode {
  return (
    <Panel title={texts.sendNow.button}>
      <p className={styles.description} id="send-now-description">
        {texts.sendNow.description}
      </p>
      <p className={styles.ready}>
        {mailbox !== 'missing' && emails !== null && texts.sendNow[mailbox === 'works' ? 'ready' : 'held'](emails)}
        {mailbox === 'works' && (emails ?? 0) > 0 && reminded > 0 && ` ${texts.sendNow.reminded(reminded)}`}
      </p>
      <div className={styles.send}>
        <BusyButton
          variant="default"
          fullWidth
          leftSection={<IconSend2 size={18} stroke={1.7} />}
          busy={actions.sending || actions.checking === 'send'}
          busyText={texts.sendNow.busy}
          disabled={actions.starting || actions.stopping || (inProgress && !actions.sending)}
          aria-describedby="send-now-description"
          onClick={() => void actions.sendNow()}
        >
          {texts.sendNow.button}
        </BusyButton>
      </div>
    </Panel>
  )
}

const t = texts.grouping

export function GroupingCard(): ReactNode {
  const settings = useApiQuery(reminderCalls.settings)
  return (
    <Panel title={t.title}>
      <QueryView query={settings} loading={t.loading} error={t.failed} empty={null}>
        {({ groupByClient }) => <GroupSwitch on={groupByClient} />}
      </QueryView>
      <Link to={withQuery(screens.emailTemplates, { tab: 'group' })} className={styles.template}>
        {t.template}
      </Link>
    </Panel>
  )
}

/** Saves on change; a failed save restores the stored value. */
function GroupSwitch({ on }: { on: boolean }): ReactNode {
  const [wanted, setWanted] = useState<boolean | null>(null)
  const change = useApiMutation(reminderCalls.changeSettings, {
    invalidates: [reminderCalls.settings, reminderCalls.preview],
    onSuccess: () => setWanted(null),
    onError: () => setWanted(null),
  })
  return (
    <>
      <Switch
        size="md"
        label={t.label}
        description={t.hint}
        checked={wanted ?? on}
        aria-busy={change.isPending}
        classNames={{
          track: styles.switchTrack ?? '',
          label: styles.switchLabel ?? '',
          description: styles.switchHint ?? '',
          body: styles.switchBody ?? '',
        }}
        onChange={(event) => {
          if (change.isPending) return
          setWanted(event.currentTarget.checked)
          change.mutate({ body: { groupByClient: event.currentTarget.checked } })
        }}
      />
      <FormError message={change.isError ? t.notSaved(errorMessage(change.error)) : null} />
    </>
  )
}
