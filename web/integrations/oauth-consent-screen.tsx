import type { ReactNode } from 'react'
import { PageHeader } from '#web/ui/page-header.tsx'

export default function OauthConsentScreen(): ReactNode {
  return <PageHeader title="Authorization Request" />
}
