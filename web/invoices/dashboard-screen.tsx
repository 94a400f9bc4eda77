import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { invoiceCalls } from '#contract/invoices.ts'
import { useRead } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { PageHeader } from '#web/ui/page-header.tsx'
import { DashboardSkeleton } from './dashboard-skeleton.tsx'
import { Ledger } from './ledger-view.tsx'
import { NoInvoices } from './no-invoices.tsx'
import { texts } from './texts.ts'

/** /dashboard */
export default function DashboardScreen(): ReactNode {
  const invoices = useRead(invoiceCalls.list)
  return (
    <>
      <PageHeader
        title={texts.dashboard.title}
        subtitle={texts.dashboard.subtitle}
        action={
          <Button component={Link} to="/dashboard/new-invoice" leftSection={<IconPlus size={18} />}>
            {texts.dashboard.create}
          </Button>
        }
      />
      <QueryView
        query={invoices}
        loading={texts.dashboard.loading}
        skeleton={<DashboardSkeleton />}
        error={texts.dashboard.failed}
        empty={<NoInvoices />}
      >
        {(list) => <Ledger invoices={list} />}
      </QueryView>
    </>
  )
}
