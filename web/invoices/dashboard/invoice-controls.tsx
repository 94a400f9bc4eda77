import { ActionIcon } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { type MouseEvent, type ReactNode, Suspense, useState } from 'react'
import type { Invoice } from '#contract/invoices.ts'
import { lazyDialog } from '#web/ui/lazy-dialog.tsx'
import styles from './dashboard.module.css'
import { texts } from './texts.ts'

const load = async () => (await import('./open-menus.tsx')).OpenInvoiceMenu
const OpenInvoiceMenu = lazyDialog(load)

interface InvoiceMenuProps {
  invoice: Invoice
  className?: string | undefined
}

/** The three dots of an invoice, and what can be done with it. A menu that nobody has opened is a button only: hundreds of them scroll by. */
export function InvoiceMenu({ invoice, className = '' }: InvoiceMenuProps): ReactNode {
  const [wanted, setWanted] = useState(false)
  const label = texts.card.menu(invoice.reference, invoice.clientName)
  const button = (
    <ActionIcon
      className={className}
      aria-label={label}
      aria-haspopup="menu"
      aria-expanded={false}
      onClick={() => setWanted(true)}
      // Principal points at it will soon want it.
      onPointerEnter={prepare}
      onFocus={prepare}
    >
      <IconDots size={20} />
    </ActionIcon>
  )
  if (!wanted) return button
  return (
    <Suspense fallback={button}>
      <OpenInvoiceMenu invoice={invoice} label={label} className={className} onClose={() => setWanted(false)} />
    </Suspense>
  )
}

function prepare(): void {
  load().catch(() => undefined)
}

interface SelectBoxProps {
  invoice: Invoice
  selected: boolean
  onToggle: (id: string, range: boolean) => void
}

/** The box that chooses an invoice for doing something with many; with Shift everything from the last one on. */
export function SelectBox({ invoice, selected, onToggle }: SelectBoxProps): ReactNode {
  return (
    <span className={styles.selectTarget}>
      <input
        type="checkbox"
        className={styles.selectBox}
        aria-label={texts.list.select(invoice.reference, invoice.clientName)}
        checked={selected}
        onChange={() => undefined}
        onClick={(event: MouseEvent) => onToggle(invoice._id, event.shiftKey)}
      />
    </span>
  )
}
