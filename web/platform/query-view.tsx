import { Skeleton, Stack } from '@mantine/core'
import { IconCloudOff, IconFileOff } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useDeferredValue } from 'react'
import { BusyButton } from '#web/ui/buttons.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import { texts } from '#web/ui/texts.ts'
import styles from './platform.module.css'
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

interface ErrorStateProps {
  text: string
  busy: boolean
  onRetry: () => void
  /** Another way on, beside trying again. */
  action?: ReactNode
  /** The heading where it is not there at all: to try again would change nothing, so only the other way on is offered. */
  gone?: string | undefined
}

/** Something could not be loaded: the sentence, and the way to try again. */
export function ErrorState({ text, busy, onRetry, action, gone }: ErrorStateProps): ReactNode {
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

interface TryAgainProps {
  /** Filled where it is the one thing to do. */
  variant?: 'default' | 'filled'
  busy: boolean
  onRetry: () => void
}

/** Reads once more what could not be read. */
export function TryAgain({ variant = 'default', busy, onRetry }: TryAgainProps): ReactNode {
  return (
    <BusyButton variant={variant} busy={busy} busyText={texts.failed.busy} onClick={onRetry}>
      {texts.failed.again}
    </BusyButton>
  )
}

interface LoadingProps {
  /** What is being waited for, in words. */
  text: string
  /** The shape of what is coming; a few lines where left out. */
  children?: ReactNode
}

/** What stands there while something loads: the words, on the shape of what is coming, so that nothing moves when it comes. */
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
