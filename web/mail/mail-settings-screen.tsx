import { Button, Skeleton } from '@mantine/core'
import { IconBrandGmail, IconBrandOffice, IconCircleCheck, IconMailCog } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { administratorCodes, type MailConfig, mailCalls, microsoftState } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { causeOf, type SenderPause } from '#contract/sender-pause.ts'
import { useServer } from '#web/platform/account.tsx'
import { useFirstSteps } from '#web/platform/first-steps.ts'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { BusyButton, CopyButton } from '#web/ui/buttons.tsx'
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
  const server = useServer()
  const [address, setAddress] = useSearchParams()
  const wanted = address.get('connect')
  const [configuring, setConfiguring] = useState<ProviderName | null>(null)
  const configure = () => setConfiguring('custom')
  const { data } = config
  // `?connect` opens the dialog, with a provider chosen if it names one; where Google or Microsoft is set up, the screen itself asks which way.
  useEffect(() => {
    if (wanted === null || !data || !server) return
    setAddress({}, { replace: true })
    const provider = providers.find((name) => name === wanted)
    const byConsent = provider === 'microsoft' ? server?.microsoft : !provider && (server?.google || server?.microsoft)
    if (!data.configured && !byConsent) setConfiguring(provider ?? 'custom')
  }, [wanted, data, server, setAddress])
  return (
    <>
      <PageHeader title={texts.title} subtitle={texts.subtitle} />
      <ConsentReturn />
      {remove.kept && <RevokeNotice />}
      <QueryView
        query={config}
        loading={texts.loading}
        skeleton={<Skeleton height={312} radius={14} />}
        error={texts.failed}
        empty={<NoMailbox onConfigure={configure} />}
        isEmpty={({ configured }) => !configured}
      >
        {(mailbox) => <Mailbox mailbox={mailbox} onConfigure={configure} onRemove={remove.ask} />}
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
  const server = useServer()
  return (
    <EmptyState
      icon={<IconMailCog />}
      title={texts.none.title}
      text={texts.none.text}
      action={
        <>
          <ConsentButton provider="gmail" kind="connect" />
          <ConsentButton provider="microsoft" kind="connect" />
          <Button variant={server?.google || server?.microsoft ? 'default' : 'filled'} onClick={onConfigure}>
            {texts.none.action}
          </Button>
        </>
      }
    />
  )
}

function Mailbox(props: { mailbox: MailConfig; onConfigure: () => void; onRemove: (provider: MailConfig['provider']) => void }): ReactNode {
  const { mailbox, onConfigure, onRemove } = props
  return (
    <>
      {mailbox.pause && <MailboxPause pause={mailbox.pause} host={mailbox.host} onFix={onConfigure} />}
      <NextStep />
      <ConfiguredCard mailbox={mailbox} onChange={onConfigure} onRemove={() => onRemove(mailbox.provider)} />
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

function useRemoveMailbox(): { ask(provider: MailConfig['provider']): void; kept: boolean } {
  const [kept, setKept] = useState(false)
  const remove = useApiMutation(mailCalls.remove, {
    invalidates: [mailCalls.config, reminderCalls.status, reminderCalls.preview, accountCalls.stats],
    onSuccess: () => {
      toast('good', texts.remove.done)
    },
    onError: (error) => toast('bad', <span className={styles.clamped}>{texts.remove.failed(errorMessage(error))}</span>),
  })
  const ask = (provider: MailConfig['provider']) =>
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
      onConfirm: async () => {
        await remove.mutateAsync({})
        // Microsoft has no call that ends a permission.
        setKept(provider === 'microsoft')
      },
      failed: texts.remove.failed,
    })
  return { ask, kept }
}

/** Where the person ends a permission that Duely can't end. */
function RevokeNotice(): ReactNode {
  const { before, work, between, personal } = texts.revoke
  return (
    <Notice tone="info">
      {before}{' '}
      <a href={work.link} target="_blank" rel="noreferrer">
        {work.text}
      </a>
      {between}{' '}
      <a href={personal.link} target="_blank" rel="noreferrer">
        {personal.text}
      </a>
      .
    </Notice>
  )
}

const consents = {
  gmail: { start: mailCalls.startGmail, finish: mailCalls.configureGmail, ability: 'google', icon: IconBrandGmail },
  microsoft: { start: mailCalls.startMicrosoft, finish: mailCalls.configureMicrosoft, ability: 'microsoft', icon: IconBrandOffice },
} as const
type ConsentProvider = keyof typeof consents

/** Opens the provider’s consent page. Renders nothing where the provider is not set up on this server. */
function ConsentButton({ provider, kind }: { provider: ConsentProvider; kind: 'connect' | 'again' }): ReactNode {
  const { start: call, ability, icon: Icon } = consents[provider]
  const server = useServer()
  const available = server?.[ability] ?? false
  const [problem, setProblem] = useState<string | null>(null)
  const start = useApiMutation(call, {
    onSuccess: ({ url }) => window.location.assign(url),
    onError: (error) => {
      const message = texts[provider].startFailed(error instanceof Problem ? error.message : '')
      setProblem(message)
      toast('bad', <span className={styles.clamped}>{message}</span>)
    },
  })
  if (!available) return null
  return (
    <>
      <BusyButton
        // One primary action at a time.
        variant={provider === 'microsoft' && kind === 'connect' && server?.google ? 'default' : 'filled'}
        leftSection={<Icon size={18} stroke={1.7} aria-hidden />}
        // Stays busy until the browser has left for the provider.
        busy={start.isPending || start.isSuccess}
        busyText={texts[provider].busy}
        onClick={() => {
          setProblem(null)
          start.mutate({})
        }}
      >
        {texts[provider][kind]}
      </BusyButton>
      {problem !== null && <FormError message={problem} />}
    </>
  )
}

/** Finishes the connection with the code in the address, and removes the code from the address first, because it works only once. */
function ConsentReturn(): ReactNode {
  const [search, setSearch] = useSearchParams()
  const [problem, setProblem] = useState<string | null>(null)
  const [approval, setApproval] = useState<'needed' | 'given' | null>(null)
  const seen = useRef(false)
  const fail = (message: string) => {
    setProblem(message)
    toast('bad', <span className={styles.clamped}>{message}</span>)
  }
  const after = (provider: ConsentProvider) => ({
    invalidates: [mailCalls.config, reminderCalls.status, reminderCalls.preview, accountCalls.stats],
    onSuccess: () => toast('good', texts[provider].done),
    onError: (error: Error) => {
      if (error instanceof Problem && error.code === 'administrator_needed') setApproval('needed')
      else fail(texts[provider].failed(errorMessage(error)))
    },
  })
  const gmail = useApiMutation(consents.gmail.finish, after('gmail'))
  const microsoft = useApiMutation(consents.microsoft.finish, after('microsoft'))
  useEffect(() => {
    const [code, state, error, said, consented] = ['code', 'state', 'error', 'error_description', 'admin_consent'].map((name) =>
      search.get(name),
    )
    if (seen.current || (!code && !error && !consented)) return
    seen.current = true
    setSearch({}, { replace: true })
    const provider = state?.startsWith(microsoftState) ? 'microsoft' : 'gmail'
    const finish = provider === 'microsoft' ? microsoft : gmail
    if (code) finish.mutate({ body: { code, ...(state ? { state } : {}) } })
    else if (!error) setApproval('given')
    else if (administratorCodes.includes(Number(/^AADSTS(\d+)/.exec(said ?? '')?.[1]))) setApproval('needed')
    else fail(texts[provider].failed(error === 'access_denied' ? texts[provider].denied : texts[provider].notFinished))
  })
  if (gmail.isPending || microsoft.isPending) return <Notice tone="info">{texts[gmail.isPending ? 'gmail' : 'microsoft'].finishing}</Notice>
  if (approval === 'given') return <Notice tone="good">{texts.approval.done}</Notice>
  if (approval === 'needed') return <ApprovalNeeded />
  return problem === null ? null : <Notice tone="bad">{problem}</Notice>
}

/** Only an administrator may allow Duely: the link for them. */
function ApprovalNeeded(): ReactNode {
  const { data } = useApiQuery(mailCalls.microsoftApproval)
  return (
    <Notice tone="warn" title={texts.approval.title} action={data && <CopyButton text={data.url} what={texts.approval.link} />}>
      {texts.approval.text}
    </Notice>
  )
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
        <dt>{provider === 'smtp' ? cardTexts.password : cardTexts.permission}</dt>
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

function MailboxPause({ pause, host, onFix }: { pause: SenderPause; host: string | null; onFix: () => void }): ReactNode {
  const profile = useApiQuery(accountCalls.profile)
  const cause = causeOf(pause)
  // The permission was revoked, by the provider or by the user.
  if (cause === 'gmail' || cause === 'microsoft')
    return (
      <Notice tone="bad" title={texts[cause].paused.title} action={<ConsentButton provider={cause} kind="again" />}>
        {pause.message !== '' && <p className={styles.text}>{pause.message}</p>}
        <p className={styles.text}>{texts[cause].paused.todo}</p>
      </Notice>
    )
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
        {cause === 'login_refused' ? (
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
