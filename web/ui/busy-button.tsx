import { Button, type ButtonProps, Loader } from '@mantine/core'
import type { ButtonHTMLAttributes, ReactNode } from 'react'

interface BusyButtonProps extends ButtonProps, Omit<ButtonHTMLAttributes<HTMLButtonElement>, keyof ButtonProps> {
  busy: boolean
  /** What stands on it while it works. */
  busyText: string
  children: ReactNode
}

/** A button that says what it is doing. It keeps the focus while it works, and clicks do nothing then. */
export function BusyButton({ busy, busyText, children, onClick, leftSection, ...button }: BusyButtonProps): ReactNode {
  return (
    <Button
      {...button}
      leftSection={busy ? <Loader size={16} color="currentColor" /> : leftSection}
      aria-disabled={busy || undefined}
      data-busy={busy || undefined}
      onClick={(event) => {
        if (busy) event.preventDefault()
        else onClick?.(event)
      }}
    >
      {busy ? busyText : children}
    </Button>
  )
}
