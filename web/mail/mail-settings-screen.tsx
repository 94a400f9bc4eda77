import { Button, Skeleton } from '@mantine/core'
import { IconMailCog } from '@tabler/icons-react'
import { type ReactNode, useEffect, useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { type MailConfig, mailCalls } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { useFirstSteps } from '#web/platform/first-steps.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { confirm } from '#web/ui/confirm.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { PageHeader } from '#web/ui/panel.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import { toast } from '#web/ui/toast.tsx'
import { GmailButton, GmailPause, GmailReturn, useGmail } from './gmail.tsx'
import styles from './mail.module.css'
import { ConfiguredCard, PauseBanner } from './mailbox-card.tsx'
import { type ProviderName, providers } from './presets.ts'
import { SmtpDialog } from './smtp-dialog.tsx'
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
