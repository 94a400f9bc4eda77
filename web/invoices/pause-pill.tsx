import type { ReactNode } from 'react'
import type { Invoice } from '#contract/invoices.ts'
import { showDate } from '#web/ui/dates.ts'
import { Pill } from '#web/ui/panel.tsx'
import { isPaused, pauseWords } from './pause-words.ts'
import { texts } from './texts.ts'

/** Says that an invoice is not reminded, and until when; why stands behind it. Nothing where it is reminded. */
export function PausePill({ invoice }: { invoice: Invoice }): ReactNode {
  const { pause } = invoice
  if (pause === null || !isPaused(invoice)) return null
  return (
    <span title={pauseWords(invoice).join('\n')}>
      <Pill tone="quiet">{texts.pause.pill(pause.until === null ? null : showDate(pause.until))}</Pill>
    </span>
  )
}
