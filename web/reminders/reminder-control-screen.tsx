import { Button, Skeleton, VisuallyHidden } from '@mantine/core'
import { IconSend2 } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useDeferredValue, useEffect, useRef } from 'react'
import { Link, useSearchParams } from 'react-router'
import { billingCalls } from '#contract/billing.ts'
import type { CallReply } from '#contract/call.ts'
import { type MailConfig, mailCalls } from '#contract/mail.ts'
import { planThatLifts } from '#contract/plans.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { screens, withQuery } from '#contract/screens.ts'
import { causeOf, type SenderPause } from '#contract/sender-pause.ts'
import { sequenceCalls } from '#contract/sequences.ts'
import { Allowed, ConfirmEmailNotice, Leaving } from '#web/platform/account.tsx'
import { invalidate, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { BusyButton } from '#web/ui/buttons.tsx'
import { dayAndTime, showComing, showHour } from '#web/ui/dates.ts'
import { Notice } from '#web/ui/notice.tsx'
import { PageHeader } from '#web/ui/panel.tsx'
import { MailboxNeededDialog, NothingLeftDialog } from './dialogs.tsx'
import { LastRuns } from './last-runs.tsx'
import { NextPart } from './next-part.tsx'
import { parts, showPart } from './part.tsx'
import styles from './reminders.module.css'
import { RunPanel } from './run-result.tsx'
import { type Failure, openFailures, useFollowedRun } from './runs.ts'
import { SendDialog } from './send-dialog.tsx'
import { SettingsPart } from './settings-part.tsx'
import { texts } from './texts.ts'
import { type ReminderActions, useReminderActions, useRunActions } from './use-reminder-actions.tsx'

/** Milliseconds between two polls of the status. */
const whileStarting = 700
const usually = 15_000

/** `?run=…` opens a run and brings it into view; `?preview`, `?start` and `?send` open the dialog of that button. */
export default function ReminderControlScreen(): ReactNode {
  const status = useApiQuery(reminderCalls.status)
  const mailbox = useApiQuery(mailCalls.config)
  // Deferred, as the queries’ answers are: the header of `Control` takes its place in the same commit.
  const loaded = useDeferredValue(status.data !== undefined && mailbox.data !== undefined)
  return (
    <>
      {!loaded && <PageHeader title={texts.title} subtitle={texts.subtitle} />}
      <QueryView query={mailbox} loading={texts.loading} skeleton={<ControlSkeleton />} error={texts.failed} empty={null}>
        {(box) => (
          <QueryView query={status} loading={texts.loading} skeleton={<ControlSkeleton />} error={texts.failed} empty={null}>
            {(now) => <Control status={now} mailbox={box} />}
          </QueryView>
        )}
      </QueryView>
    </>
  )
}

function ControlSkeleton(): ReactNode {
  return (
    <div className={styles.parts}>
      <Skeleton height={480} radius={14} />
      <Skeleton height={480} radius={14} />
    </div>
  )
}

interface ControlProps {
  status: CallReply<typeof reminderCalls.status>
  mailbox: MailConfig
}

function Control({ status, mailbox }: ControlProps): ReactNode {
  const { configured } = mailbox
  const preview = useApiQuery(reminderCalls.preview)
  const runs = useApiQuery(reminderCalls.runs)
  const { isActive, timezone: zone } = status
  // A run that waits to leave is not in progress.
  const followed = useFollowedRun(status.openRunId === status.leavingRunId ? null : status.openRunId)
  const actions = useReminderActions({ configured, active: isActive, preview, runs, followed })
  const { dialog, closeDialog, trouble } = actions
  const runActions = useRunActions(followed, isActive)
  const starting = actions.starting || actions.sending || runActions.retrying !== null || runActions.trying !== null
  const retry = {
    busy: runActions.retrying,
    disabled: starting || actions.stopping || followed.inProgress,
    start: runActions.retry,
    trying: runActions.trying,
    tryAddress: runActions.tryAddress,
  }
  const lines = preview.data?.lines ?? []
  const asked = useAsked(actions, isActive)
  // The call may answer only after 20 seconds; the status names its run long before.
  useApiQuery(reminderCalls.status, {}, { refetchInterval: starting ? whileStarting : usually })
  // Every next date depends on them, and they change in another window or when a run is made.
  const stage = `${isActive} ${status.leavingRunId}`
  const stageBefore = useRef(stage)
  const queries = useQueryClient()
  useEffect(() => {
    if (stageBefore.current !== stage) void invalidate(queries, [reminderCalls.preview, reminderCalls.runs, sequenceCalls.plan])
    stageBefore.current = stage
  }, [stage, queries])
  const shownByRun = trouble !== null && trouble.run !== null && trouble.run === followed.run?._id
  return (
    <>
      <ControlHeader status={status} mailbox={mailbox} actions={actions} inProgress={followed.inProgress} />
      <ConfirmEmailNotice />
      {!configured && <UnconfiguredBanner />}
      {configured && status.pause && <PausedBanner pause={status.pause} zone={zone} />}
      {status.trouble && <Notice tone="warn">{status.trouble}</Notice>}
      {trouble !== null && !shownByRun && <Notice tone="bad">{trouble.message}</Notice>}
      {runActions.trouble !== null && <Notice tone="bad">{runActions.trouble}</Notice>}
      <Leaving />
      <RunPanel
        followed={followed}
        starting={starting}
        zone={zone}
        onCancel={runActions.cancel}
        retry={retry}
        lines={lines}
        lead={shownByRun ? trouble.message : null}
      />
      <PartLinks failed={[...openFailures(runs.data ?? [], lines).values()].flat()} />
      <div className={styles.parts}>
        <NextPart preview={preview} status={status} />
        <LastRuns runs={runs} lines={lines} zone={zone} retry={retry} asked={asked} above={followed.run?._id ?? null} />
      </div>
      <Allowed by="admin" says>
        <SettingsPart hour={status.reminderHour} mailbox={mailbox.user} />
      </Allowed>
      <SendDialog
        action={dialog === 'start' || dialog === 'send' ? dialog : null}
        reading={actions.reading}
        onClose={closeDialog}
        onConfirm={actions.confirm}
      />
      <NothingLeftDialog opened={dialog === 'nothing-left'} remindedToday={preview.data?.remindedToday ?? 0} onClose={closeDialog} />
      <MailboxNeededDialog action="start" opened={dialog === 'needed-to-start'} onClose={closeDialog} />
      <MailboxNeededDialog action="send" opened={dialog === 'needed-to-send'} onClose={closeDialog} />
    </>
  )
}

/** Answers the run that the address asks for, and opens the dialog that it asks for, once. */
function useAsked({ start, sendNow }: ReminderActions, active: boolean): string | null {
  const subscription = useApiQuery(billingCalls.subscription)
  const daily = subscription.data?.entitlements.abilities.includes('scheduling') ?? true
  const [address, setAddress] = useSearchParams()
  const wanted = (['preview', 'start', 'send'] as const).find((name) => address.has(name)) ?? null
  const answered = useRef<typeof wanted>(null)
  useEffect(() => {
    // The plan decides which of the two dialogs shows the first emails.
    if (answered.current === wanted || subscription.isPending) return
    answered.current = wanted
    if (wanted === null) return
    setAddress({}, { replace: true, preventScrollReset: true })
    const reading = wanted === 'preview'
    if (wanted === 'send' || !daily) void sendNow(reading)
    else if (!active) void start(reading)
  })
  return address.get('run')
}

/** On a phone the parts are below each other, far apart. */
function PartLinks({ failed }: { failed: Failure[] }): ReactNode {
  const [first] = failed
  const clients = [...new Set(failed.map(({ clientName }) => clientName))]
  return (
    <nav aria-label={texts.parts.label} className={styles.links}>
      {first && (
        <button type="button" className={styles.undelivered} onClick={() => showPart('last-runs')}>
          {texts.parts.undelivered(clients, first.words)}
        </button>
      )}
      {parts.map((name) => (
        <a
          key={name}
          href={`#${name}`}
          className={styles.link}
          onClick={(event) => {
            event.preventDefault()
            showPart(name)
          }}
        >
          {texts.parts[name]}
          {name === 'last-runs' && first && (
            <span className={styles.badge}>
              {failed.length.toLocaleString('en-IN')}
              <VisuallyHidden>{` ${texts.parts.failed}`}</VisuallyHidden>
            </span>
          )}
        </a>
      ))}
    </nav>
  )
}

function UnconfiguredBanner(): ReactNode {
  return (
    <Notice
      tone="warn"
      title={texts.unconfigured.title}
      action={
        <Button component={Link} to={screens.mailSettings}>
          {texts.emailSettings}
        </Button>
      }
    >
      {texts.unconfigured.text}
    </Notice>
  )
}

function PausedBanner({ pause, zone }: { pause: SenderPause; zone: string }): ReactNode {
  const cause = causeOf(pause)
  return (
    <Notice
      tone="bad"
      title={texts.pause.titles[cause]}
      action={
        <Button component={Link} to={screens.mailSettings} variant="default">
          {texts.emailSettings}
        </Button>
      }
    >
      <p className={styles.text}>
        {cause === 'login_refused' || cause === 'sender_refused' ? (
          <>
            {texts.pause.said} <q>{pause.message}</q>
          </>
        ) : (
          pause.message
        )}
      </p>
      <p className={styles.text}>
        {`${texts.pause.since(dayAndTime(zone, pause.since))} ${pause.advice === null ? '' : `${pause.advice} `}${
          pause.until === null
            ? texts.pause.todo[pause.reason][pause.provider]
            : (cause === 'sender_refused' ? texts.pause.tries : texts.pause.resumes)(showComing(zone, new Date(pause.until), new Date()))
        }`}
      </p>
    </Notice>
  )
}

interface ControlHeaderProps {
  status: CallReply<typeof reminderCalls.status>
  mailbox: MailConfig
  actions: ReminderActions
  inProgress: boolean
}

/** The title, whether daily reminders are on, and the two buttons. */
function ControlHeader({ status, mailbox, actions, inProgress }: ControlHeaderProps): ReactNode {
  const { state, words, reason, lastReminderSent, timezone: zone } = status
  return (
    <PageHeader
      title={texts.title}
      action={
        <div className={styles.buttons}>
          <Allowed by="admin">
            <MainButton active={status.isActive} configured={mailbox.configured} actions={actions} inProgress={inProgress} />
          </Allowed>
          <Allowed by="member">
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
          </Allowed>
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
