import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { formatMoney } from '#contract/money.ts'
import { lateness } from './dates.ts'
import { Dialog } from './dialog.tsx'
import { type Dot, type DueItem, dotLabel } from './due-line-layout.ts'
import styles from './due-line-open.module.css'
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

const listed = 40

interface DueLineCrowdProps {
  /** null: closed. */
  dot: Dot | null
  onOpen: (id: string) => void
  onClose: () => void
}

/** The invoices of a group dot. */
export function DueLineCrowd({ dot, onOpen, onClose }: DueLineCrowdProps): ReactNode {
  return (
    <Dialog opened={dot !== null} onClose={onClose} title={dot ? dotLabel(dot, '')[0] : ''}>
      {dot && <Crowd dot={dot} onOpen={onOpen} />}
    </Dialog>
  )
}

function Crowd({ dot, onOpen }: { dot: Dot; onOpen: (id: string) => void }): ReactNode {
  const more = dot.items.slice(listed)
  return (
    <>
      <ul className={styles.crowd}>
        {dot.items.slice(0, listed).map((item) => (
          <li key={item.id}>
            <button type="button" className={styles.crowdItem} onClick={() => onOpen(item.id)}>
              <span className={styles.crowdName}>{item.name}</span>
              <span>{formatMoney(item.amount, item.currency)}</span>
              <span className={styles.crowdWhen}>{lateness(item.daysLate)}</span>
            </button>
          </li>
        ))}
      </ul>
      {more.length > 0 && <p className={styles.crowdMore}>{texts.dueLine.smaller(more.length)}</p>}
    </>
  )
}
