import { Button, Skeleton } from '@mantine/core'
import {
  IconArrowsSort,
  IconChevronDown,
  IconFilter,
  IconLayoutGrid,
  IconList,
  IconSearch,
  IconSearchOff,
  IconX,
} from '@tabler/icons-react'
import { type ReactNode, Suspense, useCallback, useDeferredValue, useMemo, useRef } from 'react'
import { useNavigate } from 'react-router'
import { type Invoice, searchInvoices } from '#contract/invoices.ts'
import { screens } from '#contract/screens.ts'
import { InvoiceActions } from '#web/invoices/use-invoice-acting.tsx'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import styles from './dashboard.module.css'
import { InvoiceCards } from './invoice-cards.tsx'
import { column, countByFilter, filterInvoices, type Order, openItems, order as orderSchema, sortInvoices } from './list-data.ts'
import { useKnown, useSearch, useSelection, useView, type View } from './list-state.ts'
import { Overview } from './overview.tsx'
import { type Filter, texts } from './texts.ts'
import { focusItem } from './use-grid-navigation.ts'

const InvoiceTable = lazyDialog(async () => (await import('./invoice-table.tsx')).InvoiceTable)
const BulkBar = lazyDialog(async () => (await import('./bulk-bar.tsx')).BulkBar)

/** The invoice list: line of attention, tiles and due line, search, order and filters, then cards or a table. */
export function InvoiceList({ invoices }: { invoices: Invoice[] }): ReactNode {
  const navigate = useNavigate()
  const { known, today, status, next } = useKnown(invoices)
  const { search, onSearch, filter, onFilter } = useSearch()
  const { view, onView, order, onOrder } = useView()
  const deferredSearch = useDeferredValue(search)
  const found = useMemo(() => searchInvoices(invoices, deferredSearch), [invoices, deferredSearch])
  const counts = useMemo(() => countByFilter(found), [found])
  const shown = useMemo(() => sortInvoices(filterInvoices(found, filter), order, known), [found, filter, order, known])
  const items = useMemo(() => openItems(invoices, today), [invoices, today])
  const selection = useSelection(shown)
  const listFrame = useRef<HTMLDivElement>(null)
  const latest = useRef({ invoices, onFilter })
  latest.current = { invoices, onFilter }
  const open = useCallback(
    (id: string) => {
      const invoice = latest.current.invoices.find(({ _id }) => _id === id)
      void navigate(screens.invoice(id), { state: { invoice } })
    },
    [navigate],
  )
  const showOverdue = useCallback(() => {
    latest.current.onFilter('overdue')
    listFrame.current?.parentElement?.querySelector('search')?.scrollIntoView({ block: 'start', behavior: 'smooth' })
  }, [])
  const focusFirst = () => {
    const list = listFrame.current?.querySelector('[data-invoices]')
    if (list) focusItem(list, 0, 20)
  }
  const shared = { invoices: shown, known, today, selection }
  return (
    <InvoiceActions>
      <Overview items={items} status={status} next={next} onOpen={open} onOverdue={showOverdue} />
      <InvoiceFilters
        search={search}
        onSearch={onSearch}
        onEnter={focusFirst}
        order={order}
        onOrder={onOrder}
        filter={filter}
        onFilter={onFilter}
        counts={counts}
        view={view}
        onView={onView}
      />
      <div ref={listFrame}>
        {shown.length === 0 ? (
          <NoMatch search={deferredSearch.trim()} filter={filter} onClear={() => onSearch('')} onFilter={onFilter} />
        ) : view === 'list' ? (
          <Suspense fallback={<Skeleton className={styles.tablePlaceholder} radius={14} />}>
            <InvoiceTable {...shared} order={order} onOrder={onOrder} onClose={() => onView('cards')} />
          </Suspense>
        ) : (
          <InvoiceCards {...shared} />
        )}
      </div>
      <LazyMount wanted={selection.selected.length > 0}>
        <BulkBar selection={selection} shown={shown.length} onClose={selection.clear} />
      </LazyMount>
    </InvoiceActions>
  )
}

const filters: Filter[] = ['all', 'paid', 'unpaid', 'overdue']
const views = [
  { name: 'cards', icon: IconLayoutGrid },
  { name: 'list', icon: IconList },
] as const

interface InvoiceFiltersProps {
  search: string
  onSearch: (search: string) => void
  order: Order
  onOrder: (order: Order) => void
  filter: Filter
  onFilter: (filter: Filter) => void
  counts: Record<Filter, number>
  view: View
  onView: (view: View) => void
  /** Moves the focus from the search box to the first invoice. */
  onEnter: () => void
}

/** The counts on the filters follow the search. */
function InvoiceFilters(props: InvoiceFiltersProps): ReactNode {
  const { search, onSearch, onEnter, order, onOrder, filter, onFilter, counts, view, onView } = props
  const box = useRef<HTMLInputElement>(null)
  return (
    <search className={styles.filterBar}>
      <OrderChoice order={order} onOrder={onOrder} />
      <div className={styles.search}>
        <IconSearch size={18} stroke={1.7} aria-hidden className={styles.searchIcon} />
        <input
          ref={box}
          data-search
          type="text"
          enterKeyHint="search"
          autoComplete="off"
          className={styles.searchBox}
          placeholder={texts.dashboard.search}
          aria-label={texts.dashboard.search}
          value={search}
          maxLength={200}
          onChange={(event) => onSearch(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') onSearch('')
            if (event.key === 'ArrowDown') {
              event.preventDefault()
              onEnter()
            }
          }}
        />
        {search !== '' && (
          <button
            type="button"
            className={styles.searchClear}
            aria-label={texts.dashboard.clear}
            onClick={() => {
              onSearch('')
              box.current?.focus()
            }}
          >
            <IconX size={18} stroke={1.7} aria-hidden />
          </button>
        )}
      </div>
      <fieldset className={styles.filters} aria-label={texts.dashboard.filters}>
        {filters.map((name) => (
          <button key={name} type="button" className={styles.filter} aria-pressed={filter === name} onClick={() => onFilter(name)}>
            {texts.dashboard.filter(name, counts[name])}
          </button>
        ))}
      </fieldset>
      <fieldset className={styles.views} aria-label={texts.view.label}>
        {views.map(({ name, icon: Icon }) => (
          <button
            key={name}
            type="button"
            className={styles.view}
            aria-label={texts.view[name]}
            title={texts.view[name]}
            aria-pressed={view === name}
            onClick={() => onView(name)}
          >
            <Icon size={19} stroke={1.7} aria-hidden />
          </button>
        ))}
      </fieldset>
    </search>
  )
}

/** The heading of the list, which is the choice of its order; on a phone only an icon. */
function OrderChoice({ order, onOrder }: { order: Order; onOrder: (order: Order) => void }): ReactNode {
  const offered = [
    { value: 'null', label: texts.list.attention },
    { value: '"newest"', label: texts.list.newest },
    ...column.options.flatMap((by) => [
      { value: JSON.stringify({ by, ascending: true }), label: texts.list.orders[by].ascending },
      { value: JSON.stringify({ by, ascending: false }), label: texts.list.orders[by].descending },
    ]),
  ]
  const value = JSON.stringify(order)
  return (
    <div className={styles.order}>
      <span className={styles.orderName} aria-hidden="true">
        {offered.find((one) => one.value === value)?.label}
      </span>
      <IconChevronDown size={20} stroke={1.7} aria-hidden className={styles.orderMark} />
      <IconArrowsSort size={20} stroke={1.7} aria-hidden className={styles.orderIcon} />
      <select
        className={styles.orderSelect}
        aria-label={texts.list.sortBy}
        value={value}
        onChange={(event) => onOrder(orderSchema.parse(JSON.parse(event.currentTarget.value)))}
      >
        {offered.map((one) => (
          <option key={one.value} value={one.value}>
            {one.label}
          </option>
        ))}
      </select>
    </div>
  )
}

interface NoMatchProps {
  search: string
  filter: Filter
  onClear: () => void
  onFilter: (filter: Filter) => void
}

/** No invoice matches the search or the filter. */
function NoMatch({ search, filter, onClear, onFilter }: NoMatchProps): ReactNode {
  const { noMatch } = texts
  return (
    <EmptyState
      icon={search === '' ? <IconFilter /> : <IconSearchOff />}
      title={noMatch.title}
      text={search !== '' || filter === 'all' ? noMatch.text(search, filter) : noMatch.byFilter[filter]}
      action={
        <>
          {search !== '' && (
            <Button variant="default" onClick={onClear}>
              {noMatch.clear}
            </Button>
          )}
          {filter !== 'all' && (
            <Button variant="default" onClick={() => onFilter('all')}>
              {noMatch.viewAll}
            </Button>
          )}
        </>
      }
    />
  )
}
