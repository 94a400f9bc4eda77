import { IconCloudOff, IconFileOff } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { BusyButton } from './busy-button.tsx'
import { EmptyState } from './empty-state.tsx'
import { texts } from './texts.ts'

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
