import { Button } from '@mantine/core'
import { IconFilter, IconSearchOff } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { EmptyState } from '#web/ui/plain.tsx'
import { type Filter, texts } from './texts.ts'

interface NoMatchProps {
  search: string
  filter: Filter
  /** How many of those found are past due and still marked unpaid. */
  lateUnpaid: number
  onClear: () => void
  onFilter: (filter: Filter) => void
}

/** There are invoices, but none behind this search or this filter. */
export function NoMatch({ search, filter, lateUnpaid, onClear, onFilter }: NoMatchProps): ReactNode {
  const { noMatch } = texts
  const text = search !== '' || filter === 'all' ? noMatch.text(search, filter) : noMatch.byFilter[filter]
  const explains = filter === 'overdue' && lateUnpaid > 0
  return (
    <EmptyState
      icon={search === '' ? <IconFilter /> : <IconSearchOff />}
      title={noMatch.title}
      text={text}
      {...(explains ? { more: noMatch.lateUnpaid(lateUnpaid) } : {})}
      action={
        <>
          {search !== '' && (
            <Button variant="default" onClick={onClear}>
              {noMatch.clear}
            </Button>
          )}
          {explains && <Button onClick={() => onFilter('unpaid')}>{noMatch.viewUnpaid}</Button>}
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
