import { Button } from '@mantine/core'
import { IconCircleCheck } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { type MailConfig, mailCalls } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { causeOf, type SenderPause } from '#contract/sender-pause.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { dateIn, showClock, showComing, showDate } from '#web/ui/dates.ts'
import { FormError, Notice } from '#web/ui/notice.tsx'
import { FactList, Panel, Pill } from '#web/ui/panel.tsx'
import styles from './mail.module.css'
import { texts } from './texts.ts'

const t = texts.configured

export function ConfiguredCard(props: { mailbox: MailConfig; onChange: () => void; onRemove: () => void }): ReactNode {
  const { mailbox, onChange, onRemove } = props
  const { provider, user, host, port, secure } = mailbox
  const test = useTestEmail()
  return (
    <Panel title={t.title} aside={mailbox.pause ? <Pill tone="overdue">{t.paused}</Pill> : <Pill tone="paid">{t.working}</Pill>}>
      <FactList stacks>
        <dt>{t.provider}</dt>
        <dd>{t.providers[provider ?? 'smtp']}</dd>
        <dt>{t.email}</dt>
        <dd>{user}</dd>
        {host !== null && port !== null && (
          <>
            <dt>{t.server}</dt>
            <dd data-quiet>{t.line(host, port, secure === true)}</dd>
          </>
        )}
        <dt>{provider === 'gmail' ? texts.gmail.permission : t.password}</dt>
        <dd data-quiet>{t.kept}</dd>
      </FactList>
      <div className={styles.actions}>
        {test.button}
        <Button variant="default" onClick={onChange}>
          {t.change}
        </Button>
        <Button variant="default" className={styles.remove ?? ''} onClick={onRemove}>
          {t.remove}
        </Button>
      </div>
      {test.outcome}
    </Panel>
  )
}

/** Sends a test email to the mailbox itself; `outcome` shows the reply of the mail server. */
function useTestEmail(): { button: ReactNode; outcome: ReactNode } {
  const [problem, setProblem] = useState<string | null>(null)
  const send = useApiMutation(mailCalls.test, {
    // An accepted email ends a pause after a rejected login.
    invalidates: [mailCalls.config, reminderCalls.status],
    onError: (error) => setProblem(texts.test.failed(errorMessage(error))),
  })
  const button = (
    <BusyButton
      variant="default"
      busy={send.isPending}
      busyText={texts.test.sending}
      onClick={() => {
        setProblem(null)
        send.mutate({})
      }}
    >
      {texts.test.send}
    </BusyButton>
  )
  const outcome = (
    <>
      <div role="status">{send.isSuccess && <Sent {...send.data} />}</div>
      <FormError message={problem} />
    </>
  )
  return { button, outcome }
}

function Sent({ to, reply }: { to: string; reply: string }): ReactNode {
  return (
    <div className={styles.sent}>
      <IconCircleCheck size={20} aria-hidden className={styles.sentIcon} />
      <div>
        <strong>{texts.test.done(to)}</strong> {texts.test.next}
        {reply !== '' && (
          <p className={styles.reply}>
            {texts.test.said} <q>{reply}</q>
          </p>
        )}
      </div>
    </div>
  )
}

export function PauseBanner({ pause, host, onFix }: { pause: SenderPause; host: string | null; onFix: () => void }): ReactNode {
  const profile = useApiQuery(accountCalls.profile)
  const since = new Date(pause.since)
  const zone = profile.data?.timezone
  const when = `${showDate(dateIn(zone, since))}, ${showClock(zone, since)}`
  return (
    <Notice
      tone="bad"
      title={texts.pause.titles[pause.reason]}
      action={<Button onClick={onFix}>{texts.pause.action[pause.reason]}</Button>}
    >
      <p className={styles.text}>
        {causeOf(pause) === 'login_refused' ? (
          <>
            {texts.pause.said(host ?? texts.pause.theServer)} <q>{pause.message}</q>
          </>
        ) : (
          pause.message
        )}
      </p>
      <p
        className={styles.text}
      >{`${texts.pause.since(when)} ${pause.until === null ? texts.pause.todo[pause.reason] : texts.pause.resumes(showComing(zone, new Date(pause.until), new Date()))}`}</p>
    </Notice>
  )
}
