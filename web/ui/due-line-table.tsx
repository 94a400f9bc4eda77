import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { formatMoney } from '#contract/money.ts'
import { lateness } from './dates.ts'
import type { DueItem } from './due-line-layout.ts'
import styles from './due-line-table.module.css'
import { texts } from './texts.ts'

/** Rows at first, and at most. */
const first = 6
const most = 200

interface DueTableProps {
  items: DueItem[]
  onOpen: (id: string) => void
  /** Called if the table's code could not be loaded. */
  onClose: () => void
}

/** The accessible alternative to the due line, latest first. */
export function DueTable({ items, onOpen }: DueTableProps): ReactNode {
  const [all, setAll] = useState(false)
  const sorted = items.toSorted((one, other) => other.daysLate - one.daysLate)
  const shown = sorted.slice(0, all ? most : first)
  const left = items.length - shown.length
  return (
    <>
      <table className={styles.table}>
        <caption className={styles.caption}>{texts.dueTable.caption}</caption>
        <thead>
          <tr>
            <th scope="col">{texts.dueTable.client}</th>
            <th scope="col">{texts.dueTable.due}</th>
            <th scope="col">{texts.dueTable.amount}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ id, name, daysLate, late, amount, currency }) => (
            <tr key={id}>
              <td>
                <button type="button" className={styles.name} onClick={() => onOpen(id)}>
                  <span className={styles.short}>{name}</span>
                </button>
              </td>
              <td data-late={late || undefined}>{lateness(daysLate)}</td>
              <td>{formatMoney(amount, currency)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && !all && (
        <Button variant="default" mt={12} mb={8} onClick={() => setAll(true)}>
          {items.length > most ? texts.dueTable.showFirst(most) : texts.dueTable.showAll(items.length)}
        </Button>
      )}
      {left > 0 && all && <p className={styles.more}>{texts.dueTable.more(left)}</p>}
    </>
  )
}
