import { Button, Skeleton } from '@mantine/core'
import { IconBrandGmail, IconCircleCheck, IconMailCog } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { type MailConfig, mailCalls } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { causeOf, type SenderPause } from '#contract/sender-pause.ts'
import { useFirstSteps } from '#web/platform/first-steps.ts'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { BusyButton } from '#web/ui/buttons.tsx'
import { confirm } from '#web/ui/confirm.tsx'
import { dateIn, showClock, showComing, showDate } from '#web/ui/dates.ts'
import { FormError, Notice } from '#web/ui/notice.tsx'
import { FactList, PageHeader, Panel, Pill } from '#web/ui/panel.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './mail.module.css'
import { type ProviderName, providers, SmtpDialog } from './smtp-dialog.tsx'
import { texts } from './texts.ts'

export default function MailSettingsScreen(): ReactNode {
  const config = useApiQuery(mailCalls.config)
  const remove = useRemoveMailbox()
  const gmail = useGmail()
  const [address, setAddress] = useSearchParams()
  const wanted = address.get('connect')
  const [configuring, setConfiguring] = useState<ProviderName | null>(null)
  const configure = () => setConfiguring('custom')
  const { data } = config
  // `?connect` opens the dialog, with a provider chosen if it names one; where Google is set up, the screen itself asks which way.
  useEffect(() => {
    if (wanted === null || !data) return
    setAddress({}, { replace: true })
    const provider = providers.find((name) => name === wanted)
    if (!data.configured && (provider || !gmail)) setConfiguring(provider ?? 'custom')
  }, [wanted, data, gmail, setAddress])
  return (
    <>
      <PageHeader title={texts.title} subtitle={texts.subtitle} />
      <GmailReturn />
      <QueryView
        query={config}
        loading={texts.loading}
        skeleton={<Skeleton height={312} radius={14} />}
        error={texts.failed}
        empty={<NoMailbox onConfigure={configure} />}
        isEmpty={({ configured }) => !configured}
      >
        {(mailbox) => <Mailbox mailbox={mailbox} onConfigure={configure} onRemove={remove} />}
      </QueryView>
      <SmtpDialog
        opened={configuring !== null}
        provider={configuring ?? 'custom'}
        mailbox={config.data ?? null}
        onClose={() => setConfiguring(null)}
      />
    </>
  )
}

function NoMailbox({ onConfigure }: { onConfigure: () => void }): ReactNode {
  const gmail = useGmail()
  return (
    <EmptyState
      icon={<IconMailCog />}
      title={texts.none.title}
      text={texts.none.text}
      action={
        <>
          <GmailButton kind="first" />
          <Button variant={gmail ? 'default' : 'filled'} onClick={onConfigure}>
            {texts.none.action}
          </Button>
        </>
      }
    />
  )
}

function Mailbox(props: { mailbox: MailConfig; onConfigure: () => void; onRemove: () => void }): ReactNode {
  const { mailbox, onConfigure, onRemove } = props
  return (
    <>
      {mailbox.pause?.reason === 'login_refused' && mailbox.provider === 'gmail' ? (
        <GmailPause pause={mailbox.pause} />
      ) : (
        mailbox.pause && <PauseBanner pause={mailbox.pause} host={mailbox.host} onFix={onConfigure} />
      )}
      <NextStep />
      <ConfiguredCard mailbox={mailbox} onChange={onConfigure} onRemove={onRemove} />
    </>
  )
}

/** Until the first reminder was accepted: what is missing next. */
function NextStep(): ReactNode {
  const steps = useFirstSteps()
  if (steps === undefined || steps === 'accepted' || steps.next === null || steps.next === 'mailbox') return null
  const { text, action } = texts.next[steps.next]
  return (
    <Notice
      tone="good"
      title={text}
      action={
        <Button component={Link} to={steps.to[steps.next]}>
          {action(steps.daily)}
        </Button>
      }
    >
      {texts.next.why}
    </Notice>
  )
}

function useRemoveMailbox(): () => void {
  const remove = useApiMutation(mailCalls.remove, {
    invalidates: [mailCalls.config, reminderCalls.status, reminderCalls.preview, accountCalls.stats],
    onSuccess: () => {
      toast('good', texts.remove.done)
    },
    onError: (error) => toast('bad', <span className={styles.clamped}>{texts.remove.failed(errorMessage(error))}</span>),
  })
  return () =>
    void confirm({
      title: texts.remove.title,
      body: (
        <>
          <p className={styles.question}>{texts.remove.question}</p>
          <p className={styles.consequence}>{texts.remove.consequence}</p>
        </>
      ),
      tone: 'danger',
      action: texts.remove.confirm,
      busy: texts.remove.busy,
      onConfirm: () => remove.mutateAsync({}),
      failed: texts.remove.failed,
    })
}

const gmailTexts = texts.gmail

/** Whether this server can send through Gmail; false until that is known. */
function useGmail(): boolean {
  return useApiQuery(accountCalls.server, {}, { staleTime: Number.POSITIVE_INFINITY }).data?.google ?? false
}

/** Opens Google’s consent page. Renders nothing where Google is not set up on this server. */
function GmailButton({ kind }: { kind: 'first' | 'again' }): ReactNode {
  const available = useGmail()
  const [problem, setProblem] = useState<string | null>(null)
  const start = useApiMutation(mailCalls.startGmail, {
    onSuccess: ({ url }) => window.location.assign(url),
    onError: (error) => {
      const message = gmailTexts.startFailed(error instanceof Problem ? error.message : '')
      setProblem(message)
      toast('bad', <span className={styles.clamped}>{message}</span>)
    },
  })
  if (!available) return null
  return (
    <>
      <BusyButton
        leftSection={<IconBrandGmail size={18} stroke={1.7} aria-hidden />}
        // Stays busy until the browser has left for Google.
        busy={start.isPending || start.isSuccess}
        busyText={gmailTexts.busy}
        onClick={() => {
          setProblem(null)
          start.mutate({})
        }}
      >
        {kind === 'first' ? gmailTexts.connect : gmailTexts.again}
      </BusyButton>
      {problem !== null && <FormError message={problem} />}
    </>
  )
}

/** The permission was revoked, by Google or by the user. */
function GmailPause({ pause }: { pause: SenderPause }): ReactNode {
  return (
    <Notice tone="bad" title={gmailTexts.paused.title} action={<GmailButton kind="again" />}>
      {pause.message !== '' && <p className={styles.text}>{pause.message}</p>}
      <p className={styles.text}>{gmailTexts.paused.todo}</p>
    </Notice>
  )
}

/** Finishes the connection with the code in the address, and removes the code from the address first, because it works only once. */
function GmailReturn(): ReactNode {
  const [search, setSearch] = useSearchParams()
  const [problem, setProblem] = useState<string | null>(null)
  const seen = useRef(false)
  const fail = (message: string) => {
    setProblem(message)
    toast('bad', <span className={styles.clamped}>{message}</span>)
  }
  const finish = useApiMutation(mailCalls.configureGmail, {
    invalidates: [mailCalls.config, reminderCalls.status, reminderCalls.preview, accountCalls.stats],
    onSuccess: () => {
      toast('good', gmailTexts.done)
    },
    onError: (error) => fail(gmailTexts.failed(errorMessage(error))),
  })
  useEffect(() => {
    const [code, state, error] = ['code', 'state', 'error'].map((name) => search.get(name))
    if (seen.current || (!code && !error)) return
    seen.current = true
    setSearch({}, { replace: true })
    if (code) finish.mutate({ body: { code, ...(state ? { state } : {}) } })
    else fail(gmailTexts.failed(error === 'access_denied' ? gmailTexts.denied : gmailTexts.notFinished))
  })
  if (finish.isPending) return <Notice tone="info">{gmailTexts.finishing}</Notice>
  return problem === null ? null : <Notice tone="bad">{problem}</Notice>
}

const cardTexts = texts.configured

function ConfiguredCard(props: { mailbox: MailConfig; onChange: () => void; onRemove: () => void }): ReactNode {
  const { mailbox, onChange, onRemove } = props
  const { provider, user, host, port, secure } = mailbox
  const test = useTestEmail()
  return (
    <Panel
      title={cardTexts.title}
      aside={mailbox.pause ? <Pill tone="overdue">{cardTexts.paused}</Pill> : <Pill tone="paid">{cardTexts.working}</Pill>}
    >
      <FactList stacks>
        <dt>{cardTexts.provider}</dt>
        <dd>{cardTexts.providers[provider ?? 'smtp']}</dd>
        <dt>{cardTexts.email}</dt>
        <dd>{user}</dd>
        {host !== null && port !== null && (
          <>
            <dt>{cardTexts.server}</dt>
            <dd data-quiet>{cardTexts.line(host, port, secure === true)}</dd>
          </>
        )}
        <dt>{provider === 'gmail' ? texts.gmail.permission : cardTexts.password}</dt>
        <dd data-quiet>{cardTexts.kept}</dd>
      </FactList>
      <div className={styles.actions}>
        {test.button}
        <Button variant="default" onClick={onChange}>
          {cardTexts.change}
        </Button>
        <Button variant="default" className={styles.remove ?? ''} onClick={onRemove}>
          {cardTexts.remove}
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

function PauseBanner({ pause, host, onFix }: { pause: SenderPause; host: string | null; onFix: () => void }): ReactNode {
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
