import type { ReactNode } from 'react'
import { PageHeader } from '#web/ui/page-header.tsx'

export default function DashboardScreen(): ReactNode {
  return <PageHeader title="Dashboard" />
}
