import '@mantine/core/styles/ScrollArea.layer.css'
import { ScrollArea } from '@mantine/core'
import type { ReactNode } from 'react'
import look from './trigger.module.css'

/** A long list in a frame of its own. */
export function ScrollBox({ label, children }: { label: string; children: ReactNode }): ReactNode {
  return (
    <ScrollArea.Autosize
      className={look.due ?? ''}
      mah="min(320px, 40vh)"
      type="auto"
      // What scrolls must be reachable by keyboard.
      viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': label }}
    >
      {children}
    </ScrollArea.Autosize>
  )
}
