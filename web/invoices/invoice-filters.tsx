import { IconLayoutGrid, IconList, IconSearch, IconX } from '@tabler/icons-react'
import { type ReactNode, useRef } from 'react'
import styles from './dashboard.module.css'
import { type Filter, texts } from './texts.ts'
import type { View } from './use-view.ts'

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
  /** Goes on from the search box into the invoices. */
  onEnter: () => void
}

/** The search box, the four buttons, whose counts follow the search, and the choice between cards and list. */
export function InvoiceFilters(props: InvoiceFiltersProps): ReactNode {
  const { search, onSearch, onEnter, filter, onFilter, counts, view, onView } = props
  const box = useRef<HTMLInputElement>(null)
  return (
    <search className={styles.bar}>
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
