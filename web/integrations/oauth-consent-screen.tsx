import { Button } from '@mantine/core'
import { IconArrowsExchange, IconBolt, IconUnlink } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link, useSearchParams } from 'react-router'
import { EmptyState } from '#web/ui/empty-state.tsx'
import { Notice } from '#web/ui/notice.tsx'
import look from './consent.module.css'
import { texts } from './texts.ts'

/** /dashboard/oauth-consent?redirect_uri=…&state=… */
export default function OauthConsentScreen(): ReactNode {
  const [asked] = useSearchParams()
  return (
    <>
      <title>{`${texts.title} · Duely`}</title>
      {asked.get('redirect_uri') ? <Question /> : <Incomplete />}
    </>
  )
}

function Question(): ReactNode {
  return (
    <div className={look.card}>
      <div className={look.programs} aria-hidden>
        <span className={look.program}>
          <IconBolt size={26} stroke={1.7} />
        </span>
        <IconArrowsExchange size={20} stroke={1.7} />
        <span className={look.program}>
          <span className={look.mark} />
        </span>
      </div>
      <h1 className={look.question}>{texts.question}</h1>
      <Notice tone="info">{texts.notOpen}</Notice>
      <div className={look.actions}>
        <Button disabled>{texts.yes}</Button>
        <Button component={Link} to="/dashboard" variant="default">
          {texts.no}
        </Button>
      </div>
    </div>
  )
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
          <Button component={Link} to="/dashboard" variant="default">
            {texts.back}
          </Button>
        }
      />
    </div>
  )
}
