import { Button, Skeleton } from '@mantine/core'
import { IconFilter, IconLayoutGrid, IconList, IconSearch, IconSearchOff, IconX } from '@tabler/icons-react'
import { type ReactNode, Suspense, useCallback, useDeferredValue, useMemo, useRef } from 'react'
import { useNavigate } from 'react-router'
import type { Invoice } from '#contract/invoices.ts'
import { screens } from '#contract/screens.ts'
import { useToday } from '#web/platform/use-today.ts'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import styles from './dashboard.module.css'
import { InvoiceActions } from './invoice-actions.tsx'
import { InvoiceCards } from './invoice-cards.tsx'
import { countByFilter, countLateUnpaid, filterInvoices, openItems, searchInvoices, sortInvoices } from './list-data.ts'
import { useSearch, useSelection, useView, type View } from './list-state.ts'
import { Overview } from './overview.tsx'
import { type Filter, texts } from './texts.ts'
import { focusItem } from './use-grid-navigation.ts'

const InvoiceTable = lazyDialog(async () => (await import('./invoice-table.tsx')).InvoiceTable)
const BulkBar = lazyDialog(async () => (await import('./bulk-bar.tsx')).BulkBar)

/** The invoice list: due line, search, filters, then cards or a table. */
export function InvoiceList({ invoices }: { invoices: Invoice[] }): ReactNode {
  const navigate = useNavigate()
  const { zone, now, today } = useToday()
  const { search, onSearch, filter, onFilter } = useSearch()
  const { view, onView, order, onOrder } = useView()
  const deferredSearch = useDeferredValue(search)
  const found = useMemo(() => searchInvoices(invoices, deferredSearch), [invoices, deferredSearch])
  const counts = useMemo(() => countByFilter(found), [found])
  const lateUnpaid = useMemo(() => countLateUnpaid(found, today), [found, today])
  const shown = useMemo(() => sortInvoices(filterInvoices(found, filter), view === 'list' ? order : null), [found, filter, view, order])
  const items = useMemo(() => openItems(invoices, today), [invoices, today])
  const selection = useSelection(shown)
  const listFrame = useRef<HTMLDivElement>(null)
  const latest = useRef(invoices)
  latest.current = invoices
  const open = useCallback(
    (id: string) => {
      const invoice = latest.current.find(({ _id }) => _id === id)
      void navigate(screens.invoice(id), { state: { invoice } })
    },
    [navigate],
  )
  const focusFirst = () => {
    const list = listFrame.current?.querySelector('[data-invoices]')
    if (list) focusItem(list, 0, 20)
  }
  const shared = { invoices: shown, zone, today, now, selection }
  return (
    <InvoiceActions>
      <Overview invoices={invoices} items={items} today={today} zone={zone} onOpen={open} />
      <InvoiceFilters
        search={search}
        onSearch={onSearch}
        onEnter={focusFirst}
        filter={filter}
        onFilter={onFilter}
        counts={counts}
        view={view}
        onView={onView}
      />
      {filter !== 'paid' && shown.length > 0 && lateUnpaid > 0 && <p className={styles.lateNote}>{texts.noMatch.lateUnpaid(lateUnpaid)}</p>}
      <div ref={listFrame}>
        {shown.length === 0 ? (
          <NoMatch
            search={deferredSearch.trim()}
            filter={filter}
            lateUnpaid={lateUnpaid}
            onClear={() => onSearch('')}
            onFilter={onFilter}
          />
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
  const { search, onSearch, onEnter, filter, onFilter, counts, view, onView } = props
  const box = useRef<HTMLInputElement>(null)
  return (
    <search className={styles.filterBar}>
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

interface NoMatchProps {
  search: string
  filter: Filter
  /** How many of the found invoices are past due but still marked unpaid. */
  lateUnpaid: number
  onClear: () => void
  onFilter: (filter: Filter) => void
}

/** No invoice matches the search or the filter. */
function NoMatch({ search, filter, lateUnpaid, onClear, onFilter }: NoMatchProps): ReactNode {
  const { noMatch } = texts
  const text = search !== '' || filter === 'all' ? noMatch.text(search, filter) : noMatch.byFilter[filter]
  const hasLateUnpaid = filter === 'overdue' && lateUnpaid > 0
  return (
    <EmptyState
      icon={search === '' ? <IconFilter /> : <IconSearchOff />}
      title={noMatch.title}
      text={text}
      {...(hasLateUnpaid ? { more: noMatch.lateUnpaid(lateUnpaid) } : {})}
      action={
        <>
          {search !== '' && (
            <Button variant="default" onClick={onClear}>
              {noMatch.clear}
            </Button>
          )}
          {hasLateUnpaid && <Button onClick={() => onFilter('unpaid')}>{noMatch.viewUnpaid}</Button>}
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
