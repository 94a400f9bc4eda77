import { ActionIcon, Button, Skeleton } from '@mantine/core'
import { IconDots, IconDownload, IconFileInvoice, IconPlus, IconUpload } from '@tabler/icons-react'
import { type UseQueryResult, useMutation, useQueryClient } from '@tanstack/react-query'
import { type ComponentType, lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import { type Invoice, invoiceCalls, invoiceStatus, searchInvoices } from '#contract/invoices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { Leaving, LinkButton, useLiveInterval } from '#web/platform/account.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { invalidate, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { fetchFile, saveFile } from '#web/platform/send.ts'
import { useSession } from '#web/platform/session.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { PageHeader } from '#web/ui/panel.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './dashboard.module.css'
import { InvoiceList } from './invoice-list.tsx'
import { filterInvoices } from './list-data.ts'
import { AttentionLine } from './overview.tsx'
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
      <Leaving />
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
            <LinkButton
              by="member"
              to={screens.newInvoice}
              // Without invoices the one below, or the checklist, is the way on.
              variant={invoices?.length === 0 ? 'default' : 'filled'}
              leftSection={<IconPlus size={18} />}
            >
              {texts.dashboard.create}
            </LinkButton>
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
  const invoices = useApiQuery(invoiceCalls.list, {}, { refetchInterval: useLiveInterval() })
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
          <LinkButton by="member" to={screens.newInvoice} leftSection={<IconPlus size={18} />}>
            {texts.dashboard.create}
          </LinkButton>
          <Button component={Link} to="?import" variant="default" leftSection={<IconUpload size={18} stroke={1.7} />}>
            {texts.dashboard.importCsv}
          </Button>
        </>
      }
    />
  )
}

const loadExport = async () => (await import('./open-menus.tsx')).OpenExportMenu
const OpenExportMenu = lazyDialog(loadExport)

const exportIcon = <IconDownload size={18} stroke={1.7} />

/** The filter and search of the screen, and the export of all invoices or of those. */
function useExport(invoices: Invoice[] | null): Exporting {
  const [address] = useSearchParams()
  const search = (address.get('search') ?? '').trim()
  const status = invoiceStatus.safeParse(address.get('status')).data
  const { mutate, isPending } = useMutation({
    mutationFn: (query: { status?: typeof status; search?: string }) => fetchFile(invoiceCalls.export, { query }),
    onSuccess: ({ bytes, name }) => {
      saveFile(bytes, name)
      toast('good', texts.exporting.done(name))
    },
    onError: (error) => toast('bad', texts.exporting.failed(errorMessage(error))),
  })
  const narrowed = search !== '' || status !== undefined
  return {
    busy: isPending,
    shown: narrowed && invoices ? filterInvoices(searchInvoices(invoices, search), status ?? 'all').length : null,
    exportAll: () => mutate({}),
    exportShown: () => mutate({ search, ...(status ? { status } : {}) }),
  }
}

export interface Exporting {
  busy: boolean
  /** How many invoices a search or filter leaves; null without one. */
  shown: number | null
  exportAll: () => void
  exportShown: () => void
}

/** Exports all invoices, or with a search or filter a choice of only those shown. `ready`: the invoices are loaded. */
function ExportButton({ exporting, ready }: { exporting: Exporting; ready: boolean }): ReactNode {
  const [choosing, setChoosing] = useState(false)
  const { busy, shown, exportAll, exportShown } = exporting
  const style = { variant: 'default', className: styles.tool ?? '', leftSection: exportIcon } as const
  if (!ready)
    return (
      <Button {...style} disabled>
        {texts.exporting.button}
      </Button>
    )
  if (shown === null)
    return (
      <BusyButton {...style} busy={busy} busyText={texts.exporting.busy} onClick={exportAll}>
        {texts.exporting.button}
      </BusyButton>
    )
  const button = (
    <Button
      {...style}
      loading={busy}
      aria-haspopup="menu"
      aria-expanded={false}
      onClick={() => setChoosing(true)}
      // Preloads the menu.
      onPointerEnter={preload}
      onFocus={preload}
    >
      {texts.exporting.button}
    </Button>
  )
  if (!choosing) return button
  return (
    <Suspense fallback={button}>
      <OpenExportMenu
        shown={shown}
        onAll={exportAll}
        onShown={exportShown}
        onClose={() => setChoosing(false)}
        button={(ref) => (
          <Button {...style} ref={ref} loading={busy}>
            {texts.exporting.button}
          </Button>
        )}
      />
    </Suspense>
  )
}

function preload(): void {
  loadExport().catch(() => undefined)
}

const loadChecklist = () => import('#web/invoices/checklist/open-checklist.tsx')
/** Until it loads, and where it cannot be loaded, the dashboard shows the rest. */
const OpenChecklist = lazy<ComponentType<{ waiting: ReactNode }>>(async () => ({
  default: await loadChecklist().then(
    (loaded) => loaded.OpenChecklist,
    () => () => null,
  ),
}))

/** The account that was without a first reminder when this page was loaded: its checklist stays until the next visit. */
let openFor: string | null = null

/** What leads to the first reminder: stays on the dashboard until a mail server has accepted one. */
function Checklist(): ReactNode {
  const account = useSession()?.user._id ?? null
  const status = useApiQuery(reminderCalls.status).data
  const isFirst = useApiQuery(invoiceCalls.list).data?.length === 0
  if (!status || account === null) return null
  if (status.lastReminderSent === null) openFor = account
  if (openFor !== account) return null
  // As tall as the checklist will be, so that what is below does not move: an invoice that moves while it is pressed does not open.
  const waiting = <Skeleton className={styles.checklistWaiting} data-first={isFirst || undefined} radius={14} mb={24} />
  return (
    <Suspense fallback={waiting}>
      <OpenChecklist waiting={waiting} />
    </Suspense>
  )
}
