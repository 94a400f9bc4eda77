import type { ReactNode } from 'react'
import { PageHeader } from '#web/ui/page-header.tsx'

export default function MailSettingsScreen(): ReactNode {
  return <PageHeader title="Email Settings" />
}
