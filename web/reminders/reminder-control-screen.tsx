import { Skeleton } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import type { CallReply } from '#contract/call.ts'
import { type MailConfig, mailCalls } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { PageHeader } from '#web/ui/panel.tsx'
import { AgainDialog } from './again-dialog.tsx'
import { CancelDialog } from './cancel-dialog.tsx'
import { ComingUp } from './coming-up.tsx'
import styles from './control.module.css'
import { Grouping } from './grouping.tsx'
import { LastRuns } from './last-runs.tsx'
import { MailNeededDialog } from './mail-needed-dialog.tsx'
import { PausedNotice, UnconfiguredNotice } from './obstacles.tsx'
import { RunPanel } from './run-panel.tsx'
import { SendNowCard } from './send-now-card.tsx'
import { StartDialog } from './start-dialog.tsx'
import { StatusCard } from './status-card.tsx'
import { StopDialog } from './stop-dialog.tsx'
import { texts } from './texts.ts'
import { usePresses } from './use-presses.ts'
import { useRun } from './use-run.ts'
import { useRunPresses } from './use-run-presses.ts'

/** Milliseconds between two looks at the status: while a press waits for its answer, and otherwise. */
const whilePressed = 700
const usually = 15_000

/** /dashboard/reminder-control */
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

/** The frames of the two cards at the top. */
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
  const followed = useRun(status.openRunId)
  const presses = usePresses({ configured, preview, runs, followed })
  const { dialog, closeDialog, trouble } = presses
  const runPresses = useRunPresses(followed)
  const pressed = presses.starting || presses.sending || runPresses.retrying !== null
  const again = { busy: runPresses.retrying, disabled: pressed || presses.stopping || followed.moving, press: runPresses.retry }
  // The answer may take 20 s; the run that a press made shows up in the status long before.
  useApiQuery(reminderCalls.status, {}, { refetchInterval: pressed ? whilePressed : usually })
  // Switched on or off, here or in another window: every next date changes with it, long before the run is over.
  const { isActive } = status
  const activeBefore = useRef(isActive)
  const { refetch } = preview
  useEffect(() => {
    if (activeBefore.current !== isActive) void refetch()
    activeBefore.current = isActive
  }, [isActive, refetch])
  const zone = status.timezone
  const toldByRun = trouble !== null && trouble.run !== null && trouble.run === followed.run?._id
  const underWay = preview.data?.lines.filter(({ reason }) => reason === 'open_mail').length ?? 0
  return (
    <>
      {!configured && <UnconfiguredNotice />}
      {configured && status.pause && <PausedNotice pause={status.pause} zone={zone} />}
      {status.trouble && <Notice tone="warn">{status.trouble}</Notice>}
      {trouble !== null && !toldByRun && <Notice tone="bad">{trouble.message}</Notice>}
      {runPresses.trouble !== null && <Notice tone="bad">{runPresses.trouble}</Notice>}
      <RunPanel
        followed={followed}
        pressed={pressed}
        zone={zone}
        onCancel={runPresses.cancel}
        again={again}
        lead={toldByRun ? trouble.message : null}
      />
      <div className={styles.top}>
        <StatusCard status={status} mailbox={mailbox} presses={presses} moving={followed.moving} />
        <SendNowCard
          mailbox={configured ? (status.pause === null ? 'works' : 'refuses') : 'missing'}
          mails={preview.data?.sendNowMails ?? null}
          reminded={preview.data?.remindedToday ?? 0}
          presses={presses}
          moving={followed.moving}
        />
      </div>
      <Grouping />
      <ComingUp preview={preview} zone={zone} />
      <LastRuns runs={runs} zone={zone} again={again} />
      {preview.data && (
        <>
          <StartDialog opened={dialog === 'start'} due={preview.data} status={status} onStart={presses.startNow} onCancel={closeDialog} />
          <AgainDialog opened={dialog === 'again'} due={preview.data} onSend={presses.sendAgain} onCancel={closeDialog} />
        </>
      )}
      <StopDialog
        opened={dialog === 'stop'}
        active={isActive}
        waiting={followed.run && followed.moving ? followed.run.open : underWay}
        busy={presses.stopping}
        onStop={presses.stopNow}
        onCancel={closeDialog}
      />
      <CancelDialog
        opened={runPresses.asked !== null}
        waiting={followed.run?.open ?? 0}
        busy={runPresses.cancelling}
        active={isActive}
        onConfirm={runPresses.cancelNow}
        onCancel={runPresses.stay}
      />
      <MailNeededDialog before="start" opened={dialog === 'needed-to-start'} onClose={closeDialog} />
      <MailNeededDialog before="send" opened={dialog === 'needed-to-send'} onClose={closeDialog} />
    </>
  )
}
