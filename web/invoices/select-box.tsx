import type { MouseEvent, ReactNode } from 'react'
import type { Invoice } from '#contract/invoices.ts'
import styles from './select-box.module.css'
import { texts } from './texts.ts'

interface SelectBoxProps {
  invoice: Invoice
  chosen: boolean
  onToggle: (id: string, range: boolean) => void
}

/** The box that chooses an invoice for doing something with many; with Shift everything from the last one on. */
export function SelectBox({ invoice, chosen, onToggle }: SelectBoxProps): ReactNode {
  return (
    <span className={styles.target}>
      <input
        type="checkbox"
        className={styles.box}
        aria-label={texts.list.select(invoice.reference, invoice.clientName)}
        checked={chosen}
        onChange={() => undefined}
        onClick={(event: MouseEvent) => onToggle(invoice._id, event.shiftKey)}
      />
    </span>
  )
}
