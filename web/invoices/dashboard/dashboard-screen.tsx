import { ActionIcon, Button, Skeleton } from '@mantine/core'
import { IconDots, IconFileInvoice, IconPlus, IconUpload } from '@tabler/icons-react'
import { type UseQueryResult, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, Suspense, useEffect, useRef, useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import { type Invoice, invoiceCalls } from '#contract/invoices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { Checklist } from '#web/invoices/checklist/checklist.tsx'
import { invalidate, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { PageHeader } from '#web/ui/panel.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import { AttentionLine } from './attention-line.tsx'
import styles from './dashboard.module.css'
import { ExportButton, type Exporting, useExport } from './export-button.tsx'
import { InvoiceList } from './invoice-list.tsx'
import { texts } from './texts.ts'

const ImportDialog = lazyDialog(async () => (await import('#web/invoices/import/import-dialog.tsx')).ImportDialog)

/** Prerendered: shown until the browser knows whose invoices to load. */
export const handle = { starting: <Starting /> }

function Starting(): ReactNode {
  return (
    <>
      <Head invoices={null} />
      <div className={styles.strip} />
      <DashboardSkeleton still />
    </>
  )
}

/** /dashboard; `?import` opens the import dialog, so that any link can open it. */
export default function DashboardScreen(): ReactNode {
  const invoices = useInvoices()
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
      <AttentionLine />
      <Checklist />
      <QueryView
        query={invoices}
        loading={texts.dashboard.loading}
        skeleton={<DashboardSkeleton />}
        error={texts.dashboard.failed}
        empty={<NoInvoices />}
      >
        {(list) => <InvoiceList invoices={list} />}
      </QueryView>
      <LazyMount wanted={importing}>
        <ImportDialog opened={importing} onClose={closeImport} />
      </LazyMount>
    </>
  )
}

/** `invoices` is null until they are loaded. */
function Head({ invoices }: { invoices: Invoice[] | null }): ReactNode {
  const [address] = useSearchParams()
  const withImport = new URLSearchParams(address)
  withImport.set('import', '')
  const importTo = { search: `?${withImport}` }
  const exporting = useExport(invoices)
  const offersExport = invoices === null || invoices.length > 0
  return (
    <div className={styles.head}>
      <PageHeader
        title={texts.dashboard.title}
        subtitle={texts.dashboard.subtitle}
        action={
          <div className={styles.tools}>
            <Button
              component={Link}
              to={importTo}
              preventScrollReset
              variant="default"
              className={styles.tool ?? ''}
              leftSection={<IconUpload size={18} stroke={1.7} />}
            >
              {texts.dashboard.import}
            </Button>
            {offersExport && <ExportButton exporting={exporting} ready={invoices !== null} />}
            <PhoneTools exporting={offersExport ? exporting : null} importTo={importTo} />
            <Button
              component={Link}
              to={screens.newInvoice}
              // Without invoices the one below, or the checklist, is the way on.
              variant={invoices?.length === 0 ? 'default' : 'filled'}
              leftSection={<IconPlus size={18} />}
            >
              {texts.dashboard.create}
            </Button>
          </div>
        }
      />
    </div>
  )
}

const loadTools = async () => (await import('./open-menus.tsx')).OpenToolsMenu
const OpenToolsMenu = lazyDialog(loadTools)

function PhoneTools({ exporting, importTo }: { exporting: Exporting | null; importTo: { search: string } }): ReactNode {
  const [wanted, setWanted] = useState(false)
  const style = { variant: 'default', className: styles.phoneTools ?? '', 'aria-label': texts.dashboard.tools } as const
  const icon = <IconDots size={20} />
  const button = (
    <ActionIcon {...style} aria-haspopup="menu" aria-expanded={false} onClick={() => setWanted(true)}>
      {icon}
    </ActionIcon>
  )
  if (!wanted) return button
  return (
    <Suspense fallback={button}>
      <OpenToolsMenu
        exporting={exporting}
        importTo={importTo}
        onClose={() => setWanted(false)}
        button={(ref) => (
          <ActionIcon {...style} ref={ref}>
            {icon}
          </ActionIcon>
        )}
      />
    </Suspense>
  )
}

/** How often to poll for newly sent reminders, in milliseconds. */
const pollDuringRun = 4_000
const pollOtherwise = 60_000

/** All invoices. A reminder sent meanwhile, such as by the daily run, shows on its card without a reload. */
function useInvoices(): UseQueryResult<Invoice[]> {
  const queries = useQueryClient()
  const invoices = useApiQuery(invoiceCalls.list)
  const status = useApiQuery(reminderCalls.status, {}, { refetchInterval: pollOtherwise })
  useApiQuery(reminderCalls.status, {}, { refetchInterval: status.data?.openRunId == null ? pollOtherwise : pollDuringRun })
  const { data, refetch } = invoices
  const lastSent = status.data?.lastReminderSent ?? null
  const refetchedFor = useRef<string | null>(null)
  useEffect(() => {
    if (!data || lastSent === null || refetchedFor.current === lastSent) return
    // Once per reminder: its invoice may have been deleted, and then no refetch brings it.
    refetchedFor.current = lastSent
    if (data.some(({ lastReminderAt }) => lastReminderAt !== null && Date.parse(lastReminderAt) >= Date.parse(lastSent))) return
    void refetch()
    void invalidate(queries, [reminderCalls.preview])
  }, [data, lastSent, refetch, queries])
  return invoices
}

/** `still`: without animation, for the prerendered page. */
function DashboardSkeleton({ still = false }: { still?: boolean }): ReactNode {
  const animate = !still
  return (
    <>
      <Skeleton animate={animate} height={378} radius={14} mb={20} />
      <div className={styles.filterBar}>
        <Skeleton animate={animate} height={44} maw={340} />
      </div>
      <div className={styles.skeletons}>
        <Skeleton animate={animate} height={258} radius={14} />
        <Skeleton animate={animate} height={258} radius={14} />
        <Skeleton animate={animate} height={258} radius={14} />
      </div>
    </>
  )
}

/** Before the first reminder the checklist above has the buttons. */
function NoInvoices(): ReactNode {
  const status = useApiQuery(reminderCalls.status).data
  if (!status?.lastReminderSent) return <EmptyState icon={<IconFileInvoice />} title={texts.none.title} text={texts.none.text} />
  return (
    <EmptyState
      icon={<IconFileInvoice />}
      title={texts.none.title}
      text={texts.none.text}
      action={
        <>
          <Button component={Link} to={screens.newInvoice} leftSection={<IconPlus size={18} />}>
            {texts.dashboard.create}
          </Button>
          <Button component={Link} to="?import" variant="default" leftSection={<IconUpload size={18} stroke={1.7} />}>
            {texts.dashboard.importCsv}
          </Button>
        </>
      }
    />
  )
}
