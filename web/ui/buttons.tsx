import { Button, type ButtonProps, Loader, VisuallyHidden } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { type ButtonHTMLAttributes, type ReactNode, useState } from 'react'
import { texts } from './texts.ts'
import { toast } from './toast.tsx'

interface BusyButtonProps extends ButtonProps, Omit<ButtonHTMLAttributes<HTMLButtonElement>, keyof ButtonProps> {
  busy: boolean
  /** The label while busy. */
  busyText: string
  children: ReactNode
}

/** A button that shows progress. It keeps the focus and ignores clicks while busy. */
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

interface TryAgainProps {
  /** Filled where it is the only action. */
  variant?: 'default' | 'filled'
  busy: boolean
  onRetry: () => void
}

export function TryAgain({ variant = 'default', busy, onRetry }: TryAgainProps): ReactNode {
  return (
    <BusyButton variant={variant} busy={busy} busyText={texts.failed.busy} onClick={onRetry}>
      {texts.failed.again}
    </BusyButton>
  )
}

/**
 * Copies a text that is still on its way: browsers permit that only from the click on. Resolves to whether it was copied; rejects where the text
 * does.
 */
export async function copyLater(text: Promise<string>): Promise<boolean> {
  const item = text.then((ready) => new Blob([ready], { type: 'text/plain' }))
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': item })])
    return true
  } catch {
    // Over plain http there is no clipboard.
    const ready = await text
    toast('info', texts.copyThis(ready))
    return false
  }
}

/**
 * Opens a tab for an address that is still on its way: browsers permit that only from the click on. `find` is not called where even that is
 * blocked; the tab closes where it rejects.
 */
export async function openLater(find: () => Promise<string>): Promise<void> {
  const tab = window.open('', '_blank')
  if (!tab) {
    toast('bad', texts.tabBlocked)
    return
  }
  // As with noopener, which would return no tab.
  tab.opener = null
  try {
    tab.location.replace(await find())
  } catch {
    tab.close()
  }
}

interface CopyButtonProps {
  text: string
  /** For screen readers, where a screen has several copy buttons. */
  what?: string
}

/** Pages served over plain http have no clipboard: then a toast explains how to copy. */
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
