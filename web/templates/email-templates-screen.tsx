import { Button, Skeleton } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { mailCalls } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { UnsavedGuard } from '#web/ui/confirm.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { PageHeader } from '#web/ui/panel.tsx'
import { UrlTabs } from '#web/ui/url-tabs.tsx'
import { TemplateEditor } from './template-editor.tsx'
import { kinds, type TemplateKind } from './templates.ts'
import { texts } from './texts.ts'

export default function EmailTemplatesScreen(): ReactNode {
  const mailbox = useApiQuery(mailCalls.config)
  const [oneUnsaved, setOneUnsaved] = useState(false)
  const [groupUnsaved, setGroupUnsaved] = useState(false)
  return (
    <>
      <PageHeader title={texts.title} subtitle={texts.subtitle} />
      {mailbox.data?.configured === false && (
        <Notice
          tone="warn"
          title={texts.unconfigured.title}
          action={
            <Button component={Link} to={screens.mailSettings} variant="default">
              {texts.unconfigured.action}
            </Button>
          }
        >
          {texts.unconfigured.text}
        </Notice>
      )}
      <UrlTabs
        label={texts.tabs.label}
        tabs={[
          { value: 'one', label: texts.tabs.one, content: <TemplateTab kind="one" onUnsaved={setOneUnsaved} /> },
          { value: 'group', label: texts.tabs.group, content: <TemplateTab kind="group" onUnsaved={setGroupUnsaved} /> },
        ]}
      />
      <UnsavedGuard unsaved={oneUnsaved || groupUnsaved} />
    </>
  )
}

function TemplateTab({ kind, onUnsaved }: { kind: TemplateKind; onUnsaved: (unsaved: boolean) => void }): ReactNode {
  const template = useApiQuery(kinds[kind].read)
  return (
    <>
      {kind === 'group' && <UngroupedNotice />}
      <QueryView
        query={template}
        loading={texts.loading}
        skeleton={<Skeleton height={420} radius={14} />}
        error={texts.failed}
        empty={null}
      >
        {(found) => <TemplateEditor kind={kind} template={found} onUnsaved={onUnsaved} />}
      </QueryView>
    </>
  )
}

function UngroupedNotice(): ReactNode {
  const settings = useApiQuery(reminderCalls.settings)
  if (settings.data?.groupByClient !== false) return null
  return (
    <Notice
      tone="info"
      action={
        <Button component={Link} to={screens.reminderControl} variant="default">
          {texts.ungrouped.action}
        </Button>
      }
    >
      {texts.ungrouped.text}
    </Notice>
  )
}
