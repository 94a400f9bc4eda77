import '@mantine/core/styles/ScrollArea.layer.css'
import '@mantine/core/styles/Tabs.layer.css'
import { Modal, ScrollArea, Tabs } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { businessCalls } from '#contract/business.ts'
import type { CallReply } from '#contract/call.ts'
import { integrationCalls } from '#contract/integrations.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { mailCalls } from '#contract/mail.ts'
import { noticeCalls } from '#contract/notices.ts'
import { type HistoryMail, reminderCalls } from '#contract/reminders.ts'
import { Allowed } from '#web/platform/account.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { BusyButton } from '#web/ui/buttons.tsx'
import { dateIn, showClock, showDate } from '#web/ui/dates.ts'
import { useKept } from '#web/ui/dialog.tsx'
import { NoWrap } from '#web/ui/plain.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './history.module.css'
import { texts } from './texts.ts'

/** What is known about an email without its text. */
export type ShownEmail = Pick<HistoryMail, '_id' | 'subject' | 'clientEmail' | 'createdAt' | 'sentAt' | 'serverReply' | 'stored'> & {
  bouncedAt?: string | null
  copiesRefused?: string | null
}

interface EmailDialogProps {
  mail: ShownEmail | null
  zone: string | undefined
  onClose: () => void
}

/** An email as it was sent, with its headers. */
export function EmailDialog({ mail, zone, onClose }: EmailDialogProps): ReactNode {
  const narrow = useMediaQuery('(max-width: 47.99em)')
  const shown = useKept(mail)
  return (
    <Modal
      opened={mail !== null}
      onClose={onClose}
      title={<NoWrap text={shown?.subject ?? texts.email.title} />}
      size={660}
      fullScreen={narrow ?? false}
    >
      {shown?.stored && <LoadedEmail key={shown._id} mail={shown} zone={zone} />}
      {shown && !shown.stored && <DroppedEmail mail={shown} zone={zone} />}
      {shown && shown.sentAt !== null && shown.bouncedAt !== undefined && <CameBack key={`${shown._id} back`} mail={shown} zone={zone} />}
    </Modal>
  )
}

/** An email that returned to the owner's mailbox, which Duely does not read: its address is held once it is reported. */
function CameBack({ mail, zone }: { mail: ShownEmail; zone: string | undefined }): ReactNode {
  const report = useApiMutation(integrationCalls.bounce, {
    invalidates: [
      reminderCalls.history,
      reminderCalls.status,
      reminderCalls.preview,
      invoiceCalls.list,
      invoiceCalls.read,
      noticeCalls.list,
    ],
    onSuccess: () => toast('good', texts.email.bounce.done(mail.clientEmail)),
    onError: (error) => toast('bad', texts.email.bounce.failed(errorMessage(error))),
  })
  const since = report.isSuccess ? new Date() : mail.bouncedAt ? new Date(mail.bouncedAt) : null
  if (since) return <p className={styles.emailNone}>{texts.email.bounce.reported(showDate(dateIn(zone, since)))}</p>
  return (
    <div className={styles.bounce}>
      <p className={styles.emailNone}>{texts.email.bounce.why}</p>
      <Allowed by="member" says>
        <BusyButton
          variant="default"
          busy={report.isPending}
          busyText={texts.email.bounce.busy}
          onClick={() => report.mutate({ body: { messageId: mail._id } })}
        >
          {texts.email.bounce.action}
        </BusyButton>
      </Allowed>
    </div>
  )
}

/** Duely reads no mailbox: where Gmail sent the email and gets the replies, a search there finds them. It gave the email a Message-ID of its own. */
function FindReplies({
  sent: { from, to, subject },
}: {
  sent: Pick<CallReply<typeof reminderCalls.mail>, 'from' | 'to' | 'subject'>
}): ReactNode {
  const { mailboxes = [] } = useApiQuery(mailCalls.mailboxes).data ?? {}
  const business = useApiQuery(businessCalls.read).data
  const gmail = mailboxes.find(
    ({ user, provider, host }) => from.includes(user ?? '?') && (provider === 'gmail' || host === 'smtp.gmail.com'),
  )
  if (!gmail?.user || !business || (business.replyTo ?? gmail.user).toLowerCase() !== gmail.user.toLowerCase()) return null
  const search = `from:(${addressOf(to)}) subject:("${subject.replaceAll('"', ' ')}")`
  return (
    <p className={styles.emailNone}>
      <a
        href={`https://mail.google.com/mail/?authuser=${encodeURIComponent(gmail.user)}#search/${encodeURIComponent(search)}`}
        target="_blank"
        rel="noopener noreferrer"
      >
        {texts.email.findReplies}
      </a>
    </p>
  )
}

/** `name@example.com` of `Name <name@example.com>`. */
function addressOf(text: string): string {
  return /<([^<>]+)>\s*$/.exec(text)?.[1] ?? text
}

/** What is left of an email whose text is no longer stored. */
function DroppedEmail({ mail, zone }: { mail: ShownEmail; zone: string | undefined }): ReactNode {
  const date = new Date(mail.sentAt ?? mail.createdAt)
  return (
    <>
      <p className={styles.emailNone}>{texts.email.dropped}</p>
      <dl className={styles.emailHead}>
        <dt>{texts.email.to}</dt>
        <dd>{mail.clientEmail}</dd>
        <dt>{texts.email.date}</dt>
        <dd>{`${showDate(dateIn(zone, date))}, ${showClock(zone, date)}`}</dd>
        <Replies mail={mail} />
      </dl>
    </>
  )
}

/** What the mail server answered, also about the copies. */
function Replies({ mail: { serverReply, copiesRefused } }: { mail: ShownEmail }): ReactNode {
  return (
    serverReply !== null &&
    serverReply !== '' && (
      <>
        <dt>{texts.email.reply}</dt>
        <dd>{serverReply}</dd>
        {copiesRefused && <dd>{copiesRefused}</dd>}
      </>
    )
  )
}

interface LoadedEmailProps {
  mail: ShownEmail
  zone: string | undefined
}

function LoadedEmail({ mail, zone }: LoadedEmailProps): ReactNode {
  const read = useApiQuery(reminderCalls.mail, { params: { id: mail._id } })
  return (
    <QueryView query={read} loading={texts.email.loading} error={texts.email.failed} empty={null}>
      {(sent) => <Email sent={sent} mail={mail} zone={zone} />}
    </QueryView>
  )
}

function Email({ sent, mail, zone }: LoadedEmailProps & { sent: CallReply<typeof reminderCalls.mail> }): ReactNode {
  const { subject, html, text } = sent
  const date = new Date(sent.date)
  return (
    <>
      <dl className={styles.emailHead}>
        <dt>{texts.email.from}</dt>
        <dd>{sent.from}</dd>
        <dt>{texts.email.to}</dt>
        <dd>{sent.to}</dd>
        <dt>{texts.email.date}</dt>
        <dd>{`${showDate(dateIn(zone, date))}, ${showClock(zone, date)}`}</dd>
        <dt>{texts.email.messageId}</dt>
        <dd className={styles.messageId}>{sent.messageId}</dd>
        <Replies mail={mail} />
      </dl>
      <FindReplies sent={sent} />
      <Tabs defaultValue={html === '' ? 'text' : 'html'} classNames={{ tab: styles.emailTab ?? '', list: styles.emailTabs ?? '' }}>
        <Tabs.List>
          <Tabs.Tab value="html">{texts.email.html}</Tabs.Tab>
          <Tabs.Tab value="text">{texts.email.text}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="html">
          {html === '' ? (
            <p className={styles.emailNone}>{texts.email.noHtml}</p>
          ) : (
            // The empty sandbox forbids scripts, forms and navigation.
            <iframe className={styles.emailFrame} sandbox="" srcDoc={html} title={texts.email.frame(subject)} />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="text">
          {text === '' ? (
            <p className={styles.emailNone}>{texts.email.noText}</p>
          ) : (
            // A scrollable region must be focusable to be scrolled by keyboard.
            <ScrollArea
              className={styles.emailFrame ?? ''}
              type="auto"
              viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': texts.email.text }}
            >
              <pre className={styles.emailText}>{text}</pre>
            </ScrollArea>
          )}
        </Tabs.Panel>
      </Tabs>
    </>
  )
}
