import { Button } from '@mantine/core'
import { IconApps, IconArrowsExchange, IconBolt, IconSend2 } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { integrationCalls } from '#contract/integrations.ts'
import { screens } from '#contract/screens.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { FormError, Notice } from '#web/ui/notice.tsx'
import styles from './consent.module.css'
import { consentTexts as texts } from './consent-texts.ts'
import { webAddress } from './web-address.ts'

/** What stands in the address of the question: it goes back with the answer. */
export interface Asked {
  redirect_uri: string
  state: string
  request: string
}

interface ConsentCardProps {
  application: string
  own: boolean
  asked: Asked
  refuseUrl: string
  /** Why it cannot be answered: then that is the headline, and the button to stay is the bright one. */
  invalid?: string
  children?: ReactNode
}

/** The question, what `children` say about it, and the two answers. */
export function ConsentCard({ application, own, asked, refuseUrl, invalid, children }: ConsentCardProps): ReactNode {
  const [problem, setProblem] = useState<string | null>(null)
  const [leaving, setLeaving] = useState(false)
  const leave = (address: string) => {
    // Busy until the other page is there.
    setLeaving(true)
    window.location.assign(address)
  }
  const allow = useApiMutation(integrationCalls.allow, {
    onSuccess: ({ redirect }) => {
      const address = webAddress(redirect, window.location.origin)
      if (address !== null) leave(address)
      else setProblem(redirect === '' ? texts.noRedirect : texts.unsafe)
    },
    onError: (error) => setProblem(`${texts.failed} ${errorMessage(error)}`),
  })
  const busy = allow.isPending || leaving
  const open = invalid === undefined
  const Icon = own ? IconSend2 : application === 'Zapier' ? IconBolt : IconApps
  return (
    <div className={styles.card}>
      <div className={styles.programs} aria-hidden>
        <span className={styles.program}>
          <Icon size={26} stroke={1.7} />
        </span>
        <IconArrowsExchange size={20} stroke={1.7} />
        <span className={styles.program}>
          <span className={styles.mark} />
        </span>
      </div>
      {open ? (
        <h1 className={styles.question}>
          <Question application={application} />
        </h1>
      ) : (
        <>
          <h1 className={styles.question}>{texts.invalid}</h1>
          <Notice tone="bad">
            {invalid} {texts.nothingShared}
          </Notice>
          <p className={styles.asked}>
            <Question application={application} />
          </p>
        </>
      )}
      {children}
      <div className={styles.actions}>
        <BusyButton
          variant={open ? 'filled' : 'default'}
          busy={busy}
          busyText={texts.busy}
          onClick={() => {
            setProblem(null)
            allow.mutate({ query: { json: 'true' }, body: asked })
          }}
        >
          {texts.yes}
        </BusyButton>
        <Button
          variant={open ? 'default' : 'filled'}
          disabled={busy}
          onClick={() => leave(webAddress(refuseUrl, window.location.origin) ?? screens.dashboard)}
        >
          {texts.no}
        </Button>
      </div>
      <FormError message={problem} />
    </div>
  )
}

/** The question; no line of it begins with its hyphen. */
function Question({ application }: { application: string }): ReactNode {
  const [lead, ...asks] = texts.question(application).split(' - ')
  return (
    <>
      <span className={styles.lead}>{lead} -</span> {asks.join(' - ')}
    </>
  )
}
