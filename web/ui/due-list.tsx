import '@mantine/core/styles/ScrollArea.layer.css'
import { ScrollArea } from '@mantine/core'
import type { ReactNode } from 'react'
import { formatMoney } from '#contract/money.ts'
import type { PreviewLine } from '#contract/reminders.ts'
import { lateness } from './dates.ts'
import styles from './panel.module.css'
import { texts } from './texts.ts'

/** The invoices that would be reminded, in `mails` emails. */
export function DueList({ label, lines, mails }: { label: string; lines: PreviewLine[]; mails: number }): ReactNode {
  const several = mails < lines.length ? 0 : clientsWithSeveral(lines)
  return (
    <>
      <ScrollList label={label}>
        {lines.map((line) => (
          <li key={line.invoiceId} className={styles.due}>
            <span className={styles.dueName}>{line.clientName}</span>
            <span className={styles.dueAmount}>{formatMoney(line.amount, line.currency)}</span>
            <span className={styles.dueDetail} title={line.clientEmail}>{`${line.reference} · ${line.clientEmail}`}</span>
            <span className={styles.dueLate}>{lateness(line.daysOverdue)}</span>
          </li>
        ))}
      </ScrollList>
      {several > 0 && <p className={styles.several}>{texts.dueList.several(several)}</p>}
    </>
  )
}

function clientsWithSeveral(lines: PreviewLine[]): number {
  const once = new Set<string>()
  const several = new Set<string>()
  for (const { clientEmail, currency } of lines) {
    const client = `${clientEmail.toLowerCase()} ${currency}`
    if (once.has(client)) several.add(client)
    once.add(client)
  }
  return several.size
}

/** A long list that scrolls in a frame; its children are the `<li>`. */
export function ScrollList({ label, children }: { label: string; children: ReactNode }): ReactNode {
  return (
    <ScrollArea.Autosize
      className={styles.scroll ?? ''}
      mah="min(320px, 40vh)"
      type="auto"
      // Scrollable content must be reachable by keyboard.
      viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': label }}
    >
      <ul className={styles.scrollList}>{children}</ul>
    </ScrollArea.Autosize>
  )
}
