import { Button } from '@mantine/core'
import { IconPlugConnected } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { EmptyState } from '#web/ui/empty-state.tsx'
import { PageHeader } from '#web/ui/page-header.tsx'
import { texts } from './texts.ts'

/** /dashboard/oauth-consent */
export default function OauthConsentScreen(): ReactNode {
  return (
    <>
      <PageHeader title={texts.title} />
      <EmptyState
        icon={<IconPlugConnected />}
        text={texts.later}
        action={
          <Button component={Link} to="/dashboard" variant="default">
            {texts.back}
          </Button>
        }
      />
    </>
  )
}
