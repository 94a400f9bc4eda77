import { Skeleton } from '@mantine/core'
import { type ReactNode, Suspense, useCallback, useDeferredValue, useMemo, useRef } from 'react'
import { useNavigate } from 'react-router'
import type { Invoice } from '#contract/invoices.ts'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { CardActions } from './card-actions.tsx'
import styles from './dashboard.module.css'
import { InvoiceFilters } from './invoice-filters.tsx'
import { InvoiceGrid } from './invoice-grid.tsx'
import { countByFilter, countLateUnpaid, filterInvoices, openItems, searchInvoices } from './ledger.ts'
import { NoMatch } from './no-match.tsx'
import { sortInvoices } from './order.ts'
import { Overview } from './overview.tsx'
import { texts } from './texts.ts'
import { focusItem } from './use-rows.ts'
import { useSearch } from './use-search.ts'
import { useSelection } from './use-selection.ts'
import { useToday } from './use-today.ts'
import { useView } from './use-view.ts'

const InvoiceList = lazyDialog(async () => (await import('./invoice-list.tsx')).InvoiceList)
const BulkBar = lazyDialog(async () => (await import('./bulk-bar.tsx')).BulkBar)

/** The invoices there are: the due line over all of them, then search, filters, and cards or a list. */
export function Ledger({ invoices }: { invoices: Invoice[] }): ReactNode {
  const navigate = useNavigate()
  const { zone, now, today } = useToday()
  const { search, onSearch, filter, onFilter } = useSearch()
  const { view, onView, order, onOrder } = useView()
  const wanted = useDeferredValue(search)
  const found = useMemo(() => searchInvoices(invoices, wanted), [invoices, wanted])
  const counts = useMemo(() => countByFilter(found), [found])
  const lateUnpaid = useMemo(() => countLateUnpaid(found, today), [found, today])
  const shown = useMemo(() => sortInvoices(filterInvoices(found, filter), view === 'list' ? order : null), [found, filter, view, order])
  const items = useMemo(() => openItems(invoices, today), [invoices, today])
  const selection = useSelection(shown)
  const place = useRef<HTMLDivElement>(null)
  const all = useRef(invoices)
  all.current = invoices
  const open = useCallback(
    (id: string) => {
      const invoice = all.current.find(({ _id }) => _id === id)
      void navigate(`/dashboard/edit-invoice/${id}`, { state: { invoice } })
    },
    [navigate],
  )
  const enter = () => {
    const list = place.current?.querySelector('[data-invoices]')
    if (list) focusItem(list, 0, 20)
  }
  const listed = { invoices: shown, zone, today, now, selection }
  return (
    <CardActions>
      <Overview invoices={invoices} items={items} today={today} zone={zone} onOpen={open} />
      <InvoiceFilters
        search={search}
        onSearch={onSearch}
        onEnter={enter}
        filter={filter}
        onFilter={onFilter}
        counts={counts}
        view={view}
        onView={onView}
      />
      {filter !== 'paid' && shown.length > 0 && lateUnpaid > 0 && <p className={styles.aside}>{texts.noMatch.lateUnpaid(lateUnpaid)}</p>}
      <div ref={place}>
        {shown.length === 0 ? (
          <NoMatch search={wanted.trim()} filter={filter} lateUnpaid={lateUnpaid} onClear={() => onSearch('')} onFilter={onFilter} />
        ) : view === 'list' ? (
          <Suspense fallback={<Skeleton className={styles.coming} radius={14} />}>
            <InvoiceList {...listed} order={order} onOrder={onOrder} onClose={() => onView('cards')} />
          </Suspense>
        ) : (
          <InvoiceGrid {...listed} />
        )}
      </div>
      <LazyMount wanted={selection.chosen.length > 0}>
        <BulkBar selection={selection} shown={shown.length} onClose={selection.clear} />
      </LazyMount>
    </CardActions>
  )
}
