import { Button, Skeleton } from '@mantine/core'
import { IconCheck, IconFileInvoice, IconPlus, IconUpload } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef } from 'react'
import { Link, useSearchParams } from 'react-router'
import { type Invoice, invoiceCalls } from '#contract/invoices.ts'
import { mailCalls } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { PageHeader } from '#web/ui/panel.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import styles from './dashboard.module.css'
import { ExportButton } from './export-button.tsx'
import { InvoiceList } from './invoice-list.tsx'
import { texts } from './texts.ts'

const ImportDialog = lazyDialog(async () => (await import('#web/invoices/import/import-dialog.tsx')).ImportDialog)

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
  const invoices = useInvoiceList()
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
        {(list) => <InvoiceList invoices={list} />}
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

/** Milliseconds between two looks at whether a reminder has left: while a run is under way, and otherwise. */
const often = 4_000
const seldom = 60_000

/** All invoices; read again when a reminder has left that they do not know of, so that a card says so without a reload, also at nine in the morning. */
export function useInvoiceList(): UseQueryResult<Invoice[]> {
  const invoices = useApiQuery(invoiceCalls.list)
  const status = useApiQuery(reminderCalls.status, {}, { refetchInterval: seldom })
  useApiQuery(reminderCalls.status, {}, { refetchInterval: status.data?.openRunId == null ? seldom : often })
  const { data, refetch } = invoices
  const left = status.data?.lastReminderSent ?? null
  const looked = useRef<string | null>(null)
  useEffect(() => {
    // Once for each: the invoice that it was for may be gone.
    if (!data || left === null || looked.current === left) return
    looked.current = left
    if (!data.some(({ lastReminderAt }) => lastReminderAt !== null && Date.parse(lastReminderAt) >= Date.parse(left))) void refetch()
  }, [data, left, refetch])
  return invoices
}

/** The shape of the dashboard while the invoices are on their way. `still`: for the moment in which the page itself is. */
export function DashboardSkeleton({ still = false }: { still?: boolean }): ReactNode {
  const animate = !still
  return (
    <>
      <Skeleton animate={animate} height={288} radius={14} mb={22} />
      <div className={styles.filterBar}>
        <Skeleton animate={animate} height={44} maw={340} />
      </div>
      <div className={styles.skeletons}>
        <Skeleton animate={animate} height={206} radius={14} />
        <Skeleton animate={animate} height={206} radius={14} />
        <Skeleton animate={animate} height={206} radius={14} />
      </div>
    </>
  )
}

/** The account has no invoice at all. */
export function NoInvoices(): ReactNode {
  return (
    <>
      <EmptyState
        icon={<IconFileInvoice />}
        title={texts.none.title}
        text={texts.none.text}
        action={
          <>
            <Button component={Link} to="/dashboard/new-invoice" leftSection={<IconPlus size={18} />}>
              {texts.dashboard.create}
            </Button>
            <Button component={Link} to="?import" variant="default" leftSection={<IconUpload size={18} stroke={1.7} />}>
              {texts.dashboard.importCsv}
            </Button>
          </>
        }
      />
      <FirstSteps />
    </>
  )
}

/** What it takes until the first reminder leaves, and what of it is done already. */
export function FirstSteps(): ReactNode {
  const mailbox = useApiQuery(mailCalls.config)
  const status = useApiQuery(reminderCalls.status)
  const { invoice, mailbox: connect, start } = texts.firstSteps.list
  // The first is what all of this stands there for: it is still to be done.
  const steps = [
    { ...invoice, to: '/dashboard/new-invoice', done: null },
    { ...connect, to: '/dashboard/mail-settings', done: mailbox.data?.configured ? connect.done : null },
    { ...start, to: '/dashboard/reminder-control', done: status.data?.isActive ? start.done : null },
  ]
  return (
    <section className={styles.steps}>
      <h2 className={styles.stepsTitle}>{texts.firstSteps.title}</h2>
      <ol className={styles.stepsList}>
        {steps.map(({ says, more, to, done }, nth) => (
          <li key={says} className={styles.step} data-done={done !== null || undefined}>
            <span className={styles.stepMark} aria-hidden>
              {done === null ? nth + 1 : <IconCheck size={18} />}
            </span>
            <div>
              <Link to={to}>{says}</Link>
              <div className={styles.stepHint}>{done ?? more}</div>
            </div>
          </li>
        ))}
      </ol>
    </section>
  )
}
