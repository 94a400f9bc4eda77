import { Button } from '@mantine/core'
import { IconUnlink } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link, useSearchParams } from 'react-router'
import { integrationCalls } from '#contract/integrations.ts'
import { Problem } from '#web/platform/problem.ts'
import { useRead } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { EmptyState } from '#web/ui/empty-state.tsx'
import { type Asked, ConsentQuestionCard } from './consent-question.tsx'
import { consentTexts as texts } from './consent-texts.ts'

/** /dashboard/oauth-consent?redirect_uri=…&state=…&request=… */
export default function OauthConsentScreen(): ReactNode {
  const [address] = useSearchParams()
  const [redirectUri, state, request] = ['redirect_uri', 'state', 'request'].map((name) => address.get(name) ?? '')
  return (
    <>
      <title>{`${texts.title} · Duely`}</title>
      {redirectUri ? (
        <Asking asked={{ redirect_uri: redirectUri, state: state ?? '', request: request ?? '' }} />
      ) : (
        <DeadEnd title={texts.missing} text={texts.missingHint} />
      )}
    </>
  )
}

function Asking({ asked }: { asked: Asked }): ReactNode {
  const question = useRead(integrationCalls.consent, { query: asked })
  // What is no question will not become one by trying again.
  if (question.data === undefined && question.error instanceof Problem && !passes(question.error))
    return <DeadEnd title={texts.invalid} text={`${question.error.message} ${texts.invalidHint}`} />
  return (
    <QueryView query={question} loading={texts.loading} error={(message) => message} empty={null}>
      {(data) => <ConsentQuestionCard question={data} asked={asked} />}
    </QueryView>
  )
}

function passes({ code }: Problem): boolean {
  return code === 'offline' || code === 'fault' || code === 'not_ready' || code === 'too_many'
}

function DeadEnd({ title, text }: { title: string; text: string }): ReactNode {
  return (
    <div role="alert">
      <EmptyState
        icon={<IconUnlink />}
        heading="h1"
        title={title}
        text={text}
        action={
          <Button component={Link} to="/dashboard" variant="default">
            {texts.back}
          </Button>
        }
      />
    </div>
  )
}
