import { Button, type ButtonProps, Loader, VisuallyHidden } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { type ButtonHTMLAttributes, type ReactNode, useState } from 'react'
import { texts } from './texts.ts'
import { toast } from './toast.tsx'

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

interface CopyButtonProps {
  text: string
  /** What it is, for ears, where there is more than one to copy. */
  what?: string
}

/** Puts a text into the clipboard, and says so. Plain http on a local network has no clipboard for pages: then it says that. */
export function CopyButton({ text, what }: CopyButtonProps): ReactNode {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
    } catch {
      toast('bad', texts.cannotCopy)
    }
  }
  return (
    <Button
      variant="default"
      leftSection={copied ? <IconCheck size={17} aria-hidden /> : <IconCopy size={17} aria-hidden />}
      onClick={() => void copy()}
    >
      <span aria-live="polite">{copied ? texts.copied : texts.copy}</span>
      {what !== undefined && <VisuallyHidden>{`: ${what}`}</VisuallyHidden>}
    </Button>
  )
}
