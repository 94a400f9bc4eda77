import { IconCheck } from '@tabler/icons-react'
import { type ReactNode, useId } from 'react'
import type { ConsentQuestion } from '#contract/integrations.ts'
import { useSession } from '#web/platform/session.ts'
import { FactList } from '#web/ui/panel.tsx'
import styles from './consent.module.css'
import { consentTexts as texts } from './consent-texts.ts'

/** What the application may do and for how long, with whose account, and where the browser goes on. */
export function ConsentFacts({ question }: { question: ConsentQuestion }): ReactNode {
  const { application, own, scopes, returnsTo } = question
  const session = useSession()
  const may = useId()
  return (
    <>
      {own && <p className={styles.why}>{texts.ownWhy}</p>}
      <p className={styles.may} id={may}>
        {texts.may(application)}
      </p>
      <ul className={styles.abilities} aria-labelledby={may}>
        {scopes.map((scope) => (
          <li key={scope}>
            <IconCheck size={18} aria-hidden className={styles.tick} />
            {texts.can[scope]}
          </li>
        ))}
      </ul>
      {!own && <p className={styles.not}>{texts.mayNot}</p>}
      <div className={styles.facts}>
        <FactList stacks>
          <dt>{texts.account}</dt>
          <dd>{session?.user.email}</dd>
          <dt>{texts.length}</dt>
          <dd>{texts.untilDisconnected}</dd>
          <dt>{texts.returns}</dt>
          <dd>{returnsTo}</dd>
        </FactList>
      </div>
    </>
  )
}
