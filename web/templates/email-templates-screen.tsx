import type { ReactNode } from 'react'
import { templateCalls } from '#contract/templates.ts'
import { useRead } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { PageHeader } from '#web/ui/page-header.tsx'
import { Panel } from '#web/ui/panel.tsx'
import look from './email-templates.module.css'
import { texts } from './texts.ts'

/** /dashboard/email-templates */
export default function EmailTemplatesScreen(): ReactNode {
  const template = useRead(templateCalls.read)
  return (
    <>
      <PageHeader title={texts.title} subtitle={texts.subtitle} />
      <p className={look.later}>{texts.later}</p>
      <QueryView query={template} loading={texts.loading} error={texts.failed} empty={null}>
        {({ useCustomTemplate, customSubject, customContent, defaultSubject, defaultContent }) => (
          <Panel title={texts.current}>
            <dl className={look.wording}>
              <dt>{texts.subject}</dt>
              <dd>{useCustomTemplate ? customSubject : defaultSubject}</dd>
              <dt>{texts.content}</dt>
              <dd>{useCustomTemplate ? customContent : defaultContent}</dd>
            </dl>
          </Panel>
        )}
      </QueryView>
    </>
  )
}
