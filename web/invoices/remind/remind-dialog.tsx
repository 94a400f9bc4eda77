import { Button, Group, Textarea, TextInput } from '@mantine/core'
import { useDebouncedValue, useMediaQuery } from '@mantine/hooks'
import { IconPencil, IconSend2 } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link } from 'react-router'
import type { CallReply } from '#contract/call.ts'
import type { Invoice } from '#contract/invoices.ts'
import { noticeCalls } from '#contract/notices.ts'
import { type ReminderDraft, reminderCalls } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import styles from '#web/invoices/form/form.module.css'
import { remindTexts as texts } from '#web/invoices/form/texts.ts'
import { changeInvalidates } from '#web/invoices/invoice-state.ts'
import { ConfirmEmailNotice, useUnconfirmed } from '#web/platform/account.tsx'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { Loading } from '#web/platform/query-view.tsx'
import { BusyButton } from '#web/ui/buttons.tsx'
import controls from '#web/ui/controls.module.css'
import { Dialog, useKept } from '#web/ui/dialog.tsx'
import { FormError, Notice } from '#web/ui/notice.tsx'
import { NoWrap } from '#web/ui/plain.tsx'
import { toast } from '#web/ui/toast.tsx'

interface RemindDialogProps {
  /** null: closed. */
  invoices: Invoice[] | null
  onClose: () => void
}

/** A reminder of chosen invoices, seen before it is sent; the wording of a single email can be changed for this once. */
export function RemindDialog({ invoices, onClose }: RemindDialogProps): ReactNode {
  const [busy, setBusy] = useState(false)
  const narrow = useMediaQuery('(max-width: 47.99em)')
  const shown = useKept(invoices) ?? []
  const [first] = shown
  return (
    <Dialog
      opened={invoices !== null}
      onClose={busy ? () => undefined : onClose}
      title={<NoWrap text={shown.length === 1 && first ? texts.one(first.clientName) : texts.several(shown.length)} />}
      size={660}
      fullScreen={narrow ?? false}
    >
      {shown.length > 0 && <Draft key={shown.map(({ _id }) => _id).join()} invoices={shown} onBusy={setBusy} onClose={onClose} />}
    </Dialog>
  )
}

/** The changed wording; null keeps what the account has. */
interface Wording {
  subject: string | null
  content: string | null
}

const unchanged: Wording = { subject: null, content: null }
/** In ms. */
const typing = 400

interface DraftProps {
  invoices: Invoice[]
  onBusy: (busy: boolean) => void
  onClose: () => void
}

function Draft({ invoices, onBusy, onClose }: DraftProps): ReactNode {
  const [wording, setWording] = useState(unchanged)
  const [asked] = useDebouncedValue(wording, typing)
  const invoiceIds = invoices.map(({ _id }) => _id)
  const answered = useApiQuery(reminderCalls.draft, { body: { invoiceIds, ...overrides(asked) } }, { staleTime: 0 })
  const { error, isError, isFetching } = answered
  const pause = useApiQuery(reminderCalls.status).data?.pause ?? null
  const unconfirmed = useUnconfirmed()
  // The last email stays while a changed wording is rendered, or refused.
  const last = useRef(answered.data)
  if (answered.data) last.current = answered.data
  const data = last.current
  const send = useApiMutation(reminderCalls.sendNow, {
    invalidates: [...changeInvalidates, reminderCalls.status, reminderCalls.runs, noticeCalls.list],
    update: () => undefined,
    onSuccess: (reply) => {
      const failed = failureOf(reply)
      if (failed !== null) return
      toast(reply.count > 0 ? 'good' : 'info', outcomeOf(reply, invoices))
      onClose()
    },
  })
  const { isPending } = send
  useEffect(() => {
    onBusy(isPending)
    return () => onBusy(false)
  }, [isPending, onBusy])
  const failure = send.isError ? errorMessage(send.error) : send.data ? failureOf(send.data) : null
  if (!data && isError) return <NoDraft error={error} onClose={onClose} />
  if (!data) return <Loading text={texts.loading} />
  const wrong = isError && error instanceof Problem ? error.errors : []
  const nothing = data.mails === 0 || data.repeats !== null
  const pending = isFetching || wording !== asked
  return (
    <>
      <ConfirmEmailNotice />
      {data.repeats !== null && <Notice tone="info">{texts.justSent}</Notice>}
      {pause !== null && !nothing && <Notice tone="info">{texts.paused}</Notice>}
      <LeftOut draft={data} />
      {data.email && (
        <Email
          email={data.email}
          wording={wording}
          pending={pending}
          errors={wrong}
          onChange={(change) => setWording({ ...wording, ...change })}
          onReset={() => setWording(unchanged)}
        />
      )}
      {!data.email && data.mails > 0 && <p className={styles.many}>{texts.mails(data.mails)}</p>}
      <div className={controls.foot}>
        <FormError message={failure ?? (isError && wrong.length === 0 ? errorMessage(error) : null)} />
        <Group justify="flex-end" mt={16} gap={12}>
          <Button variant="default" onClick={onClose} disabled={isPending}>
            {texts.cancel}
          </Button>
          <BusyButton
            busy={isPending}
            busyText={texts.sending}
            disabled={unconfirmed || nothing || isError || pending}
            leftSection={<IconSend2 size={18} stroke={1.7} />}
            onClick={() => send.mutate({ body: { invoiceIds, ...overrides(wording) } })}
          >
            {texts.send(data.mails)}
          </BusyButton>
        </Group>
      </div>
    </>
  )
}

function overrides({ subject, content }: Wording): { subject?: string; content?: string } {
  return { ...(subject === null ? {} : { subject }), ...(content === null ? {} : { content }) }
}

/** Without a mailbox, the way to connect one. */
function NoDraft({ error, onClose }: { error: Error; onClose: () => void }): ReactNode {
  const needsMailbox = error instanceof Problem && error.code === 'mail_not_configured'
  return (
    <>
      <FormError message={errorMessage(error)} />
      <Group justify="flex-end" mt={16} gap={12}>
        <Button variant="default" onClick={onClose}>
          {texts.cancel}
        </Button>
        {needsMailbox && (
          <Button component={Link} to={screens.mailSettings}>
            {texts.openSettings}
          </Button>
        )}
      </Group>
    </>
  )
}

function LeftOut({ draft: { leftOut } }: { draft: ReminderDraft }): ReactNode {
  if (leftOut.length === 0) return null
  const shown = leftOut.slice(0, listed)
  return (
    <div className={styles.leftOut}>
      <p>{texts.leftOut(leftOut.length)}</p>
      <ul>
        {shown.map(({ invoiceId, reference, clientName, words }) => (
          <li key={invoiceId}>
            <strong>{`${clientName}, ${reference}:`}</strong> {words}
          </li>
        ))}
      </ul>
      {leftOut.length > listed && <p>{texts.more(leftOut.length - listed)}</p>}
    </div>
  )
}

const listed = 8

interface EmailProps {
  email: NonNullable<ReminderDraft['email']>
  wording: Wording
  pending: boolean
  errors: { path: string; message: string }[]
  onChange: (wording: Partial<Wording>) => void
  onReset: () => void
}

function Email({ email, wording, pending, errors, onChange, onReset }: EmailProps): ReactNode {
  const [editing, setEditing] = useState(false)
  // The account's wording, before anything was changed here.
  const [own] = useState(email.wording)
  const errorOf = (field: string) => errors.find(({ path }) => path === field)?.message
  return (
    <>
      <dl className={styles.envelope}>
        <dt>{texts.to}</dt>
        <dd>{email.to}</dd>
        {email.attached.length > 0 && (
          <>
            <dt>{texts.attached}</dt>
            <dd>{email.attached.join(', ')}</dd>
          </>
        )}
        {email.notAttached.length > 0 && (
          <>
            <dt>{texts.notAttached}</dt>
            <dd>{texts.tooLargeToAttach(email.notAttached)}</dd>
          </>
        )}
        {!editing && (
          <>
            <dt>{texts.subject}</dt>
            <dd>
              <NoWrap text={email.subject} />
            </dd>
          </>
        )}
      </dl>
      {editing && (
        <div className={styles.emailFields}>
          <TextInput
            label={texts.subject}
            data-autofocus
            autoComplete="off"
            maxLength={400}
            value={wording.subject ?? own.subject}
            error={errorOf('subject')}
            onChange={(event) => onChange({ subject: event.currentTarget.value })}
          />
          <Textarea
            label={texts.content}
            description={texts.contentHint}
            rows={9}
            value={wording.content ?? own.content}
            error={errorOf('content')}
            onChange={(event) => onChange({ content: event.currentTarget.value })}
          />
        </div>
      )}
      <iframe
        className={styles.emailFrame}
        data-pending={pending || undefined}
        // The empty sandbox forbids scripts, forms and navigation.
        sandbox=""
        srcDoc={email.html}
        title={texts.frame(email.subject)}
      />
      <div className={styles.tools}>
        {!editing && (
          <Button variant="subtle" leftSection={<IconPencil size={18} stroke={1.7} />} onClick={() => setEditing(true)}>
            {texts.edit}
          </Button>
        )}
        {wording !== unchanged && (
          <Button variant="subtle" color="gray" onClick={onReset}>
            {texts.reset}
          </Button>
        )}
      </div>
    </>
  )
}

type Reply = CallReply<typeof reminderCalls.sendNow>

/** Why nothing was accepted; null where something was, or is retried. */
function failureOf({ count, failed, retrying, failures }: Reply): string | null {
  const [first] = failures
  return failed > 0 && count === 0 && retrying === 0 && first ? texts.refused(first.clientName, first.words) : null
}

function outcomeOf({ count, total, retrying }: Reply, invoices: Invoice[]): string {
  const [first] = invoices
  if (count === 0) return retrying > 0 ? texts.notSentYet(retrying) : texts.nothing
  return total === 1 && first ? texts.sent(first.clientName) : texts.sentOf(count, total)
}
