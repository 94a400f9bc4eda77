import { Button } from '@mantine/core'
import { IconApps, IconArrowsExchange, IconBolt, IconCheck } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { type ConsentQuestion, integrationCalls } from '#contract/integrations.ts'
import { inWords } from '#web/platform/problem.ts'
import { useCall } from '#web/platform/query.ts'
import { useSession } from '#web/platform/session.ts'
import { BusyButton } from '#web/ui/busy-button.tsx'
import { FormError } from '#web/ui/form-error.tsx'
import look from './consent.module.css'
import { consentTexts as texts } from './consent-texts.ts'
import { webAddress } from './web-address.ts'

/** What stands in the address of the question: it goes back with the answer. */
export interface Asked {
  redirect_uri: string
  state: string
  request: string
}

/** Who asks for what, and the two answers. */
export function ConsentQuestionCard({ question, asked }: { question: ConsentQuestion; asked: Asked }): ReactNode {
  const { application, own, scopes, returnsTo, refuseUrl } = question
  const session = useSession()
  const [problem, setProblem] = useState<string | null>(null)
  const [leaving, setLeaving] = useState(false)
  const leave = (address: string) => {
    setLeaving(true)
    window.location.assign(address)
  }
  const allow = useCall(integrationCalls.allow, {
    onDone: ({ redirect }) => {
      const address = webAddress(redirect, window.location.origin)
      if (address !== null) leave(address)
      else setProblem(redirect === '' ? texts.noRedirect : texts.unsafe)
    },
    onProblem: (error) => setProblem(`${texts.failed} ${inWords(error)}`),
  })
  const Icon = application === 'Zapier' ? IconBolt : IconApps
  return (
    <div className={look.card}>
      <div className={look.programs} aria-hidden>
        <span className={look.program}>{own ? <span className={look.mark} /> : <Icon size={26} stroke={1.7} />}</span>
        <IconArrowsExchange size={20} stroke={1.7} />
        <span className={look.program}>
          <span className={look.mark} />
        </span>
      </div>
      <h1 className={look.question}>{texts.question(application)}</h1>
      {own && <p className={look.why}>{texts.ownWhy}</p>}
      <p className={look.may} id="consent-may">
        {texts.may(application)}
      </p>
      <ul className={look.abilities} aria-labelledby="consent-may">
        {scopes.map((scope) => (
          <li key={scope}>
            <IconCheck size={18} aria-hidden className={look.tick} />
            {texts.can[scope]}
          </li>
        ))}
      </ul>
      {!own && <p className={look.not}>{texts.mayNot}</p>}
      <dl className={look.facts}>
        <dt>{texts.account}</dt>
        <dd>{session?.user.email}</dd>
        <dt>{texts.length}</dt>
        <dd>{texts.untilDisconnected}</dd>
        <dt>{texts.returns}</dt>
        <dd>{returnsTo}</dd>
      </dl>
      <div className={look.actions}>
        <BusyButton
          busy={allow.isPending || leaving}
          busyText={texts.busy}
          onClick={() => {
            setProblem(null)
            allow.mutate({ query: { json: 'true' }, body: asked })
          }}
        >
          {texts.yes}
        </BusyButton>
        <Button
          variant="default"
          disabled={allow.isPending || leaving}
          onClick={() => leave(webAddress(refuseUrl, window.location.origin) ?? '/dashboard')}
        >
          {texts.no}
        </Button>
      </div>
      <FormError message={problem} />
    </div>
  )
}
