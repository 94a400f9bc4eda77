import { CloseButton, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { type ReactNode, useRef } from 'react'
import look from './dashboard.module.css'
import { type Filter, texts } from './texts.ts'

const filters: Filter[] = ['all', 'paid', 'unpaid', 'overdue']

interface InvoiceFiltersProps {
  search: string
  onSearch: (search: string) => void
  filter: Filter
  onFilter: (filter: Filter) => void
  counts: Record<Filter, number>
}

/** The search box and the four buttons; their counts follow the search. */
export function InvoiceFilters({ search, onSearch, filter, onFilter, counts }: InvoiceFiltersProps): ReactNode {
  const box = useRef<HTMLInputElement>(null)
  return (
    <search className={look.bar}>
      <TextInput
        ref={box}
        className={look.search ?? ''}
        placeholder={texts.dashboard.search}
        aria-label={texts.dashboard.search}
        value={search}
        maxLength={200}
        onChange={(event) => onSearch(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onSearch('')
        }}
        leftSection={<IconSearch size={18} stroke={1.7} />}
        rightSection={
          search !== '' && (
            <CloseButton
              aria-label={texts.dashboard.clear}
              onClick={() => {
                onSearch('')
                box.current?.focus()
              }}
            />
          )
        }
      />
      <fieldset className={look.filters} aria-label={texts.dashboard.filters}>
        {filters.map((name) => (
          <button key={name} type="button" className={look.filter} aria-pressed={filter === name} onClick={() => onFilter(name)}>
            {texts.dashboard.filter(name, counts[name])}
          </button>
        ))}
      </fieldset>
    </search>
  )
}
