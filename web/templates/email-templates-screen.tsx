import type { ReactNode } from 'react'
import { PageHeader } from '#web/ui/page-header.tsx'

export default function EmailTemplatesScreen(): ReactNode {
  return <PageHeader title="Email Template Settings" />
}
