import type { ReactNode } from 'react'
import { formatRupees } from '#contract/money.ts'
import type { PreviewLine } from '#contract/reminders.ts'
import styles from './due-list.module.css'
import { lateness } from './lateness.ts'
import { ScrollList } from './scroll-list.tsx'
import { texts } from './texts.ts'

/** Who would be written to, and about how much, in so many mails. */
export function DueList({ label, lines, mails }: { label: string; lines: PreviewLine[]; mails: number }): ReactNode {
  const several = mails < lines.length ? 0 : clientsOfSeveral(lines)
  return (
    <>
      <ScrollList label={label}>
        {lines.map((line) => (
          <li key={line.invoiceId} className={styles.due}>
            <span className={styles.name}>{line.clientName}</span>
            <span className={styles.amount}>{formatRupees(line.amount)}</span>
            <span className={styles.detail} title={line.clientEmail}>{`${line.reference} · ${line.clientEmail}`}</span>
            <span className={styles.late}>{lateness(line.daysOverdue)}</span>
          </li>
        ))}
      </ScrollList>
      {several > 0 && <p className={styles.several}>{texts.dueList.several(several)}</p>}
    </>
  )
}

/** How many clients have more than one of these invoices. */
function clientsOfSeveral(lines: PreviewLine[]): number {
  const once = new Set<string>()
  const several = new Set<string>()
  for (const { clientEmail } of lines) {
    const client = clientEmail.toLowerCase()
    if (once.has(client)) several.add(client)
    once.add(client)
  }
  return several.size
}
