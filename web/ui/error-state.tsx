import { IconCloudOff, IconFileOff } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { BusyButton } from './busy-button.tsx'
import { EmptyState } from './empty-state.tsx'

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
              <BusyButton variant="default" busy={busy} busyText="Trying again..." onClick={onRetry}>
                Try again
              </BusyButton>
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
