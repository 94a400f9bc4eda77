import { Button, VisuallyHidden } from '@mantine/core'
import { IconApps, IconArrowsExchange, IconBolt, IconCheck, IconSend2, IconUnlink } from '@tabler/icons-react'
import { type ReactNode, useId, useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import { type ConsentQuestion, integrationCalls } from '#contract/integrations.ts'
import { screens } from '#contract/screens.ts'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { useSession } from '#web/platform/session.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { FormError, Notice } from '#web/ui/notice.tsx'
import { FactList } from '#web/ui/panel.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import { webAddress } from './connection-parts.tsx'
import styles from './consent.module.css'
import { consentTexts as texts } from './texts.ts'

/** Named in an invalid request. */
const zapier = 'Zapier'
const dashboard = screens.dashboard

/** /dashboard/oauth-consent?redirect_uri=…&state=…&request=… */
export default function OauthConsentScreen(): ReactNode {
  const [address] = useSearchParams()
  const [redirectUri, state, request] = ['redirect_uri', 'state', 'request'].map((name) => address.get(name) ?? '')
  return (
    <>
      <title>{`${texts.title} · Duely`}</title>
      {redirectUri ? <Asking asked={{ redirect_uri: redirectUri, state: state ?? '', request: request ?? '' }} /> : <Incomplete />}
    </>
  )
}

function Asking({ asked }: { asked: Asked }): ReactNode {
  const question = useApiQuery(integrationCalls.consent, { query: asked })
  // Retrying cannot help an invalid request.
  if (question.data === undefined && question.error instanceof Problem && !passes(question.error))
    return <ConsentCard application={zapier} own={false} asked={asked} refuseUrl={dashboard} invalid={question.error.message} />
  return (
    <>
      {question.data === undefined && <VisuallyHidden component="h1">{texts.title}</VisuallyHidden>}
      <QueryView query={question} loading={texts.loading} error={(message) => message} empty={null}>
        {(data) => (
          <ConsentCard {...data} asked={asked}>
            <ConsentFacts question={data} />
          </ConsentCard>
        )}
      </QueryView>
    </>
  )
}

function passes({ code }: Problem): boolean {
  return code === 'offline' || code === 'fault' || code === 'not_ready' || code === 'too_many'
}

function Incomplete(): ReactNode {
  return (
    <div role="alert">
      <EmptyState
        icon={<IconUnlink />}
        heading="h1"
        title={texts.missing}
        text={texts.missingHint}
        action={
          <Button component={Link} to={dashboard} variant="default">
            {texts.back}
          </Button>
        }
      />
    </div>
  )
}

/** The query of the request; sent back with the answer. */
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
  /** Why the request is invalid; then No is the primary button. */
  invalid?: string
  children?: ReactNode
}

function ConsentCard({ application, own, asked, refuseUrl, invalid, children }: ConsentCardProps): ReactNode {
  const [problem, setProblem] = useState<string | null>(null)
  const [leaving, setLeaving] = useState(false)
  const leave = (address: string) => {
    // Busy until the other page has loaded.
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

/** The hyphen must not start a line. */
function Question({ application }: { application: string }): ReactNode {
  const [lead, ...asks] = texts.question(application).split(' - ')
  return (
    <>
      <span className={styles.lead}>{lead} -</span> {asks.join(' - ')}
    </>
  )
}

/** Scopes, account, duration and redirect address. */
function ConsentFacts({ question }: { question: ConsentQuestion }): ReactNode {
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
