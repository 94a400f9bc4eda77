import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import type { MailConfig } from '#contract/mail.ts'
import { FactList } from '#web/ui/fact-list.tsx'
import { Panel } from '#web/ui/panel.tsx'
import { Pill } from '#web/ui/pill.tsx'
import { gmailTexts } from './gmail-texts.ts'
import styles from './mail.module.css'
import { useTestMail } from './test-mail.tsx'
import { texts } from './texts.ts'

const words = texts.configured

/** The mailbox that is connected: everything about it but its password. */
export function ConfiguredCard(props: { mailbox: MailConfig; onChange: () => void; onRemove: () => void }): ReactNode {
  const { mailbox, onChange, onRemove } = props
  const { provider, user, host, port, secure } = mailbox
  const test = useTestMail()
  return (
    <Panel
      title={words.title}
      aside={mailbox.pause ? <Pill tone="overdue">{words.paused}</Pill> : <Pill tone="paid">{words.working}</Pill>}
    >
      <FactList stacks>
        <dt>{words.provider}</dt>
        <dd>{words.providers[provider ?? 'smtp']}</dd>
        <dt>{words.email}</dt>
        <dd>{user}</dd>
        {host !== null && port !== null && (
          <>
            <dt>{words.server}</dt>
            <dd data-quiet>{words.line(host, port, secure === true)}</dd>
          </>
        )}
        <dt>{provider === 'gmail' ? gmailTexts.permission : words.password}</dt>
        <dd data-quiet>{words.kept}</dd>
      </FactList>
      <div className={styles.actions}>
        {test.button}
        <Button variant="default" onClick={onChange}>
          {words.change}
        </Button>
        <Button variant="default" className={styles.remove ?? ''} onClick={onRemove}>
          {words.remove}
        </Button>
      </div>
      {test.outcome}
    </Panel>
  )
}
