import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useDeferredValue } from 'react'
import { ErrorState, TryAgain } from '#web/ui/error-state.tsx'
import { Loading } from '#web/ui/loading.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { errorMessage, Problem } from './problem.ts'

interface QueryViewProps<T> {
  query: UseQueryResult<T>
  /** What the person reads, and hears, while it loads. */
  loading: string
  /** The shape of what is coming, so that nothing jumps; a few lines where left out. */
  skeleton?: ReactNode
  /** The sentence of the error, around the server's own words. */
  error: (message: string) => string
  /** Another way on where it failed, beside trying again. */
  otherwise?: ReactNode
  /** The heading where what was asked for is not there: no second try would find it. */
  gone?: string
  /** What stands there when there is nothing yet; null where the answer is never nothing. */
  empty: ReactNode
  /** When the answer is nothing; an empty list unless said otherwise. */
  isEmpty?: (data: T) => boolean
  children: (data: T) => ReactNode
}

/** What was read, in its four states: loading, failed, nothing there, there. An answer that is there stays while it cannot be refreshed. */
export function QueryView<T>({
  query,
  loading,
  skeleton,
  error,
  otherwise,
  gone,
  empty,
  isEmpty = isEmptyList,
  children,
}: QueryViewProps<T>): ReactNode {
  // Drawn piece by piece: a long list holds up neither a key nor a press.
  const data = useDeferredValue(query.data)
  if (data !== undefined) {
    return (
      <>
        {query.isError && (
          <Notice tone="bad" action={<TryAgain busy={query.isFetching} onRetry={() => void query.refetch()} />}>
            {error(errorMessage(query.error))}
          </Notice>
        )}
        {empty !== null && isEmpty(data) ? empty : children(data)}
      </>
    )
  }
  if (query.isError) {
    const missing = query.error instanceof Problem && query.error.code === 'not_found'
    return (
      <ErrorState
        text={error(errorMessage(query.error))}
        busy={query.isFetching}
        onRetry={() => void query.refetch()}
        action={otherwise}
        gone={missing ? gone : undefined}
      />
    )
  }
  return <Loading text={loading}>{skeleton}</Loading>
}

function isEmptyList(data: unknown): boolean {
  return Array.isArray(data) && data.length === 0
}
