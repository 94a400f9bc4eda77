import { Button } from '@mantine/core'
import { IconPlus, IconUpload } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link, useSearchParams } from 'react-router'
import type { Invoice } from '#contract/invoices.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { PageHeader } from '#web/ui/panel.tsx'
import styles from './dashboard.module.css'
import { DashboardSkeleton } from './dashboard-skeleton.tsx'
import { ExportButton } from './export-button.tsx'
import { Ledger } from './ledger-view.tsx'
import { NoInvoices } from './no-invoices.tsx'
import { texts } from './texts.ts'
import { useLedger } from './use-ledger.ts'

const ImportDialog = lazyDialog(async () => (await import('./import-dialog.tsx')).ImportDialog)

/** Written at build time: what stands there before the browser has found out whose invoices they are. */
export const handle = { starting: <Starting /> }

function Starting(): ReactNode {
  return (
    <>
      <Head invoices={null} />
      <DashboardSkeleton still />
    </>
  )
}

/** /dashboard; with `?import` the dialog for importing stands open, so that a link from anywhere can open it. */
export default function DashboardScreen(): ReactNode {
  const invoices = useLedger()
  const [address, setAddress] = useSearchParams()
  const importing = address.has('import')
  const closeImport = () =>
    setAddress(
      (before) => {
        const after = new URLSearchParams(before)
        after.delete('import')
        return after
      },
      { replace: true, preventScrollReset: true },
    )
  return (
    <>
      <Head invoices={invoices.data ?? null} />
      <QueryView
        query={invoices}
        loading={texts.dashboard.loading}
        skeleton={<DashboardSkeleton />}
        error={texts.dashboard.failed}
        empty={<NoInvoices />}
      >
        {(list) => <Ledger invoices={list} />}
      </QueryView>
      <LazyMount wanted={importing}>
        <ImportDialog opened={importing} onClose={closeImport} />
      </LazyMount>
    </>
  )
}

/** `invoices`: null until they are read. */
function Head({ invoices }: { invoices: Invoice[] | null }): ReactNode {
  const [address] = useSearchParams()
  const withImport = new URLSearchParams(address)
  withImport.set('import', '')
  return (
    <PageHeader
      title={texts.dashboard.title}
      subtitle={texts.dashboard.subtitle}
      action={
        <div className={styles.tools}>
          <Button
            component={Link}
            to={{ search: `?${withImport}` }}
            preventScrollReset
            variant="default"
            className={styles.tool ?? ''}
            leftSection={<IconUpload size={18} stroke={1.7} />}
          >
            {texts.dashboard.import}
          </Button>
          {(invoices === null || invoices.length > 0) && <ExportButton invoices={invoices} />}
          <Button component={Link} to="/dashboard/new-invoice" leftSection={<IconPlus size={18} />}>
            {texts.dashboard.create}
          </Button>
        </div>
      }
    />
  )
}
