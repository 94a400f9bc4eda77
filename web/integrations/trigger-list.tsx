import type { ReactNode } from 'react'
import { formatRupees } from '#contract/money.ts'
import type { PreviewLine } from '#contract/reminders.ts'
import { lateness } from '#web/ui/lateness.ts'
import { ScrollBox } from './scroll-box.tsx'
import look from './trigger.module.css'
import { triggerTexts as texts } from './trigger-texts.ts'

/** Who would be written to, and about how much. */
export function TriggerList({ lines }: { lines: PreviewLine[] }): ReactNode {
  return (
    <ScrollBox label={texts.list}>
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
    </ScrollBox>
  )
}
