import { Button, Skeleton, TextInput } from '@mantine/core'
import { IconCircleCheck, IconMailCog } from '@tabler/icons-react'
import { type ReactNode, useEffect, useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { type DomainCheck, type Mailbox as FurtherMailbox, type MailConfig, mailCalls } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { causeOf, type SenderPause } from '#contract/sender-pause.ts'
import { Allowed, useServer } from '#web/platform/account.tsx'
import { useFirstSteps } from '#web/platform/first-steps.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { BusyButton, CopyButton } from '#web/ui/buttons.tsx'
import { confirm } from '#web/ui/confirm.tsx'
import { dateIn, showClock, showComing, showDate } from '#web/ui/dates.ts'
import { FormError, Notice } from '#web/ui/notice.tsx'
import { FactList, PageHeader, Panel, Pill } from '#web/ui/panel.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import { brief, toast } from '#web/ui/toast.tsx'
import { ConsentButton, ConsentReturn, RevokeNotice } from './consent.tsx'
import styles from './mail.module.css'
import { ChangeLimit, saysLimit } from './sending-limit.tsx'
import { mailboxInvalidates, type ProviderName, providers, SmtpDialog } from './smtp-dialog.tsx'
import { texts } from './texts.ts'

export default function MailSettingsScreen(): ReactNode {
  const config = useApiQuery(mailCalls.config)
  const remove = useRemoveMailbox()
  const server = useServer()
  const [address, setAddress] = useSearchParams()
  const wanted = address.get('connect')
  const [configuring, setConfiguring] = useState<ProviderName | null>(null)
  const configure = () => setConfiguring('custom')
  const [adding, setAdding] = useState<FurtherMailbox | 'new' | null>(null)
  /** The mailbox that was connected since the screen was opened: its domain is checked. */
  const [connected, setConnected] = useState<string | null>(null)
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
      <ConsentReturn onConnected={setConnected} />
      {remove.kept && <RevokeNotice />}
      <Allowed by="admin" says>
        <QueryView
          query={config}
          loading={texts.loading}
          skeleton={<Skeleton height={312} radius={14} />}
          error={texts.failed}
          empty={<NoMailbox onConfigure={configure} />}
          isEmpty={({ configured }) => !configured}
        >
          {(mailbox) => (
            <>
              <Mailbox
                mailbox={mailbox}
                connected={connected === mailbox.user}
                onConfigure={configure}
                onRemove={() => remove.ask(mailbox)}
              />
              <FurtherMailboxes connected={connected} onConnect={setAdding} onRemove={remove.ask} />
            </>
          )}
        </QueryView>
      </Allowed>
      <SmtpDialog
        opened={configuring !== null}
        provider={configuring ?? 'custom'}
        mailbox={config.data ?? null}
        onConnected={setConnected}
        onClose={() => setConfiguring(null)}
      />
      <SmtpDialog
        opened={adding !== null}
        provider="custom"
        mailbox={adding === 'new' ? null : adding}
        further
        onConnected={setConnected}
        onClose={() => setAdding(null)}
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

function Mailbox(props: { mailbox: MailConfig; connected: boolean; onConfigure: () => void; onRemove: () => void }): ReactNode {
  const { mailbox, connected, onConfigure, onRemove } = props
  return (
    <>
      {mailbox.pause ? <MailboxPause pause={mailbox.pause} host={mailbox.host} onFix={onConfigure} /> : <NextStep />}
      <ConfiguredCard mailbox={mailbox} connected={connected} onChange={onConfigure} onRemove={onRemove} />
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

/** The default mailbox, or a further one. */
type Removable = Pick<MailConfig, 'provider'> & Partial<Pick<FurtherMailbox, '_id'>>

function useRemoveMailbox(): { ask(mailbox: Removable): void; kept: boolean } {
  const [kept, setKept] = useState(false)
  const about = {
    invalidates: mailboxInvalidates,
    onSuccess: () => toast('good', texts.remove.done),
    onError: (error: Error) => toast('bad', brief(texts.remove.failed(errorMessage(error)))),
  }
  const remove = useApiMutation(mailCalls.remove, about)
  const removeFurther = useApiMutation(mailCalls.removeMailbox, about)
  const ask = ({ provider, _id: id }: Removable) =>
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
        await (id === undefined ? remove.mutateAsync({}) : removeFurther.mutateAsync({ params: { id } }))
        // Microsoft has no call that ends a permission.
        setKept(provider === 'microsoft')
      },
      failed: texts.remove.failed,
    })
  return { ask, kept }
}

const t = texts.further

/** The mailboxes besides the default one, each for the clients that have it. Nothing where the plan allows one. */
function FurtherMailboxes(props: {
  /** The address that was connected last. */
  connected: string | null
  onConnect: (mailbox: FurtherMailbox | 'new') => void
  onRemove: (mailbox: FurtherMailbox) => void
}): ReactNode {
  const { data } = useApiQuery(mailCalls.mailboxes)
  const makeDefault = useApiMutation(mailCalls.changeMailbox, {
    invalidates: mailboxInvalidates,
    onSuccess: ({ user }) => toast('good', t.madeDefault(user)),
    onError: (error) => toast('bad', brief(t.failed(errorMessage(error)))),
  })
  if (!data || (data.most === 1 && data.mailboxes.length < 2)) return null
  return (
    <Panel title={t.title}>
      <p className={styles.consequence}>{t.why}</p>
      <ul className={styles.mailboxes}>
        {data.mailboxes
          .filter(({ isDefault }) => !isDefault)
          .map((mailbox) => (
            <FurtherRow
              key={mailbox._id}
              mailbox={mailbox}
              {...props}
              onDefault={() => makeDefault.mutate({ params: { id: mailbox._id }, body: { isDefault: true } })}
            />
          ))}
      </ul>
      {data.mailboxes.length < data.most && (
        <div className={styles.actions}>
          <ConsentButton provider="gmail" kind="add" further />
          <ConsentButton provider="microsoft" kind="add" further />
          <Button variant="default" onClick={() => props.onConnect('new')}>
            {t.addSmtp}
          </Button>
        </div>
      )}
    </Panel>
  )
}

interface FurtherRowProps {
  mailbox: FurtherMailbox
  connected: string | null
  onConnect: (mailbox: FurtherMailbox) => void
  onRemove: (mailbox: FurtherMailbox) => void
  onDefault: () => void
}

function FurtherRow({ mailbox, connected, onConnect, onRemove, onDefault }: FurtherRowProps): ReactNode {
  const { user, provider, pause } = mailbox
  const domain = useDomainCheck(mailbox, connected === user)
  return (
    <li className={styles.mailbox}>
      <div>
        <strong>{user}</strong> <span className={styles.consequence}>{cardTexts.providers[provider]}</span>
        {pause && <p className={styles.text}>{pause.message}</p>}
        <p className={styles.limit}>
          {cardTexts.limit}: {saysLimit(mailbox.limits)} <ChangeLimit mailbox={mailbox} />
        </p>
      </div>
      {pause ? <Pill tone="overdue">{cardTexts.paused}</Pill> : <Pill tone="paid">{cardTexts.working}</Pill>}
      <div className={styles.mailboxActions}>
        <Button variant="default" aria-label={t.defaultOf(user)} onClick={onDefault}>
          {t.makeDefault}
        </Button>
        {provider === 'smtp' ? (
          <Button variant="default" aria-label={`${cardTexts.change}: ${user}`} onClick={() => onConnect(mailbox)}>
            {cardTexts.change}
          </Button>
        ) : (
          pause && <ConsentButton provider={provider} kind="again" further />
        )}
        {domain.button}
        <Button variant="default" className={styles.remove ?? ''} aria-label={t.removeOf(user)} onClick={() => onRemove(mailbox)}>
          {t.remove}
        </Button>
      </div>
      <div className={styles.below}>{domain.outcome}</div>
    </li>
  )
}

const cardTexts = texts.configured

function ConfiguredCard(props: { mailbox: MailConfig; connected: boolean; onChange: () => void; onRemove: () => void }): ReactNode {
  const { mailbox, connected, onChange, onRemove } = props
  const { provider, user, host, port, secure } = mailbox
  const test = useTestEmail()
  const mailboxes = useApiQuery(mailCalls.mailboxes)
  const own = mailboxes.data?.mailboxes.find(({ isDefault }) => isDefault)
  const domain = useDomainCheck(own, connected)
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
        {own && (
          <>
            <dt>{cardTexts.limit}</dt>
            <dd>
              {saysLimit(own.limits)} <ChangeLimit mailbox={own} />
            </dd>
          </>
        )}
        <dt>{provider === 'smtp' ? cardTexts.password : cardTexts.permission}</dt>
        <dd data-quiet>{cardTexts.kept}</dd>
      </FactList>
      <div className={styles.actions}>
        {test.button}
        {domain.button}
        <Button variant="default" onClick={onChange}>
          {cardTexts.change}
        </Button>
        <Button variant="default" className={styles.remove ?? ''} onClick={onRemove}>
          {cardTexts.remove}
        </Button>
      </div>
      {test.outcome}
      {domain.outcome}
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

/** Checks the domain of a mailbox on request, and once it is `connected`; `outcome` shows what was found. */
function useDomainCheck(mailbox: FurtherMailbox | undefined, connected: boolean): { button: ReactNode; outcome: ReactNode } {
  const check = useApiMutation(mailCalls.checkDomain)
  const { mutate } = check
  const id = mailbox?._id
  useEffect(() => {
    if (connected && id !== undefined) mutate({ params: { id }, query: {} })
  }, [connected, id, mutate])
  if (!mailbox || id === undefined) return { button: null, outcome: null }
  const button = (
    <BusyButton
      variant="default"
      busy={check.isPending}
      busyText={texts.domain.checking}
      aria-label={texts.domain.checkOf(mailbox.user)}
      onClick={() => mutate({ params: { id }, query: {} })}
    >
      {texts.domain.check}
    </BusyButton>
  )
  const outcome = (
    <>
      <div role="status">
        {check.data && <DomainFindings check={check.data} onSelector={(selector) => mutate({ params: { id }, query: { selector } })} />}
      </div>
      <FormError message={check.error && texts.domain.failed(errorMessage(check.error))} />
    </>
  )
  return { button, outcome }
}

const verdictTones = { good: 'paid', missing: 'unpaid', wrong: 'overdue', unknown: 'quiet' } as const

function DomainFindings({ check, onSelector }: { check: DomainCheck; onSelector: (selector: string) => void }): ReactNode {
  const { domain, note, findings } = check
  if (note !== null) return <p className={styles.text}>{note}</p>
  return (
    <div className={styles.domain}>
      <strong>{texts.domain.title(domain)}</strong>
      <p className={styles.consequence}>{texts.domain.why}</p>
      <ul className={styles.findings}>
        {findings.map(({ part, verdict, sentence, records }) => (
          <li key={part} className={styles.finding}>
            <strong>{texts.domain.parts[part]}</strong>
            <p>{sentence}</p>
            <Pill tone={verdictTones[verdict]}>{texts.domain.verdicts[verdict]}</Pill>
            {records.map(({ name, type, value }) => (
              <div key={name} className={styles.record}>
                <span>{texts.domain.record(type, name)}</span>
                <code>{value}</code>
                <CopyButton text={value} what={texts.domain.parts[part]} />
              </div>
            ))}
            {part === 'dkim' && verdict !== 'good' && <SelectorForm onSelector={onSelector} />}
          </li>
        ))}
      </ul>
    </div>
  )
}

function SelectorForm({ onSelector }: { onSelector: (selector: string) => void }): ReactNode {
  const [selector, setSelector] = useState('')
  return (
    <form
      className={styles.selector}
      onSubmit={(event) => {
        event.preventDefault()
        if (selector.trim() !== '') onSelector(selector.trim())
      }}
    >
      <TextInput
        label={texts.domain.selector}
        placeholder={texts.domain.selectorExample}
        value={selector}
        onChange={({ currentTarget }) => setSelector(currentTarget.value)}
      />
      <Button type="submit" variant="default">
        {texts.domain.look}
      </Button>
    </form>
  )
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
      action={
        pause.provider === 'smtp' ? (
          <Button onClick={onFix}>{texts.pause.action[pause.reason]}</Button>
        ) : (
          <ConsentButton provider={pause.provider} kind="again" />
        )
      }
    >
      <p className={styles.text}>
        {cause === 'login_refused' || cause === 'sender_refused' ? (
          <>
            {texts.pause.said(host ?? texts.pause.theServer)} <q>{pause.message}</q>
          </>
        ) : (
          pause.message
        )}
      </p>
      <p
        className={styles.text}
      >{`${texts.pause.since(when)} ${pause.advice === null ? '' : `${pause.advice} `}${pause.until === null ? texts.pause.todo[pause.reason] : (cause === 'sender_refused' ? texts.pause.tries : texts.pause.resumes)(showComing(zone, new Date(pause.until), new Date()))}`}</p>
    </Notice>
  )
}
