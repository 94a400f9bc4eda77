import { Button, VisuallyHidden } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { useRead } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import look from './plain-page.module.css'
import { PlainPage } from './plain-page.tsx'
import { texts } from './texts.ts'

/** /contact: where the operator of this server can be reached. */
export default function ContactScreen(): ReactNode {
  const server = useRead(accountCalls.server, {}, { fresh: Number.POSITIVE_INFINITY })
  const { contact } = texts
  return (
    <PlainPage title={contact.title} lead={contact.lead}>
      <QueryView
        query={server}
        loading={contact.loading}
        error={contact.failed}
        isEmpty={({ supportUrl }) => supportUrl === null}
        empty={<p className={look.text}>{contact.none}</p>}
      >
        {({ supportUrl }) => (
          <Button
            component="a"
            href={supportUrl ?? ''}
            target="_blank"
            rel="noopener noreferrer"
            size="lg"
            rightSection={<IconExternalLink size={18} />}
          >
            {contact.open} <VisuallyHidden>{contact.newTab}</VisuallyHidden>
          </Button>
        )}
      </QueryView>
    </PlainPage>
  )
}
