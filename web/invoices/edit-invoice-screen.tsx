import type { ReactNode } from 'react'
import { PageHeader } from '#web/ui/page-header.tsx'

export default function EditInvoiceScreen(): ReactNode {
  return <PageHeader title="Edit Invoice" />
}
