import { Button } from '@mantine/core'
import { IconFilter, IconSearchOff } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { EmptyState } from '#web/ui/empty-state.tsx'
import { type Filter, texts } from './texts.ts'

interface NoMatchProps {
  search: string
  filter: Filter
  onClear: () => void
  onViewAll: () => void
}

/** There are invoices, but none behind this search or this filter. */
export function NoMatch({ search, filter, onClear, onViewAll }: NoMatchProps): ReactNode {
  const { noMatch } = texts
  const text = search !== '' || filter === 'all' ? noMatch.text(search, filter) : noMatch.byFilter[filter]
  return (
    <EmptyState
      icon={search === '' ? <IconFilter /> : <IconSearchOff />}
      title={noMatch.title}
      text={text}
      action={
        <>
          {search !== '' && (
            <Button variant="default" onClick={onClear}>
              {noMatch.clear}
            </Button>
          )}
          {filter !== 'all' && (
            <Button variant="default" onClick={onViewAll}>
              {noMatch.viewAll}
            </Button>
          )}
        </>
      }
    />
  )
}
