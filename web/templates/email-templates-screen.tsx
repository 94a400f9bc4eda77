import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { mailCalls } from '#contract/mail.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { Notice } from '#web/ui/notice.tsx'
import { PageHeader } from '#web/ui/page-header.tsx'
import { UnsavedGuard } from '#web/ui/unsaved-guard.tsx'
import { UrlTabs } from '#web/ui/url-tabs.tsx'
import { TemplateTab } from './template-tab.tsx'
import { texts } from './texts.ts'

/** /dashboard/email-templates */
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
            <Button component={Link} to="/dashboard/mail-settings" variant="default">
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
