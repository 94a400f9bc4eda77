import { Button } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { toast } from '#web/ui/toast.tsx'
import { texts } from './texts.ts'

const words = texts.security.copy

/** Puts a text into the clipboard, and says so. Plain http on a local network has no clipboard for pages: then it says that. */
export function CopyButton({ text }: { text: string }): ReactNode {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
    } catch {
      toast('bad', words.failed)
    }
  }
  return (
    <Button
      variant="default"
      leftSection={copied ? <IconCheck size={17} aria-hidden /> : <IconCopy size={17} aria-hidden />}
      onClick={() => void copy()}
    >
      <span aria-live="polite">{copied ? words.done : words.copy}</span>
    </Button>
  )
}
