import '@mantine/core/styles/ScrollArea.layer.css'
import { ScrollArea } from '@mantine/core'
import type { ReactNode } from 'react'
import { formatRupees } from '#contract/money.ts'
import type { PreviewLine } from '#contract/reminders.ts'
import { lateness } from '#web/ui/lateness.ts'
import look from './control.module.css'
import { texts } from './texts.ts'

/** Who would be written to, and about how much. */
export function DueList({ lines }: { lines: PreviewLine[] }): ReactNode {
  return (
    <ScrollArea.Autosize
      className={look.due ?? ''}
      mah="min(320px, 40vh)"
      type="auto"
      // What scrolls must be reachable by keyboard.
      viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': texts.start.list }}
    >
      <ul>
        {lines.map((line) => (
          <li key={line.invoiceId}>
            <span className={look.name}>{line.clientName}</span>
            <span className={look.amount}>{formatRupees(line.amount)}</span>
            <span className={look.detail} title={line.clientEmail}>{`${line.reference} · ${line.clientEmail}`}</span>
            <span className={look.late}>{lateness(line.daysOverdue)}</span>
          </li>
        ))}
      </ul>
    </ScrollArea.Autosize>
  )
}
