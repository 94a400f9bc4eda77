import { Button, VisuallyHidden } from '@mantine/core'
import { IconUnlink } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link, useSearchParams } from 'react-router'
import { integrationCalls } from '#contract/integrations.ts'
import { screens } from '#contract/screens.ts'
import { Problem } from '#web/platform/problem.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import { type Asked, ConsentCard } from './consent-card.tsx'
import { ConsentFacts } from './consent-facts.tsx'
import { consentTexts as texts } from './consent-texts.ts'

/** Principal is asked about where nobody is named. */
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
  // What is no question will not become one by trying again.
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
