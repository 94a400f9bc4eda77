import type { ReactNode } from 'react'
import { PageHeader } from '#web/ui/page-header.tsx'

export default function ProfileScreen(): ReactNode {
  return <PageHeader title="My Profile" />
}
