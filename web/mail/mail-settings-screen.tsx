import { Button, Skeleton } from '@mantine/core'
import { IconMailCog } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { type MailConfig, mailCalls } from '#contract/mail.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { EmptyState } from '#web/ui/empty-state.tsx'
import { PageHeader } from '#web/ui/page-header.tsx'
import { ConfiguredCard } from './configured-card.tsx'
import { GmailButton, useGmail } from './gmail-button.tsx'
import { GmailPause } from './gmail-pause.tsx'
import { GmailReturn } from './gmail-return.tsx'
import { PauseBanner } from './pause-banner.tsx'
import { RemoveDialog } from './remove-dialog.tsx'
import { SmtpDialog } from './smtp-dialog.tsx'
import { texts } from './texts.ts'

type Dialog = 'none' | 'smtp' | 'remove'

/** /dashboard/mail-settings */
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
        mailbox.pause && <PauseBanner pause={mailbox.pause} host={mailbox.host} onMend={onConfigure} />
      )}
      <ConfiguredCard mailbox={mailbox} onChange={onConfigure} onRemove={onRemove} />
    </>
  )
}
