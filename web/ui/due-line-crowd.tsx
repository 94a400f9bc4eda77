import type { ReactNode } from 'react'
import { formatMoney } from '#contract/money.ts'
import { lateness } from './dates.ts'
import { Dialog } from './dialog.tsx'
import styles from './due-line-crowd.module.css'
import { type Dot, dotLabel } from './due-line-layout.ts'
import { texts } from './texts.ts'

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
      {more.length > 0 && <p className={styles.more}>{texts.dueLine.smaller(more.length)}</p>}
    </>
  )
}
