import type { ReactNode } from 'react'
import { PageHeader } from '#web/ui/page-header.tsx'

export default function ReminderControlScreen(): ReactNode {
  return <PageHeader title="Reminder Control" />
}
