import { Button, Skeleton } from '@mantine/core'
import { IconMailCog } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { type MailConfig, mailCalls } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { PageHeader } from '#web/ui/panel.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import { toast } from '#web/ui/toast.tsx'
import { GmailButton, GmailPause, GmailReturn, useGmail } from './gmail.tsx'
import styles from './mail.module.css'
import { ConfiguredCard, PauseBanner } from './mailbox-card.tsx'
import { SmtpDialog } from './smtp-dialog.tsx'
import { texts } from './texts.ts'

type Dialog = 'none' | 'smtp' | 'remove'

export default function MailSettingsScreen(): ReactNode {
  const config = useApiQuery(mailCalls.config)
  const [dialog, setDialog] = useState<Dialog>('none')
  const configure = () => setDialog('smtp')
  const close = () => setDialog('none')
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
        {(mailbox) => <Mailbox mailbox={mailbox} onConfigure={configure} onRemove={() => setDialog('remove')} />}
      </QueryView>
      <SmtpDialog opened={dialog === 'smtp'} mailbox={config.data ?? null} onClose={close} />
      <RemoveDialog opened={dialog === 'remove'} onClose={close} />
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
      <ConfiguredCard mailbox={mailbox} onChange={onConfigure} onRemove={onRemove} />
    </>
  )
}

function RemoveDialog({ opened, onClose }: { opened: boolean; onClose: () => void }): ReactNode {
  const [problem, setProblem] = useState<string | null>(null)
  const remove = useApiMutation(mailCalls.remove, {
    invalidates: [mailCalls.config, reminderCalls.status, reminderCalls.preview, accountCalls.stats],
    onSuccess: () => {
      toast('good', texts.remove.done)
      onClose()
    },
    onError: (error) => {
      setProblem(texts.remove.failed(errorMessage(error)))
      toast('bad', <span className={styles.brief}>{texts.remove.failed(errorMessage(error))}</span>)
    },
  })
  return (
    <ConfirmDialog
      opened={opened}
      title={texts.remove.title}
      confirm={texts.remove.confirm}
      confirmBusy={texts.remove.busy}
      busy={remove.isPending}
      tone="danger"
      onConfirm={() => {
        setProblem(null)
        remove.mutate({})
      }}
      onCancel={() => {
        setProblem(null)
        onClose()
      }}
    >
      <p className={styles.question}>{texts.remove.question}</p>
      <p className={styles.consequence}>{texts.remove.consequence}</p>
      <FormError message={problem} />
    </ConfirmDialog>
  )
}
