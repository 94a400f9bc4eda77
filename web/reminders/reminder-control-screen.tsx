import { Button, Skeleton } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { Link } from 'react-router'
import type { CallReply } from '#contract/call.ts'
import { causeOf, type MailConfig, mailCalls, type SenderPause } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { PageHeader } from '#web/ui/panel.tsx'
import { ComingUp } from './coming-up.tsx'
import { GroupingCard, SendNowCard, StatusCard } from './control-cards.tsx'
import { dayAndTime, relativeDateInline } from './dates.ts'
import { MailboxNeededDialog, NothingLeftDialog } from './dialogs.tsx'
import { LastRuns } from './last-runs.tsx'
import styles from './reminders.module.css'
import { RunPanel } from './run-panel.tsx'
import { texts } from './texts.ts'
import { useFollowedRun } from './use-followed-run.ts'
import { useReminderActions } from './use-reminder-actions.tsx'
import { useRunActions } from './use-run-actions.tsx'

/** Milliseconds between two polls of the status. */
const whileStarting = 700
const usually = 15_000

export default function ReminderControlScreen(): ReactNode {
  const status = useApiQuery(reminderCalls.status)
  const mailbox = useApiQuery(mailCalls.config)
  return (
    <>
      <PageHeader title={texts.title} subtitle={texts.subtitle} />
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
    <div className={styles.top}>
      <Skeleton height={342} radius={14} />
      <Skeleton height={342} radius={14} />
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
  const followed = useFollowedRun(status.openRunId)
  const actions = useReminderActions({ configured, active: isActive, preview, runs, followed })
  const { dialog, closeDialog, trouble } = actions
  const runActions = useRunActions(followed, isActive)
  const starting = actions.starting || actions.sending || runActions.retrying !== null
  const retry = { busy: runActions.retrying, disabled: starting || actions.stopping || followed.inProgress, start: runActions.retry }
  // The call may answer only after 20 seconds; the status names its run long before.
  useApiQuery(reminderCalls.status, {}, { refetchInterval: starting ? whileStarting : usually })
  // Every next date depends on it, and it may change in another window.
  const activeBefore = useRef(isActive)
  const { refetch } = preview
  useEffect(() => {
    if (activeBefore.current !== isActive) void refetch()
    activeBefore.current = isActive
  }, [isActive, refetch])
  const shownByRun = trouble !== null && trouble.run !== null && trouble.run === followed.run?._id
  return (
    <>
      {!configured && <UnconfiguredBanner />}
      {configured && status.pause && <PausedBanner pause={status.pause} zone={zone} />}
      {status.trouble && <Notice tone="warn">{status.trouble}</Notice>}
      {trouble !== null && !shownByRun && <Notice tone="bad">{trouble.message}</Notice>}
      {runActions.trouble !== null && <Notice tone="bad">{runActions.trouble}</Notice>}
      <RunPanel
        followed={followed}
        starting={starting}
        zone={zone}
        onCancel={runActions.cancel}
        retry={retry}
        lead={shownByRun ? trouble.message : null}
      />
      <div className={styles.top}>
        <StatusCard status={status} mailbox={mailbox} actions={actions} inProgress={followed.inProgress} />
        <SendNowCard
          mailbox={configured ? (status.pause === null ? 'works' : 'paused') : 'missing'}
          emails={preview.data?.sendNowMails ?? null}
          reminded={preview.data?.remindedToday ?? 0}
          actions={actions}
          inProgress={followed.inProgress}
        />
      </div>
      <GroupingCard />
      <ComingUp preview={preview} zone={zone} />
      <LastRuns runs={runs} zone={zone} retry={retry} />
      <NothingLeftDialog opened={dialog === 'nothing-left'} remindedToday={preview.data?.remindedToday ?? 0} onClose={closeDialog} />
      <MailboxNeededDialog action="start" opened={dialog === 'needed-to-start'} onClose={closeDialog} />
      <MailboxNeededDialog action="send" opened={dialog === 'needed-to-send'} onClose={closeDialog} />
    </>
  )
}

const toSettings = (
  <Button component={Link} to={screens.mailSettings} variant="default">
    {texts.emailSettings}
  </Button>
)

function UnconfiguredBanner(): ReactNode {
  return (
    <Notice tone="warn" title={texts.unconfigured.title} action={toSettings}>
      {texts.unconfigured.text}
    </Notice>
  )
}

function PausedBanner({ pause, zone }: { pause: SenderPause; zone: string }): ReactNode {
  const cause = causeOf(pause)
  return (
    <Notice tone="bad" title={texts.pause.titles[cause]} action={toSettings}>
      <p className={styles.text}>
        {cause === 'login_refused' ? (
          <>
            {texts.pause.said} <q>{pause.message}</q>
          </>
        ) : (
          pause.message
        )}
      </p>
      <p className={styles.text}>
        {`${texts.pause.since(dayAndTime(zone, pause.since))} ${
          pause.until === null
            ? texts.pause.todo[pause.reason][pause.provider]
            : texts.pause.resumes(relativeDateInline(zone, pause.until, new Date()))
        }`}
      </p>
    </Notice>
  )
}
