import { Skeleton, Stack } from '@mantine/core'
import { IconCloudOff, IconFileOff } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useDeferredValue } from 'react'
import { TryAgain } from '#web/ui/buttons.tsx'
import styles from '#web/ui/controls.module.css'
import { Notice } from '#web/ui/notice.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import { errorMessage, Problem } from './problem.ts'

interface QueryViewProps<T> {
  query: UseQueryResult<T>
  /** Shown and announced while loading. */
  loading: string
  /** In the shape of the content, so that nothing shifts; a few lines by default. */
  skeleton?: ReactNode
  /** The error message, around the server's own sentence. */
  error: (message: string) => string
  /** A second action beside Try again. */
  otherwise?: ReactNode
  /** The title for `not_found`, where retrying is pointless. */
  gone?: string
  /** Shown for an empty answer; null where an answer is never empty. */
  empty: ReactNode
  /** An empty list by default. */
  isEmpty?: (data: T) => boolean
  children: (data: T) => ReactNode
}

/** A query in its four states: loading, failed, empty, loaded. A loaded answer stays while a refetch fails. */
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
  // Deferred: rendering a long list must not block input.
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
    // The role decides, and trying again changes nothing.
    if (query.error instanceof Problem && query.error.code === 'not_allowed')
      return (
        <p role="alert" className={styles.refused}>
          {errorMessage(query.error)}
        </p>
      )
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

interface ErrorStateProps {
  text: string
  busy: boolean
  onRetry: () => void
  /** A second action beside Try again. */
  action?: ReactNode
  /** The title where retrying is pointless; then only `action` is offered. */
  gone?: string | undefined
}

function ErrorState({ text, busy, onRetry, action, gone }: ErrorStateProps): ReactNode {
  return (
    <div role="alert">
      {gone === undefined ? (
        <EmptyState
          icon={<IconCloudOff />}
          text={text}
          action={
            <>
              <TryAgain variant="filled" busy={busy} onRetry={onRetry} />
              {action}
            </>
          }
        />
      ) : (
        <EmptyState icon={<IconFileOff />} title={gone} text={text} action={action} />
      )}
    </div>
  )
}

interface LoadingProps {
  /** Shown and announced. */
  text: string
  /** A few lines by default. */
  children?: ReactNode
}

/** The message over a skeleton in the shape of the content, so that nothing shifts. */
export function Loading({ text, children }: LoadingProps): ReactNode {
  return (
    <div role="status" className={styles.loading}>
      <p className={children === undefined ? styles.loadingText : styles.loadingOver}>{text}</p>
      <div aria-hidden>
        {children ?? (
          <Stack gap={12}>
            <Skeleton height={20} width="46%" />
            <Skeleton height={20} width="72%" />
            <Skeleton height={20} width="60%" />
          </Stack>
        )}
      </div>
    </div>
  )
}
