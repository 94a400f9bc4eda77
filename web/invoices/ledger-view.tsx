import { type ReactNode, useDeferredValue, useMemo } from 'react'
import { useNavigate } from 'react-router'
import type { Invoice } from '#contract/invoices.ts'
import { CardActions } from './card-actions.tsx'
import { InvoiceFilters } from './invoice-filters.tsx'
import { InvoiceGrid } from './invoice-grid.tsx'
import { countByFilter, filterInvoices, openItems, searchInvoices } from './ledger.ts'
import { NoMatch } from './no-match.tsx'
import { Overview } from './overview.tsx'
import { useSearch } from './use-search.ts'
import { useToday } from './use-today.ts'

/** The invoices there are: the due line over all of them, then search, filters and cards. */
export function Ledger({ invoices }: { invoices: Invoice[] }): ReactNode {
  const navigate = useNavigate()
  const { zone, now, today } = useToday()
  const { search, onSearch, filter, onFilter } = useSearch()
  const wanted = useDeferredValue(search)
  const found = useMemo(() => searchInvoices(invoices, wanted), [invoices, wanted])
  const shown = useMemo(() => filterInvoices(found, filter), [found, filter])
  const items = useMemo(() => openItems(invoices, today), [invoices, today])
  const open = (id: string) => {
    const invoice = invoices.find(({ _id }) => _id === id)
    void navigate(`/dashboard/edit-invoice/${id}`, { state: { invoice } })
  }
  return (
    <CardActions>
      <Overview invoices={invoices} items={items} today={today} zone={zone} onOpen={open} />
      <InvoiceFilters search={search} onSearch={onSearch} filter={filter} onFilter={onFilter} counts={countByFilter(found)} />
      {shown.length === 0 ? (
        <NoMatch search={wanted.trim()} filter={filter} onClear={() => onSearch('')} onViewAll={() => onFilter('all')} />
      ) : (
        <InvoiceGrid invoices={shown} zone={zone} now={now} />
      )}
    </CardActions>
  )
}
