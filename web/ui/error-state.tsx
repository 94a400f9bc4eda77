import { IconCloudOff } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { BusyButton } from './busy-button.tsx'
import { EmptyState } from './empty-state.tsx'

interface ErrorStateProps {
  text: string
  busy: boolean
  onRetry: () => void
  /** Another way on, beside trying again. */
  action?: ReactNode
}

/** Something could not be loaded: the sentence, and the way to try again. */
export function ErrorState({ text, busy, onRetry, action }: ErrorStateProps): ReactNode {
  return (
    <div role="alert">
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
    </div>
  )
}
