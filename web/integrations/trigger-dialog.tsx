import { Button } from '@mantine/core'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import type { CallReply } from '#contract/call.ts'
import { integrationCalls, ownRedirectPath } from '#contract/integrations.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { mailCalls } from '#contract/mail.ts'
import { formatSums } from '#contract/money.ts'
import { mostSelected, type PreviewLine, type RunAnswer, reminderCalls } from '#contract/reminders.ts'
import { screens, withQuery } from '#contract/screens.ts'
import { ConfirmEmailNotice } from '#web/platform/account.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { BusyButton } from '#web/ui/buttons.tsx'
import { Dialog, DueList, ScrollList } from '#web/ui/dialog.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { toast } from '#web/ui/toast.tsx'
import { useArrivalFocus } from './connection-parts.tsx'
import styles from './consent.module.css'
import { triggerTexts as texts } from './texts.ts'

/** Shows which clients get an email and asks. Without permission it redirects to the consent screen, which comes back here. */
export function TriggerDialog({ opened, onClose }: { opened: boolean; onClose: () => void }): ReactNode {
  const [busy, setBusy] = useState(false)
  const connections = useApiQuery(integrationCalls.connections, {}, { enabled: opened, staleTime: 0 })
  const permitted = connections.data?.some(({ own }) => own)
  const late = useDelayed(opened && permitted === undefined)
  useConsentRedirect(opened && permitted === false)
  return (
    <Dialog
      // Stays closed without permission: it must not flash before the redirect.
      opened={opened && permitted !== false && (permitted === true || connections.isError || late)}
      onClose={busy ? () => undefined : onClose}
      title={texts.title}
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
  /** Called when an email failed or is delayed. */
  onTrouble: (answer: RunAnswer) => void
}

function Question({ due, onBusy, onClose, onTrouble }: QuestionProps): ReactNode {
  const status = useApiQuery(reminderCalls.status)
  const lines = due.lines.filter(({ dueNow }) => dueNow)
  const { trigger, sending, problem } = useSendTrigger(lines, (answer) => {
    if (answer.failed + answer.retrying > 0) onTrouble(answer)
    else onClose()
  })
  useEffect(() => {
    onBusy(sending)
    return () => onBusy(false)
  }, [sending, onBusy])
  const leftOut = due.lines.filter(({ dueNow, daysOverdue }) => !dueNow && daysOverdue > 0).length
  const nobody = due.mails === 0
  return (
    <>
      {nobody ? (
        <p className={styles.words}>{texts.nobody}</p>
      ) : (
        <>
          <p className={styles.words}>{texts.leaving(due.mails)}</p>
          <div className={styles.sum}>{formatSums(due.totals, 'INR')}</div>
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
      {problem !== null && <ConfirmEmailNotice />}
    </>
  )
}

interface ButtonsProps {
  close: string
  onClose: () => void
  disabled?: boolean
  children: ReactNode
}

/** Cancel comes first and has the focus, so that a hasty Enter does no harm. */
function Buttons({ close, onClose, disabled, children }: ButtonsProps): ReactNode {
  const stay = useRef<HTMLButtonElement>(null)
  // The dialog opened while loading, so its close button has the focus.
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

/** The result, where an email failed or is delayed. */
function TriggerResult({ answer }: { answer: RunAnswer }): ReactNode {
  const { count, failed, skipped, retrying, failures } = answer
  const arrived = useArrivalFocus<HTMLDivElement>()
  return (
    <div ref={arrived} tabIndex={-1} className={styles.arrived}>
      {count > 0 && <p className={styles.words}>{texts.sent(count)}</p>}
      {retrying > 0 && <p className={styles.words}>{texts.notSentYet(retrying)}</p>}
      {failed > 0 && <p className={styles.words}>{texts.failedOnes(failed)}</p>}
      {failures.length > 0 && (
        <ScrollList label={texts.failedOnes(failed)}>
          {failures.map(({ invoiceId, clientEmail, message }) => (
            <li key={invoiceId}>
              <span className={styles.client}>{clientEmail}</span>
              <span className={styles.said}>{message === '' ? texts.noWords : <q>{message}</q>}</span>
            </li>
          ))}
        </ScrollList>
      )}
      {skipped > 0 && <p className={styles.quiet}>{texts.skipped(skipped)}</p>}
    </div>
  )
}

interface SendTrigger {
  trigger: () => void
  sending: boolean
  problem: string | null
}

/** Triggers the reminders of these lines and shows the result in a toast. */
function useSendTrigger(lines: PreviewLine[], onDone: (answer: RunAnswer) => void): SendTrigger {
  const said = (error: Error) => `${texts.notDone} ${errorMessage(error)}`
  const send = useApiMutation(integrationCalls.trigger, {
    invalidates: [
      reminderCalls.status,
      reminderCalls.preview,
      reminderCalls.runs,
      reminderCalls.history,
      invoiceCalls.list,
      invoiceCalls.read,
    ],
    onSuccess: (answer) => {
      report(answer)
      onDone(answer)
    },
    onError: (error) => toast('bad', said(error)),
  })
  // Only what was shown leaves, not also what became due since. A call takes no more ids: all are asked for without.
  const selection = lines.length > mostSelected ? {} : { invoiceIds: lines.map(({ invoiceId }) => invoiceId) }
  return { trigger: () => send.mutate({ body: selection }), sending: send.isPending, problem: send.isError ? said(send.error) : null }
}

/** Success only if an email was accepted: delayed, skipped and failed ones are named as such. */
function report({ count, failed, retrying }: RunAnswer): void {
  const message = [
    ...(count > 0 ? [texts.sent(count)] : []),
    ...(failed > 0 ? [texts.failedShort(failed)] : []),
    ...(retrying > 0 ? [texts.notSentYet(retrying)] : []),
  ].join(' ')
  if (failed > 0) toast('bad', message)
  else if (message === '') toast('info', texts.sentNone)
  else toast(count > 0 ? 'good' : 'info', `${texts.done} ${message}`)
}

/** Redirects to the consent screen with Duely's own request; the browser returns to `?trigger`. */
function useConsentRedirect(wanted: boolean): void {
  const navigate = useNavigate()
  useEffect(() => {
    if (!wanted) return
    const go = async () => {
      const here = new URLSearchParams(window.location.search)
      here.delete('trigger')
      // Removed first, so that Back, or staying for unsaved changes, does not ask again.
      await navigate({ search: `${here}` }, { replace: true, preventScrollReset: true })
      await navigate(withQuery(screens.oauthConsent, { redirect_uri: ownRedirectPath, state: randomState() }))
    }
    void go()
  }, [wanted, navigate])
}

function randomState(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** In ms. */
const noticed = 500

/** True once a wait has lasted long enough to be shown. */
function useDelayed(waiting: boolean): boolean {
  const [late, setLate] = useState(false)
  useEffect(() => {
    if (!waiting) return
    const timer = setTimeout(() => setLate(true), noticed)
    return () => {
      clearTimeout(timer)
      setLate(false)
    }
  }, [waiting])
  return late
}
