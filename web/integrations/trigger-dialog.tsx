import { Button } from '@mantine/core'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link } from 'react-router'
import type { CallReply } from '#contract/call.ts'
import { integrationCalls } from '#contract/integrations.ts'
import { mailCalls } from '#contract/mail.ts'
import { formatRupees } from '#contract/money.ts'
import { type RunAnswer, reminderCalls } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { BusyButton } from '#web/ui/buttons.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { DueList } from '#web/ui/due-list.tsx'
import { FormError } from '#web/ui/notice.tsx'
import styles from './trigger.module.css'
import { TriggerResult } from './trigger-result.tsx'
import { triggerTexts as texts } from './trigger-texts.ts'
import { useGoingForPermission } from './use-going-for-permission.ts'
import { useLateness } from './use-lateness.ts'
import { useSendTrigger } from './use-send-trigger.ts'

/** Asks before clients are written to: who, and about how much. Whoever has not permitted it yet is sent to do that, and comes back. */
export function TriggerDialog({ opened, onClose }: { opened: boolean; onClose: () => void }): ReactNode {
  const [busy, setBusy] = useState(false)
  const connections = useApiQuery(integrationCalls.connections, {}, { enabled: opened, staleTime: 0 })
  const permitted = connections.data?.some(({ own }) => own)
  const late = useLateness(opened && permitted === undefined)
  useGoingForPermission(opened && permitted === false)
  return (
    <Dialog
      // Where it is not permitted nothing is asked here, so nothing should flash.
      opened={opened && permitted !== false && (permitted === true || connections.isError || late)}
      onClose={busy ? () => undefined : onClose}
      title={texts.title}
      centered
      size={480}
    >
      <QueryView query={connections} loading={texts.loading} error={texts.failed} empty={null}>
        {() => <WithMailbox onBusy={setBusy} onClose={onClose} />}
      </QueryView>
    </Dialog>
  )
}

interface StepProps {
  onBusy: (busy: boolean) => void
  onClose: () => void
}

function WithMailbox({ onBusy, onClose }: StepProps): ReactNode {
  const mailbox = useApiQuery(mailCalls.config)
  return (
    <QueryView query={mailbox} loading={texts.loading} error={texts.failed} empty={null}>
      {({ configured }) => (configured ? <Due onBusy={onBusy} onClose={onClose} /> : <MailboxFirst onClose={onClose} />)}
    </QueryView>
  )
}

function MailboxFirst({ onClose }: { onClose: () => void }): ReactNode {
  return (
    <>
      <p className={styles.words}>{texts.mailbox.text}</p>
      <Buttons onClose={onClose} close={texts.close}>
        <Button component={Link} to={screens.mailSettings}>
          {texts.mailbox.open}
        </Button>
      </Buttons>
    </>
  )
}

function Due({ onBusy, onClose }: StepProps): ReactNode {
  const preview = useApiQuery(reminderCalls.preview, {}, { staleTime: 0 })
  const [answer, setAnswer] = useState<RunAnswer | null>(null)
  if (answer)
    return (
      <>
        <TriggerResult answer={answer} />
        <Buttons onClose={onClose} close={texts.close}>
          <Button component={Link} to={screens.reminderControl}>
            {texts.follow}
          </Button>
        </Buttons>
      </>
    )
  return (
    <QueryView query={preview} loading={texts.loading} error={texts.failed} empty={null}>
      {(due) => <Question due={due} onBusy={onBusy} onClose={onClose} onTrouble={setAnswer} />}
    </QueryView>
  )
}

interface QuestionProps extends StepProps {
  due: CallReply<typeof reminderCalls.preview>
  /** Not everybody was reached. */
  onTrouble: (answer: RunAnswer) => void
}

function Question({ due, onBusy, onClose, onTrouble }: QuestionProps): ReactNode {
  const status = useApiQuery(reminderCalls.status)
  const { trigger, sending, problem } = useSendTrigger((answer) => {
    if (answer.failed + answer.retrying > 0) onTrouble(answer)
    else onClose()
  })
  useEffect(() => {
    onBusy(sending)
    return () => onBusy(false)
  }, [sending, onBusy])
  const lines = due.lines.filter(({ dueNow }) => dueNow)
  const leftOut = due.lines.filter(({ dueNow, daysOverdue }) => !dueNow && daysOverdue > 0).length
  const nobody = due.mails === 0
  return (
    <>
      {nobody ? (
        <p className={styles.words}>{texts.nobody}</p>
      ) : (
        <>
          <p className={styles.words}>{texts.leaving(due.mails)}</p>
          <div className={styles.sum}>{formatRupees(due.total)}</div>
          <DueList label={texts.list} lines={lines} mails={due.mails} />
        </>
      )}
      {leftOut > 0 && <p className={styles.quiet}>{texts.leftOut(leftOut)}</p>}
      {status.data?.pause && !nobody && <p className={styles.quiet}>{texts.paused}</p>}
      {!nobody && <p className={styles.quiet}>{texts.once}</p>}
      <Buttons onClose={onClose} close={nobody ? texts.close : texts.cancel} disabled={sending}>
        {!nobody && (
          <BusyButton busy={sending} busyText={texts.busy} onClick={trigger}>
            {texts.confirm}
          </BusyButton>
        )}
      </Buttons>
      <FormError message={problem} />
    </>
  )
}

interface ButtonsProps {
  close: string
  onClose: () => void
  disabled?: boolean
  children: ReactNode
}

/** The button to stay comes first, so that a hasty Enter does no harm. */
function Buttons({ close, onClose, disabled, children }: ButtonsProps): ReactNode {
  const stay = useRef<HTMLButtonElement>(null)
  // The window was there first, and its cross has the focus until now.
  useEffect(() => {
    if (document.activeElement?.matches('[role="dialog"] header button')) stay.current?.focus({ preventScroll: true })
  }, [])
  return (
    <div className={styles.buttons}>
      <Button ref={stay} variant="default" onClick={onClose} disabled={disabled ?? false} data-autofocus>
        {close}
      </Button>
      {children}
    </div>
  )
}
