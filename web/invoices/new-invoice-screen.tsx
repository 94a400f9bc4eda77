import type { ReactNode } from 'react'
import { PageHeader } from '#web/ui/page-header.tsx'

export default function NewInvoiceScreen(): ReactNode {
  return <PageHeader title="Create Invoice" />
}
